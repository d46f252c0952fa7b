//! Trash of a server: the rows of deleted conversations, in tables that no other call reads.
//!
//! A conversation moves there in the transaction that deletes it. It returns like an import: first its messages in
//! pieces, invisible until their sessions exist, then all its sessions, in the transaction that removes it from the
//! trash. Every change of the trash holds the lineage lock.

use super::requests::{is_known, once};
use super::row;
use super::{Fields as _, LIST, Sql, among, import, pins_and_tags, undo};
use crate::answer::Answer;
use crate::{stored, values};
use hermes_session::import::{ImportPiece, Imported};
use hermes_session::{
    Conflict, Emptying, Lineage, Message, PinAndTags, Request, Restored, Retitled, Session, SessionId, StoreError,
    Timestamp, Trashed, change,
};
use std::sync::LazyLock;

/// Number of messages restored in one piece.
const PIECE: i64 = 500;

const ENTRY: &str = "number, session_id, title, source, deleted_at, kept_until, sessions, messages";

/// Columns of a session, without an alias.
static SESSION: LazyLock<String> = LazyLock::new(|| row::SESSION.replace("s.", ""));

/// Copies sessions that are about to be removed to the trash, with everything that should return with them. The caller
/// has locked them.
pub(super) async fn keep<T: Sql>(
    transaction: &T,
    lineage: &Lineage,
    members: &[SessionId],
    at: Timestamp,
    until: Timestamp,
) -> Result<(), T::Failure> {
    let number: i64 =
        transaction.one("SELECT coalesce(max(number), 0) + 1 FROM hx_trash", values![]).await?.try_get(0)?;
    for (place, member) in members.iter().enumerate() {
        let sql = format!(
            "INSERT INTO hx_trash_session (number, place, relation, cause, {}) SELECT $1, $2, h.relation, h.cause, {} \
             FROM sessions s JOIN hx_session h ON h.session_id = s.id WHERE s.id = $3",
            *SESSION,
            *row::SESSION
        );
        transaction.run(&sql, values![number, place, member.as_str()]).await?;
    }
    let mut messages = 0;
    for some in members.chunks(LIST) {
        let (condition, mut list) = among("session_id", 2, some.iter().map(SessionId::as_str));
        list.insert(0, number.into());
        let sql = format!(
            "INSERT INTO hx_trash_message (number, {0}) SELECT $1, {0} FROM messages WHERE {condition}",
            *row::MESSAGE
        );
        messages += transaction.run(&sql, list).await?;
    }
    for member in members {
        undo::keep(transaction, number, member).await?;
    }
    let first = members.first().map(|first| (first, lineage.tip(first)));
    let Some((first, tip)) = first else { return Ok(()) };
    transaction
        .run(
            &format!(
                "INSERT INTO hx_trash ({ENTRY}) SELECT $1, t.id, t.title, f.source, $2, $3, $4, $5 FROM sessions t \
                 JOIN sessions f ON f.id = $6 WHERE t.id = $7"
            ),
            values![
                number,
                at.seconds(),
                until.seconds(),
                members.len(),
                i64::try_from(messages).unwrap_or(i64::MAX),
                first.as_str(),
                tip.as_str()
            ],
        )
        .await?;
    let pins_and_tags = pins_and_tags::read(transaction, first).await?;
    let sql = "UPDATE hx_trash SET pinned_at = $1, tags = $2 WHERE number = $3";
    transaction
        .run(sql, values![pins_and_tags.pinned_at.map(Timestamp::seconds), pins_and_tags.tags.keep(), number])
        .await?;
    Ok(())
}

/// Returns the pin and tags of a conversation in the trash.
async fn noted_pins_and_tags<T: Sql>(transaction: &T, number: i64) -> Result<PinAndTags, T::Failure> {
    let row = transaction.one("SELECT pinned_at, tags FROM hx_trash WHERE number = $1", values![number]).await?;
    let pinned_at = row.try_get::<Option<f64>>(0)?.map(Timestamp::from_seconds).transpose()?;
    Ok(PinAndTags { pinned_at, tags: Answer::recall(&row.try_get::<String>(1)?).unwrap_or_default() })
}

/// Implements `trash` of the contract.
pub async fn list<T: Sql>(
    transaction: &T,
    older_than: Option<&Trashed>,
    limit: u32,
) -> Result<Vec<Trashed>, T::Failure> {
    let sql = format!("SELECT {ENTRY} FROM hx_trash WHERE number < $1 ORDER BY number DESC LIMIT $2");
    let below = older_than.map_or(i64::MAX, |entry| entry.number);
    let rows = transaction.rows(&sql, values![below, limit]).await?;
    Ok(rows.iter().map(entry).collect::<Result<_, _>>()?)
}

fn entry<R: super::ServerRow>(row: &R) -> Result<Trashed, super::Odd> {
    let text = |text: String| stored::with_nul(&text).unwrap_or(text);
    let time =
        |index| Timestamp::from_seconds(row.try_get(index)?).map_err(|_| super::Odd("hx_trash: not a time".into()));
    Ok(Trashed {
        number: row.try_get(0)?,
        id: row.id(1)?,
        title: row.try_get::<Option<String>>(2)?.map(text),
        source: text(row.try_get(3)?),
        deleted_at: time(4)?,
        until: time(5)?,
        sessions: row.try_get::<i64>(6)?.unsigned_abs(),
        messages: row.try_get::<i64>(7)?.unsigned_abs(),
    })
}

/// Implements `trashed` of the contract.
pub async fn find<T: Sql>(transaction: &T, id: &SessionId) -> Result<Option<(Trashed, Vec<SessionId>)>, T::Failure> {
    let sql = format!(
        "SELECT {ENTRY} FROM hx_trash WHERE number = (SELECT max(s.number) FROM hx_trash_session s WHERE s.id = $1)"
    );
    let Some(found) = transaction.row(&sql, values![id.as_str()]).await? else { return Ok(None) };
    let entry = entry(&found)?;
    let rows =
        transaction.rows("SELECT id FROM hx_trash_session WHERE number = $1 ORDER BY place", values![entry.number]);
    let members = rows.await?.iter().map(|row| row.id(0)).collect::<Result<_, _>>()?;
    Ok(Some((entry, members)))
}

/// Sessions to restore, and the progress so far.
#[derive(Debug)]
pub struct Plan {
    /// `None` if the request was already answered.
    entry: Option<Trashed>,
    sessions: Vec<Coming>,
}

#[derive(Debug)]
struct Coming {
    session: Session,
    /// Number of messages restored so far, and the id that the last of them had.
    messages: u64,
    last: i64,
    is_whole: bool,
}

impl Plan {
    /// Records the outcome of a piece.
    ///
    /// # Errors
    /// `Conflict::Exists` if a session with that id exists, or another process is restoring it.
    pub fn took(&mut self, piece: &ImportPiece, outcomes: &[Imported]) -> Result<(), StoreError> {
        let Some(coming) = self.sessions.iter_mut().find(|coming| coming.session.id == piece.session.id) else {
            return Ok(());
        };
        if outcomes.iter().any(|outcome| !matches!(outcome, Imported::Partly(_))) {
            return Err(Conflict::Exists(piece.session.id.clone()).into());
        }
        coming.messages += piece.messages.len() as u64;
        match piece.messages.last() {
            Some(last) => coming.last = last.id.0,
            None => coming.is_whole = true,
        }
        Ok(())
    }
}

/// Looks up the sessions to restore.
pub async fn plan<T: Sql>(transaction: &T, id: &SessionId, request: &Request) -> Result<Plan, T::Failure> {
    if is_known(transaction, request).await? {
        return Ok(Plan { entry: None, sessions: Vec::new() });
    }
    let (entry, members) = find(transaction, id).await?.ok_or_else(|| StoreError::no_session(id))?;
    for member in &members {
        if transaction.row("SELECT 1 FROM sessions WHERE id = $1", values![member.as_str()]).await?.is_some() {
            return Err(Conflict::Exists(member.clone()).into());
        }
    }
    let sql =
        format!("SELECT {}, s.relation FROM hx_trash_session s WHERE s.number = $1 ORDER BY s.place", *row::SESSION);
    let mut sessions = Vec::with_capacity(members.len());
    for row in transaction.rows(&sql, values![entry.number]).await? {
        let session = row::decoded_session(&row)?;
        sessions.push(Coming { session, messages: 0, last: i64::MIN, is_whole: false });
    }
    Ok(Plan { entry: Some(entry), sessions })
}

/// Returns the next messages to restore, or `None` if all are restored. The last piece of each session is empty.
pub async fn next_piece<T: Sql>(transaction: &T, plan: &Plan) -> Result<Option<ImportPiece>, T::Failure> {
    let Some(coming) = plan.sessions.iter().find(|coming| !coming.is_whole) else { return Ok(None) };
    let sql = format!(
        "SELECT {} FROM hx_trash_message WHERE number = $1 AND session_id = $2 AND id > $3 ORDER BY id LIMIT $4",
        *row::MESSAGE
    );
    let (id, number) = (&coming.session.id, plan.entry.as_ref().map_or(0, |entry| entry.number));
    let rows = transaction.rows(&sql, values![number, id.as_str(), coming.last, PIECE]).await?;
    let messages: Vec<Message> = rows.iter().map(|row| row::message(row, id)).collect();
    Ok(Some(ImportPiece { session: coming.session.clone(), start: coming.messages, messages, is_last: false }))
}

/// Implements `restore` of the contract, once all messages are restored.
pub async fn restore<T: Sql>(
    transaction: &T,
    id: &SessionId,
    plan: &Plan,
    request: &Request,
) -> Result<Restored, T::Failure> {
    transaction.lock_import().await?;
    transaction.lock_kin().await?;
    once(transaction, request, id, || change::restore(id), async {
        let there = find(transaction, id).await?.map(|(entry, _)| entry);
        let Some(entry) = there.filter(|entry| plan.entry.as_ref() == Some(entry)) else {
            return Err(StoreError::no_session(id).into());
        };
        let mut restored = Restored { id: entry.id, sessions: 0, messages: 0, retitled: Vec::new() };
        for Coming { session, messages, .. } in &plan.sessions {
            let piece = ImportPiece { session: session.clone(), start: *messages, messages: Vec::new(), is_last: true };
            let Imported::Whole { title, .. } = import::take_one(transaction, &piece, &[]).await? else {
                return Err(Conflict::Exists(session.id.clone()).into());
            };
            undo::restore(transaction, entry.number, &session.id).await?;
            let sql = "UPDATE hx_session SET cause = (SELECT t.cause FROM hx_trash_session t WHERE t.number = $1 AND t.id = $2) \
                 WHERE session_id = $2";
            transaction.run(sql, values![entry.number, session.id.as_str()]).await?;
            restored.sessions += 1;
            restored.messages += messages;
            if let Some(had) = session.title.clone().filter(|had| title.as_ref() != Some(had)) {
                restored.retitled.push(Retitled { id: session.id.clone(), had, has: title });
            }
        }
        if let Some(first) = plan.sessions.first() {
            let pins_and_tags = noted_pins_and_tags(transaction, entry.number).await?;
            pins_and_tags::import(transaction, &[(first.session.id.clone(), pins_and_tags)]).await?;
        }
        forget(transaction, entry.number).await?;
        Ok(restored)
    })
    .await
}

/// Implements `empty_trash` of the contract.
pub async fn empty<T: Sql>(transaction: &T, which: &Emptying) -> Result<Vec<Trashed>, T::Failure> {
    transaction.lock_kin().await?;
    let gone: Vec<Trashed> = match which {
        Emptying::One(id) => match find(transaction, id).await? {
            Some((entry, _)) => vec![entry],
            None => return Err(StoreError::no_session(id).into()),
        },
        Emptying::All => list(transaction, None, u32::MAX).await?,
        Emptying::These(seen) => {
            list(transaction, None, u32::MAX).await?.into_iter().filter(|entry| seen.contains(entry)).collect()
        }
        Emptying::Over(now) => {
            list(transaction, None, u32::MAX).await?.into_iter().filter(|entry| entry.until <= *now).collect()
        }
    };
    for entry in &gone {
        forget(transaction, entry.number).await?;
    }
    Ok(gone)
}

/// Removes an entry from the trash.
async fn forget<T: Sql>(transaction: &T, number: i64) -> Result<(), T::Failure> {
    for table in ["hx_trash_undone", "hx_trash_message", "hx_trash_session", "hx_trash"] {
        transaction.run(&format!("DELETE FROM {table} WHERE number = $1"), values![number]).await?;
    }
    Ok(())
}
