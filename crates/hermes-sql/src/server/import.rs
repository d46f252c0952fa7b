//! Import of sessions in pieces. Messages come first and are invisible until their session exists.

use super::row::{kept, kept_extra, require};
use super::{Fields as _, Sql, lineage, messages, sessions, titles, usage};
use crate::{stored, values};
use hermes_session::import::{ImportPiece, Imported, LeftOut, TableRow, count_left_out};
use hermes_session::live::Kinds;
use hermes_session::{Json, MessageId, Relation, Session, SessionId, Timestamp, Title};

/// Takes pieces. Returns the outcome of each.
pub async fn take<T: Sql>(
    transaction: &T,
    pieces: &[ImportPiece],
    mut words: &[T::Written],
) -> Result<Vec<Imported>, T::Failure> {
    transaction.lock_import().await?;
    if pieces.iter().any(|piece| piece.is_last) {
        transaction.lock_kin().await?;
    }
    let mut outcomes = Vec::with_capacity(pieces.len());
    for piece in pieces {
        let (own, rest) = words.split_at(piece.messages.len());
        outcomes.push(take_one(transaction, piece, own).await?);
        words = rest;
    }
    Ok(outcomes)
}

pub(super) async fn take_one<T: Sql>(
    transaction: &T,
    piece: &ImportPiece,
    words: &[T::Written],
) -> Result<Imported, T::Failure> {
    let (id, lock) = (&piece.session.id, transaction.dialect().lock);
    if piece.start == 0 {
        // A killed import may have left a part of the session.
        sessions::clear_arrival(transaction, id).await?;
        let sql = "INSERT INTO hx_arrival (session_id, messages, last_message) VALUES ($1, 0, 0)";
        transaction.run(sql, values![id.as_str()]).await?;
    }
    let arrival = transaction
        .row(
            &format!("SELECT messages, last_message FROM hx_arrival WHERE session_id = $1{lock}"),
            values![id.as_str()],
        )
        .await?;
    let Some(arrival) = arrival else { return Ok(Imported::Exists) };
    // Checked only now: a call that creates a session with this id locks the row in `hx_arrival` first.
    if transaction.row("SELECT 1 FROM sessions WHERE id = $1", values![id.as_str()]).await?.is_some() {
        transaction.run("DELETE FROM hx_arrival WHERE session_id = $1", values![id.as_str()]).await?;
        return Ok(Imported::Exists);
    }
    let (there, last): (i64, i64) = (arrival.try_get(0)?, arrival.try_get(1)?);
    if there != piece.start as i64 {
        return Ok(Imported::Exists);
    }
    let last = transaction.bring(id, &piece.messages, words, MessageId(last)).await?;
    if !piece.is_last {
        let sql = "UPDATE hx_arrival SET messages = messages + $2, last_message = $3 WHERE session_id = $1";
        transaction.run(sql, values![id.as_str(), piece.messages.len(), last.0]).await?;
        return Ok(Imported::Partly(piece.messages.len() as u64));
    }
    transaction.run("DELETE FROM hx_arrival WHERE session_id = $1", values![id.as_str()]).await?;
    show(transaction, &piece.session).await
}

/// Makes a complete session visible.
async fn show<T: Sql>(transaction: &T, session: &Session) -> Result<Imported, T::Failure> {
    let id = &session.id;
    let title = free_title(transaction, session).await?;
    let parent = match &session.parent_session_id {
        Some(parent) if parent != id && require(transaction, parent).await.is_ok() => Some(parent),
        _ => None,
    };
    let relation = if parent.is_some() { session.relation } else { Relation::Root };
    transaction
        .run(
            "INSERT INTO sessions (id, source, user_id, model, model_config, system_prompt, started_at, ended_at, end_reason, \
             handoff_state, handoff_platform, handoff_error, parent_session_id, title, message_count, tool_call_count, archived, extra) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
            values![
                id.as_str(),
                stored::without_nul(session.source.as_str()).as_ref(),
                kept(session.user_id.as_deref()),
                kept(session.model.as_deref()),
                session.model_config.as_ref().map(Json::as_str),
                kept(session.system_prompt.as_deref()),
                session.started_at.seconds(),
                session.ended_at.map(Timestamp::seconds),
                kept(session.end_reason.as_ref().map(|reason| reason.as_str())),
                kept(session.handoff.state.as_deref()),
                kept(session.handoff.platform.as_deref()),
                kept(session.handoff.error.as_deref()),
                parent.map(SessionId::as_str),
                kept(title.as_deref()),
                session.message_count,
                session.tool_call_count,
                i64::from(session.archived),
                kept_extra(&session.extra)],
        )
        .await?;
    usage::set(transaction, id, &session.usage, None).await?;
    sessions::stamp(transaction, id, parent, relation, session.started_at).await?;
    messages::summarize(transaction, id).await?;
    if relation == Relation::Continuation {
        // Of two continuations of a session the later one counts, whichever was imported first.
        lineage::place(transaction, &lineage::read(transaction, id).await?).await?;
    }
    transaction.note(id, Kinds::CREATED);
    Ok(Imported::Whole { title, parent: parent.cloned() })
}

/// Returns the title of a session, or the next free one if another session has it.
async fn free_title<T: Sql>(transaction: &T, session: &Session) -> Result<Option<String>, T::Failure> {
    let Some(title) = &session.title else { return Ok(None) };
    if titles::holder(transaction, &session.id, &stored::without_nul(title)).await?.is_none() {
        return Ok(Some(title.clone()));
    }
    match Title::clean(title) {
        Ok(Some(base)) => Ok(Some(titles::next(transaction, &session.id, &base).await?.as_str().to_owned())),
        Ok(None) | Err(_) => Ok(None),
    }
}

/// Implements `import_rows` of the contract. A server has none of the agent's other tables, so that every row is left out.
pub async fn rows<T: Sql>(transaction: &T, session: &SessionId, rows: &[TableRow]) -> Result<Vec<LeftOut>, T::Failure> {
    require(transaction, session).await?;
    Ok(count_left_out(rows.iter().map(|row| (row.table.clone(), None))))
}

/// Sets the parent of a session that has none. Returns `false` if it already had one.
pub async fn link<T: Sql>(
    transaction: &T,
    child: &SessionId,
    parent: &SessionId,
    relation: Relation,
) -> Result<bool, T::Failure> {
    transaction.lock_kin().await?;
    require(transaction, child).await?;
    require(transaction, parent).await?;
    let sql = "SELECT 1 FROM sessions WHERE id = $1 AND parent_session_id IS NOT NULL";
    if transaction.row(sql, values![child.as_str()]).await?.is_some() {
        return Ok(false);
    }
    sessions::refuse_cycle(transaction, child, parent).await?;
    lineage::join(transaction, child, parent, relation).await?;
    Ok(true)
}
