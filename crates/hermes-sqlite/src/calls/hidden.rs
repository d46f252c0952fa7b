//! Sessions that are in the agent's tables and that nobody should see: those that go bit by bit, those that come bit by bit.
//!
//! A row of `hx_hidden` says so, and no row of `hx_session` stands beside such a session. Every read of ours passes it over.
//! The agent knows nothing of it and may still write to the session; what it writes goes with it.

use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::SessionId;
use rusqlite::{Connection, OptionalExtension as _, params};

/// The condition on a session `s` for being seen.
macro_rules! seen {
    () => {
        "NOT EXISTS (SELECT 1 FROM hx_hidden x WHERE x.session_id = s.id)"
    };
}
pub(crate) use seen;

/// Why a session is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// It was deleted; what is left of it goes in steps.
    Doomed,
    /// The same, but what goes is kept in the trash.
    Binned,
    /// It is being imported; the rest of it follows, or did not.
    Coming,
    /// The same, from the trash, where all of it still is.
    Restoring,
}

impl Hidden {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Doomed => "doomed",
            Self::Binned => "binned",
            Self::Coming => "coming",
            Self::Restoring => "restoring",
        }
    }
}

/// The condition on a row `h` for being a session that goes.
pub(crate) const GOES: &str = "h.state NOT IN ('coming', 'restoring')";

/// Whether a session is hidden, for whatever reason.
pub(crate) fn is_hidden(database: &Database, id: &SessionId) -> Result<bool, Failure> {
    Ok(database.prepare_cached("SELECT 1 FROM hx_hidden WHERE session_id = ?")?.exists(params![id.as_str()])?)
}

/// Whether a session is hidden for this reason.
pub(crate) fn is(database: &Database, id: &SessionId, why: Hidden) -> Result<bool, Failure> {
    Ok(database
        .prepare_cached("SELECT 1 FROM hx_hidden WHERE session_id = ? AND state = ?")?
        .exists(params![id.as_str(), why.as_str()])?)
}

/// Hides a session, or says why it is hidden from now on.
pub(crate) fn hide(database: &Database, id: &SessionId, why: Hidden) -> Result<(), Failure> {
    database
        .prepare_cached("INSERT OR REPLACE INTO hx_hidden (session_id, state) VALUES (?, ?)")?
        .execute(params![id.as_str(), why.as_str()])?;
    Ok(())
}

/// Dooms a session that is being restored from the trash. Leaves any other session as it is.
///
/// # Errors
/// An error of SQLite.
pub fn abandon_restore(connection: &Connection, id: &SessionId) -> Result<(), Failure> {
    connection
        .prepare_cached(
            "UPDATE hx_hidden SET state = ?, messages = 0, last_message = 0 WHERE session_id = ? AND state = ?",
        )?
        .execute(params![Hidden::Doomed.as_str(), id.as_str(), Hidden::Restoring.as_str()])?;
    Ok(())
}

/// Shows a session again, or forgets one that is gone.
pub(crate) fn show(database: &Database, id: &SessionId) -> Result<(), Failure> {
    database.prepare_cached("DELETE FROM hx_hidden WHERE session_id = ?")?.execute(params![id.as_str()])?;
    Ok(())
}

/// A session that was deleted and is not gone yet, if there is one.
pub(crate) fn doomed(database: &Database) -> Result<Option<SessionId>, Failure> {
    let id: Option<String> = database
        .prepare_cached(&format!("SELECT h.session_id FROM hx_hidden h WHERE {GOES} LIMIT 1"))?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(id.map(SessionId::from_stored))
}

/// How far the import of a session is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arrival {
    /// The messages that are there.
    pub(crate) messages: i64,
    /// The id of the last of them.
    pub(crate) last: i64,
}

/// How far the import of a session is; nothing if it is not being imported.
pub(crate) fn arrival(database: &Database, id: &SessionId) -> Result<Option<Arrival>, Failure> {
    arrival_by(database, id, Hidden::Coming)
}

/// How far a session is that comes in this way; nothing if it does not.
pub(crate) fn arrival_by(database: &Database, id: &SessionId, way: Hidden) -> Result<Option<Arrival>, Failure> {
    let arrival = database
        .prepare_cached("SELECT messages, last_message FROM hx_hidden WHERE session_id = ? AND state = ?")?
        .query_row(params![id.as_str(), way.as_str()], |row| Ok(Arrival { messages: row.get(0)?, last: row.get(1)? }))
        .optional()?;
    Ok(arrival)
}

/// Notes how far the import of a session is.
pub(crate) fn set_arrival(database: &Database, id: &SessionId, arrival: Arrival) -> Result<(), Failure> {
    database
        .prepare_cached("UPDATE hx_hidden SET messages = ?, last_message = ? WHERE session_id = ?")?
        .execute(params![arrival.messages, arrival.last, id.as_str()])?;
    Ok(())
}
