//! Idempotent requests: each key is applied once, and a repeated request gets the same answer.

use crate::calls::fence;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::{Conflict, Request, SessionId};
use hermes_sql::{Answer, statements};
use rusqlite::{OptionalExtension as _, params};

/// Returns whether the request's key was used before.
pub(crate) fn is_known(database: &Database, request: &Request) -> Result<bool, Failure> {
    let Some(key) = &request.key else { return Ok(false) };
    let lives = database.prepare_cached(statements::REQUEST)?.query_row(params![key.as_str()], |row| row.get(2));
    Ok(lives.optional()?.unwrap_or(false))
}

/// Runs `work` unless the request's key was applied before, and stores its answer under the key.
pub(crate) fn once<T: Answer>(
    database: &Database,
    request: &Request,
    session: &SessionId,
    fingerprint: &str,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    once_in(database, request, session, session, fingerprint, work)
}

/// Does the same as [`once`] for a change whose key lives as long as another session than the one whose owner and
/// transcript the request relies on, such as the child of a split.
pub(crate) fn once_in<T: Answer>(
    database: &Database,
    request: &Request,
    session: &SessionId,
    changed: &SessionId,
    fingerprint: &str,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    once_if(database, request, Some(changed), fingerprint, work, |_| Some(session.clone()))
}

/// Does the same as [`once`] for a change that may change nothing. `lives` returns the session that the key lives as
/// long as; `None` stores no key.
pub(crate) fn once_if<T: Answer>(
    database: &Database,
    request: &Request,
    changed: Option<&SessionId>,
    fingerprint: &str,
    work: impl FnOnce() -> Result<T, Failure>,
    lives: impl FnOnce(&T) -> Option<SessionId>,
) -> Result<T, Failure> {
    if let Some(answer) = recall(database, request, fingerprint)? {
        return Ok(answer);
    }
    if let Some(changed) = changed {
        fence::check(database, changed, request)?;
    }
    let answer = work()?;
    if let Some(key) = &request.key
        && let Some(session) = lives(&answer)
    {
        database.prepare_cached(statements::REMEMBER_REQUEST)?.execute(params![
            key.as_str(),
            session.as_str(),
            answer.first_message().map(|id| id.0),
            fingerprint,
            answer.keep()
        ])?;
    }
    Ok(answer)
}

/// Returns the stored answer under the request's key; `None` if the key was not applied, or is no longer valid.
pub(crate) fn recall<T: Answer>(
    database: &Database,
    request: &Request,
    fingerprint: &str,
) -> Result<Option<T>, Failure> {
    let Some(key) = &request.key else { return Ok(None) };
    let kept: Option<(String, String, bool)> = database
        .prepare_cached(statements::REQUEST)?
        .query_row(params![key.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    match kept {
        None => Ok(None),
        // Its messages are gone, so the key is no longer valid.
        Some((_, _, false)) => {
            database.prepare_cached(statements::FORGET_REQUEST)?.execute(params![key.as_str()])?;
            Ok(None)
        }
        Some((known, answer, true)) => match T::recall(&answer).filter(|_| known == fingerprint) {
            Some(answer) => Ok(Some(answer)),
            None => Err(Conflict::KeyReused(key.clone()).into()),
        },
    }
}
