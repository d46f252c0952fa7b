//! Handoffs: the agent's columns, and our table with further fields, which is created with the first handoff.

use crate::calls::row;
use crate::error::Failure;
use crate::write::database::Database;
use crate::write::requests::once;
use hermes_session::gateway::{Beside, Claim, Claimed, Handoff, HandoffEnd, HandoffProgress, HandoffRequest};
use hermes_session::live::Holder;
use hermes_session::{Request, SessionId, Timestamp, change};
use rusqlite::{OptionalExtension as _, params};
use std::time::Duration;

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS hx_handoff (
    session_id TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    requested_at REAL,
    lease_until REAL,
    claims INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hx_sessions_handoff ON sessions(id) WHERE handoff_state IN ('pending', 'running');
";

pub(crate) fn read(database: &Database, id: &SessionId) -> Result<Option<Handoff>, Failure> {
    let Some(session) = row::session(database, id)? else { return Ok(None) };
    let beside = match has_table(database)? {
        true => database
            .prepare_cached("SELECT state, requested_at, lease_until, claims FROM hx_handoff WHERE session_id = ?")?
            .query_row(params![id.as_str()], |row| {
                Ok(Beside {
                    requested_at: row::time(row, 1)?,
                    lease_until: row::time(row, 2)?,
                    ..Beside::of(row.get(0)?, row.get(3)?)
                })
            })
            .optional()?,
        false => None,
    };
    Ok(Some(Handoff::from_stored(id.clone(), session.handoff, beside)))
}

pub(crate) fn waiting(database: &Database, now: Timestamp) -> Result<Vec<Handoff>, Failure> {
    let mut waiting = requested(database)?;
    waiting.retain(|handoff| handoff.is_waiting(now));
    Ok(waiting)
}

/// Returns the handoffs that are pending or running, in the order of their requests.
fn requested(database: &Database) -> Result<Vec<Handoff>, Failure> {
    let mut statement = database.prepare_cached(
        "SELECT id, started_at FROM sessions WHERE handoff_state IN ('pending', 'running') AND typeof(id) = 'text'",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row::time(row, 1)?)))?;
    let ids: Vec<(String, Option<Timestamp>)> = rows.collect::<Result<_, _>>()?;
    let mut found = Vec::new();
    for (id, started) in ids {
        if let Some(handoff) = read(database, &SessionId::from_stored(id))? {
            let since = handoff.requested_at.or(started).map_or(f64::MAX, Timestamp::seconds);
            found.push((since, handoff));
        }
    }
    found.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.session.cmp(&other.1.session)));
    Ok(found.into_iter().map(|(_, handoff)| handoff).collect())
}

pub(crate) fn request(
    database: &Database,
    id: &SessionId,
    what: &HandoffRequest,
    request: &Request,
) -> Result<bool, Failure> {
    once(database, request, id, &change::request_handoff(id, what), || {
        let next = existing(database, id)?.requested(what, request.at);
        write(database, next.as_ref())
    })
}

pub(crate) fn claim(
    database: &Database,
    id: &SessionId,
    lease: Duration,
    who: Option<&Holder>,
    request: &Request,
) -> Result<Option<Claimed>, Failure> {
    once(database, request, id, &change::claim_handoff(id), || {
        let next = existing(database, id)?.claimed(lease, who, request.at);
        write(database, next.as_ref())?;
        Ok(next.map(|next| Claimed { claim: Claim(next.claims), fence: None }))
    })
}

pub(crate) fn advance(
    database: &Database,
    id: &SessionId,
    claim: Claim,
    progress: &HandoffProgress,
    request: &Request,
) -> Result<bool, Failure> {
    once(database, request, id, &change::advance_handoff(id, claim, progress), || {
        let next = existing(database, id)?.advanced(claim, progress, request.at);
        write(database, next.as_ref())
    })
}

/// Ends the handoffs that nobody claimed in time.
pub(crate) fn expire(database: &Database, now: Timestamp) -> Result<Vec<SessionId>, Failure> {
    let mut expired = Vec::new();
    for handoff in requested(database)? {
        if let Some(next) = handoff.expired(now) {
            write(database, Some(&next))?;
            expired.push(next.session);
        }
    }
    expired.sort();
    Ok(expired)
}

pub(crate) fn end(
    database: &Database,
    id: &SessionId,
    claim: Option<Claim>,
    end: &HandoffEnd,
    request: &Request,
) -> Result<bool, Failure> {
    once(database, request, id, &change::end_handoff(id, claim, end), || {
        let next = existing(database, id)?.ended(claim, end, request.at);
        write(database, next.as_ref())
    })
}

/// Deletes our fields of the handoff of a deleted session.
pub(crate) fn forget(database: &Database, id: &SessionId) -> Result<(), Failure> {
    if has_table(database)? {
        database.prepare_cached("DELETE FROM hx_handoff WHERE session_id = ?")?.execute(params![id.as_str()])?;
    }
    Ok(())
}

fn existing(database: &Database, id: &SessionId) -> Result<Handoff, Failure> {
    read(database, id)?.ok_or_else(|| hermes_session::StoreError::no_session(id).into())
}

/// Writes the new state of a handoff. Returns `false` if there is none to write.
fn write(database: &Database, handoff: Option<&Handoff>) -> Result<bool, Failure> {
    let Some(handoff) = handoff else { return Ok(false) };
    if !has_table(database)? {
        database.execute_batch(TABLE)?;
    }
    let (columns, beside) = handoff.to_stored();
    let id = handoff.session.as_str();
    database
        .prepare_cached(
            "UPDATE sessions SET handoff_state = ?2, handoff_platform = ?3, handoff_error = ?4 WHERE id = ?1",
        )?
        .execute(params![id, columns.state, columns.platform, columns.error])?;
    let times = [beside.requested_at, beside.lease_until].map(|time| time.map(Timestamp::seconds));
    database
        .prepare_cached(
            "INSERT OR REPLACE INTO hx_handoff (session_id, state, requested_at, lease_until, claims) VALUES (?, ?, ?, ?, ?)",
        )?
        .execute(params![id, beside.state, times[0], times[1], beside.claims])?;
    Ok(true)
}

fn has_table(database: &Database) -> Result<bool, rusqlite::Error> {
    database.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'hx_handoff'")?.exists([])
}
