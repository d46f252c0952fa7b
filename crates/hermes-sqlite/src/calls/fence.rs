//! The state that a change relies on: the caller owns the conversation, and knows the newest message.

use crate::calls::row;
use crate::care::refresh;
use crate::care::stale::Stale;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::live::Fence;
use hermes_session::{Conflict, MessageId, Request, SessionId, StoreError};
use rusqlite::{OptionalExtension as _, params};

/// How many of the store's newest messages are looked at one by one. If more were added since the one that the caller
/// knows, the agent's index lists those of the session.
const CLOSE: i64 = 64;

/// Fails if the request's fence is not the token of the current lease of the session's conversation, or if the
/// transcript has another newest message than the request names. A session that does not exist has no owner.
pub(crate) fn check(database: &Database, session: &SessionId, request: &Request) -> Result<(), Failure> {
    if let Some(fence) = request.fence
        && !is_owner(database, session, fence)?
    {
        return Err(Conflict::Fenced(session.clone()).into());
    }
    match request.after {
        Some(known) if !is_newest(database, session, known)? => match row::require(database, session) {
            Ok(()) => Err(Conflict::Moved { session: session.clone(), newest: newest(database, session)? }.into()),
            Err(Failure::Store(StoreError::NotFound(_))) => Ok(()),
            Err(failure) => Err(failure),
        },
        _ => Ok(()),
    }
}

/// Returns whether this is the token of the current lease of a session's conversation, or there is no such session.
fn is_owner(database: &Database, session: &SessionId, fence: Fence) -> Result<bool, Failure> {
    let mut statement = database.prepare_cached(
        "SELECT h.dirty, l.token FROM hx_session h LEFT JOIN hx_lease l ON l.resource = 'c:' || h.root WHERE h.session_id = ?",
    )?;
    let mut look = || {
        statement
            .query_row(params![session.as_str()], |row| Ok((row.get::<_, Stale>(0)?, row.get::<_, Option<i64>>(1)?)))
            .optional()
    };
    let mut found = look()?;
    if found.is_some_and(|(stale, _)| stale.place) {
        // A foreign writer has changed the lineage: the conversation may start with another session now.
        refresh::places(database)?;
        found = look()?;
    }
    Ok(found.is_none_or(|(_, token)| token == Some(fence.0)))
}

/// Returns whether a message is the newest one of a session's transcript; id 0 stands for an empty one.
fn is_newest(database: &Database, session: &SessionId, known: MessageId) -> Result<bool, Failure> {
    let is_said = database.shape().in_transcript();
    let known = known.0;
    if known == 0 {
        let any = format!("SELECT 1 FROM messages WHERE session_id = ? AND {is_said} LIMIT 1");
        return Ok(!database.prepare_cached(&any)?.exists(params![session.as_str()])?);
    }
    let there = format!(
        "SELECT (SELECT max(id) FROM messages), EXISTS (SELECT 1 FROM messages WHERE id = ?1 AND session_id = ?2 AND {is_said})"
    );
    let (last, is_there): (Option<i64>, bool) = database
        .prepare_cached(&there)?
        .query_row(params![known, session.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some(last) = last.filter(|_| is_there) else { return Ok(false) };
    if last == known {
        return Ok(true);
    }
    // The sign keeps SQLite from the other index.
    let later = match last.saturating_sub(known) <= CLOSE {
        true => format!("SELECT 1 FROM messages WHERE id > ?1 AND +session_id = ?2 AND {is_said} LIMIT 1"),
        false => format!("SELECT 1 FROM messages WHERE +id > ?1 AND session_id = ?2 AND {is_said} LIMIT 1"),
    };
    Ok(!database.prepare_cached(&later)?.exists(params![known, session.as_str()])?)
}

/// Returns the newest message of a session's transcript; `None` if it is empty.
pub(crate) fn newest(database: &Database, session: &SessionId) -> Result<Option<MessageId>, Failure> {
    let sql = format!("SELECT max(id) FROM messages WHERE session_id = ? AND {}", database.shape().in_transcript());
    let id: Option<i64> = database.prepare_cached(&sql)?.query_row(params![session.as_str()], |row| row.get(0))?;
    Ok(id.map(MessageId))
}
