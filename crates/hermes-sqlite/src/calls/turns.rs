//! Turns: opened with the messages that ask, closed with the answer and its replies, each in one transaction.
//!
//! A turn belongs to the conversation that its session is part of at the moment: a foreign writer may change the
//! lineage meanwhile. Open turns are few, so finding the one of a conversation reads them all.

use crate::calls::row::{require, time};
use crate::calls::{lineage, mail, messages, routes, usage};
use crate::error::Failure;
use crate::write::database::Database;
use crate::write::requests::{once, recall};
use hermes_session::live::{Fence, NewTurn, OpenedTurn, RouteKey, Turn, TurnClose, TurnId, TurnKind};
use hermes_session::{Conflict, MessageId, NewMessage, Request, SessionId, Timestamp, change};
use hermes_sql::Answer;
use rusqlite::{Row, params};

/// The columns of a turn. Without a side row a session is a conversation of its own.
const TURN: &str = "SELECT t.turn, coalesce(h.root, t.session_id), t.session_id, t.kind, t.route, t.fence, t.attempts, \
     t.opened_at, t.opened_by FROM hx_turn t LEFT JOIN hx_session h ON h.session_id = t.session_id";

pub(crate) fn open(
    database: &Database,
    new: &NewTurn,
    said: &[NewMessage],
    request: &Request,
) -> Result<OpenedTurn, Failure> {
    once(database, request, &new.session, &change::open_turn(new), || {
        require(database, &new.session)?;
        let root = lineage::root(database, &new.session)?;
        let interrupted = match of_conversation(database, &root)? {
            Some(turn) if request.fence.is_none() || request.fence == turn.fence => {
                return Err(Conflict::TurnOpen { session: new.session.clone(), turn: turn.id }.into());
            }
            other => other.map(|turn| turn.id),
        };
        let rows: Vec<_> = new.said.iter().map(|said| said.inbox).collect();
        let platform_ids = mail::require_waiting(database, &rows)?;
        if let Some(turn) = interrupted {
            finish(database, turn, request.at)?;
        }
        let ids = messages::add_from(database, &new.session, said, &platform_ids, request.at)?;
        let id = insert(database, new, request)?;
        for (row, message) in rows.iter().zip(&ids) {
            if let Some(row) = row {
                mail::take(database, *row, id, *message)?;
            }
        }
        let notice = match &new.route {
            Some(key) => routes::touch(database, key, request.at)?,
            None => None,
        };
        let turn = Turn {
            id,
            conversation: root,
            session: new.session.clone(),
            kind: new.kind,
            route: new.route.clone(),
            fence: request.fence,
            attempts: 1,
            opened_at: request.at,
            opened_by: new.opened_by.clone(),
        };
        Ok(OpenedTurn { turn, messages: ids, interrupted, notice })
    })
}

fn insert(database: &Database, new: &NewTurn, request: &Request) -> Result<TurnId, Failure> {
    database
        .prepare_cached(
            "INSERT INTO hx_turn (session_id, kind, route, fence, attempts, opened_at, opened_by) VALUES (?, ?, ?, ?, 1, ?, ?)",
        )?
        .execute(params![
            new.session.as_str(),
            new.kind.as_str(),
            new.route.as_ref().map(RouteKey::to_stored),
            request.fence.map(|fence| fence.0),
            request.at.seconds(),
            new.opened_by,
        ])?;
    Ok(TurnId(database.last_insert_rowid()))
}

/// Stores a turn of another store under its id, without an owner.
pub(crate) fn put(database: &Database, turn: &Turn) -> Result<(), Failure> {
    database
        .prepare_cached(
            "INSERT INTO hx_turn (turn, session_id, kind, route, attempts, opened_at, opened_by) VALUES (?, ?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![
            turn.id.0,
            turn.session.as_str(),
            turn.kind.as_str(),
            turn.route.as_ref().map(RouteKey::to_stored),
            turn.attempts,
            turn.opened_at.seconds(),
            turn.opened_by,
        ])?;
    Ok(())
}

pub(crate) fn resume(database: &Database, id: TurnId, request: &Request) -> Result<Turn, Failure> {
    on_open(database, id, &change::resume_turn(id), request, |turn| {
        database
            .prepare_cached("UPDATE hx_turn SET attempts = attempts + 1, fence = ? WHERE turn = ?")?
            .execute(params![request.fence.map(|fence| fence.0), id.0])?;
        Ok(Turn { attempts: turn.attempts.saturating_add(1), fence: request.fence, ..turn.clone() })
    })
}

pub(crate) fn close(
    database: &Database,
    id: TurnId,
    close: &TurnClose,
    last: &[NewMessage],
    request: &Request,
) -> Result<Vec<MessageId>, Failure> {
    on_open(database, id, &change::close_turn(id, close), request, |turn| {
        let ids = messages::add(database, &turn.session, last, request.at)?;
        if let Some(update) = &close.usage {
            usage::apply(database, &turn.session, update, request.at)?;
        }
        if let (Some(key), Some(tokens)) = (&turn.route, close.prompt_tokens) {
            routes::note_prompt_tokens(database, key, tokens)?;
        }
        mail::queue(database, &close.outbound, Some((id, &turn.session)), request.at)?;
        finish(database, id, request.at)?;
        Ok(ids)
    })
}

/// Changes an open turn once for each key. A key that was applied is answered also after the turn was closed.
fn on_open<T: Answer>(
    database: &Database,
    id: TurnId,
    fingerprint: &str,
    request: &Request,
    work: impl FnOnce(&Turn) -> Result<T, Failure>,
) -> Result<T, Failure> {
    match find(database, id)? {
        Some(turn) => once(database, request, &turn.session, fingerprint, || work(&turn)),
        None => recall(database, request, fingerprint)?.ok_or_else(|| Conflict::TurnClosed(id).into()),
    }
}

/// Closes a turn: its inbox rows are done.
pub(crate) fn finish(database: &Database, id: TurnId, now: Timestamp) -> Result<(), Failure> {
    mail::settle_turn(database, id, now)?;
    database.prepare_cached("DELETE FROM hx_turn WHERE turn = ?")?.execute([id.0])?;
    Ok(())
}

pub(crate) fn list(database: &Database, after: Option<TurnId>, limit: u32) -> Result<Vec<Turn>, Failure> {
    let mut statement =
        database.prepare_cached(&format!("{TURN} WHERE t.turn > coalesce(?, -1) ORDER BY t.turn LIMIT ?"))?;
    let mut rows = statement.query(params![after.map(|turn| turn.0), limit])?;
    let mut turns = Vec::new();
    while let Some(row) = rows.next()? {
        turns.push(read(row)?);
    }
    Ok(turns)
}

/// Returns an open turn; `None` if it is not open.
pub(crate) fn find(database: &Database, id: TurnId) -> Result<Option<Turn>, Failure> {
    let mut statement = database.prepare_cached(&format!("{TURN} WHERE t.turn = ?"))?;
    let mut rows = statement.query([id.0])?;
    rows.next()?.map(read).transpose()
}

/// Returns the open turn of the conversation that starts with a session; `None` if there is none.
pub(crate) fn of_conversation(database: &Database, root: &SessionId) -> Result<Option<Turn>, Failure> {
    let mut statement =
        database.prepare_cached(&format!("{TURN} WHERE coalesce(h.root, t.session_id) = ? ORDER BY t.turn LIMIT 1"))?;
    let mut rows = statement.query(params![root.as_str()])?;
    rows.next()?.map(read).transpose()
}

/// Moves the open turn of a session to its continuation.
pub(crate) fn carry(database: &Database, parent: &SessionId, child: &SessionId) -> Result<(), Failure> {
    database
        .prepare_cached("UPDATE hx_turn SET session_id = ? WHERE session_id = ?")?
        .execute(params![child.as_str(), parent.as_str()])?;
    Ok(())
}

fn read(row: &Row<'_>) -> Result<Turn, Failure> {
    let id: i64 = row.get(0)?;
    let odd = || Failure::Damaged(format!("hx_turn {id}: not a turn"));
    let kind: String = row.get(3)?;
    let route: Option<String> = row.get(4)?;
    Ok(Turn {
        id: TurnId(id),
        conversation: SessionId::from_stored(row.get::<_, String>(1)?),
        session: SessionId::from_stored(row.get::<_, String>(2)?),
        kind: TurnKind::from_stored(&kind).ok_or_else(odd)?,
        route: route.map(|key| RouteKey::from_stored(&key).ok_or_else(odd)).transpose()?,
        fence: row.get::<_, Option<i64>>(5)?.map(Fence),
        attempts: row.get(6)?,
        opened_at: time(row, 7)?.ok_or_else(odd)?,
        opened_by: row.get(8)?,
    })
}
