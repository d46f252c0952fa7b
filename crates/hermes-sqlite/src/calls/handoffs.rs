//! Handoffs: the agent's columns, and our table with further fields, which is created with the first handoff.
//!
//! A step of a handoff is one transaction together with everything that it brings about: the lease of the conversation
//! moves with a claim, the place is bound when the session arrives, and a handoff that fails leaves the transcript as it
//! was.

use crate::calls::{leases, lineage, mail, messages, routes, row, turns, undo};
use crate::error::Failure;
use crate::write::database::Database;
use crate::write::requests::once;
use hermes_session::gateway::{Beside, Claim, Claimed, Handoff, HandoffEnd, HandoffProgress, HandoffRequest};
use hermes_session::live::{Acquired, Holder, Resource, Take, Terms, TurnId};
use hermes_session::{Conflict, MessageId, Request, SessionId, Timestamp, change};
use rusqlite::{OptionalExtension as _, Row, params};
use std::time::Duration;

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS hx_handoff (
    session_id TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    requested_at REAL,
    lease_until REAL,
    claims INTEGER NOT NULL, expires_at REAL, claimed_by TEXT, destination TEXT, thread TEXT, turn INTEGER, synthetic_from INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hx_sessions_handoff ON sessions(id) WHERE handoff_state IN ('pending', 'running');
";

/// The columns of revision 2.
const FURTHER: &str = "expires_at, claimed_by, destination, thread, turn, synthetic_from";

pub(crate) fn read(database: &Database, id: &SessionId) -> Result<Option<Handoff>, Failure> {
    let Some(session) = row::session(database, id)? else { return Ok(None) };
    let beside = match has_table(database)? {
        true => database
            .prepare_cached(&format!(
                "SELECT state, claims, requested_at, lease_until, {} FROM hx_handoff WHERE session_id = ?",
                if database.shape().handoffs { FURTHER } else { "NULL, NULL, NULL, NULL, NULL, NULL" }
            ))?
            .query_row(params![id.as_str()], beside)
            .optional()?,
        false => None,
    };
    Ok(Some(Handoff::from_stored(id.clone(), session.handoff, beside)))
}

fn beside(row: &Row<'_>) -> Result<Beside, rusqlite::Error> {
    Ok(Beside {
        requested_at: row::time(row, 2)?,
        lease_until: row::time(row, 3)?,
        expires_at: row::time(row, 4)?,
        claimed_by: row::text(row, 5)?,
        destination: row::text(row, 6)?,
        thread: row::text(row, 7)?,
        turn: row.get::<_, Option<i64>>(8)?.map(TurnId),
        synthetic_from: row.get::<_, Option<i64>>(9)?.map(MessageId),
        ..Beside::of(row.get(0)?, row.get(1)?)
    })
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
        if next.is_some()
            && let Some(turn) = turns::of_conversation(database, &lineage::root(database, id)?)?
        {
            return Err(Conflict::TurnOpen { session: id.clone(), turn: turn.id }.into());
        }
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
        let Some(next) = existing(database, id)?.claimed(lease, who, request.at) else { return Ok(None) };
        let mut fence = None;
        if let Some(who) = who {
            let (what, terms) = (Resource::Conversation(id.clone()), Terms { ttl: lease, take: Take::Idle });
            match leases::acquire(database, &what, who, terms, request.at)? {
                Acquired::Got(grant) => fence = Some(grant.lease.fence),
                Acquired::Held(_) => return Ok(None),
            }
        }
        write(database, Some(&next))?;
        Ok(Some(Claimed { claim: Claim(next.claims), fence }))
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
        let handoff = existing(database, id)?;
        let Some(next) = handoff.clone().ended(claim, end, request.at) else { return Ok(false) };
        match end {
            HandoffEnd::Completed => {}
            HandoffEnd::Arrived(switch) => {
                let before = routes::find(database, &switch.key)?;
                routes::lead_to(database, switch, before, request.at)?;
            }
            HandoffEnd::Failed(_) => take_back(database, &handoff, request.at)?,
        }
        if let Some(fence) = request.fence {
            leases::release_by(database, fence)?;
        }
        write(database, Some(&next))
    })
}

/// Undoes what a handoff said: its messages, its turn and its replies.
fn take_back(database: &Database, handoff: &Handoff, now: Timestamp) -> Result<(), Failure> {
    if let Some(turn) = handoff.turn {
        mail::drop_open(database, turn)?;
        turns::finish(database, turn, now)?;
    }
    match handoff.synthetic_from {
        Some(from) if messages::is_in_transcript(database, &handoff.session, from)? => {
            undo::take_back(database, &handoff.session, from, now).map(drop)
        }
        _ => Ok(()),
    }
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
        // A job after this one in the same transaction reads the table.
        database.refresh()?;
    }
    let (columns, beside) = handoff.to_stored();
    let id = handoff.session.as_str();
    database
        .prepare_cached(
            "UPDATE sessions SET handoff_state = ?2, handoff_platform = ?3, handoff_error = ?4 WHERE id = ?1",
        )?
        .execute(params![id, columns.state, columns.platform, columns.error])?;
    let times = [beside.requested_at, beside.lease_until, beside.expires_at].map(|time| time.map(Timestamp::seconds));
    database
        .prepare_cached(&format!(
            "INSERT OR REPLACE INTO hx_handoff (session_id, state, claims, requested_at, lease_until, {FURTHER}) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        ))?
        .execute(params![
            id,
            beside.state,
            beside.claims,
            times[0],
            times[1],
            times[2],
            beside.claimed_by,
            beside.destination,
            beside.thread,
            beside.turn.map(|turn| turn.0),
            beside.synthetic_from.map(|message| message.0),
        ])?;
    Ok(true)
}

fn has_table(database: &Database) -> Result<bool, rusqlite::Error> {
    database.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'hx_handoff'")?.exists([])
}
