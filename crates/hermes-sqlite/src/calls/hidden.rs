//! Sessions in the agent's tables that no read may return: those being deleted step by step, and those being imported
//! step by step.
//!
//! A hidden session has a row in `hx_hidden` and none in `hx_session`. All our reads skip it. The agent does not know
//! about this and may still write to the session; its rows are removed with it.

use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::SessionId;
use rusqlite::{Connection, OptionalExtension as _, params};

/// SQL condition on a session `s`: it is not hidden.
macro_rules! seen {
    () => {
        "NOT EXISTS (SELECT 1 FROM hx_hidden x WHERE x.session_id = s.id)"
    };
}
pub(crate) use seen;

/// Why a session is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// It was deleted; its remaining rows are removed in steps.
    Doomed,
    /// It was deleted into the trash; its rows are kept there as they are removed in steps.
    Binned,
    /// It is being imported. If the import was interrupted, the rest may never arrive.
    Coming,
    /// It is being restored from the trash, where all of it still is.
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

/// SQL condition on a row `h` of `hx_hidden`: the session is being deleted.
pub(crate) const GOES: &str = "h.state NOT IN ('coming', 'restoring')";

/// Returns whether a session is hidden, for any reason.
pub(crate) fn is_hidden(database: &Database, id: &SessionId) -> Result<bool, Failure> {
    Ok(database.prepare_cached("SELECT 1 FROM hx_hidden WHERE session_id = ?")?.exists(params![id.as_str()])?)
}

/// Returns whether a session is hidden for this reason.
pub(crate) fn is(database: &Database, id: &SessionId, why: Hidden) -> Result<bool, Failure> {
    Ok(database
        .prepare_cached("SELECT 1 FROM hx_hidden WHERE session_id = ? AND state = ?")?
        .exists(params![id.as_str(), why.as_str()])?)
}

/// Hides a session, or changes the reason why it is hidden.
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

/// Removes the entry of a hidden session: the session is shown again, or no longer exists.
pub(crate) fn show(database: &Database, id: &SessionId) -> Result<(), Failure> {
    database.prepare_cached("DELETE FROM hx_hidden WHERE session_id = ?")?.execute(params![id.as_str()])?;
    Ok(())
}

/// Returns a deleted session whose rows are not all removed yet; `None` if there is none.
pub(crate) fn doomed(database: &Database) -> Result<Option<SessionId>, Failure> {
    let id: Option<String> = database
        .prepare_cached(&format!("SELECT h.session_id FROM hx_hidden h WHERE {GOES} LIMIT 1"))?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(id.map(SessionId::from_stored))
}

/// Progress of the import of a session.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Arrival {
    /// The number of messages imported so far.
    pub(crate) messages: i64,
    /// The id of the last imported message.
    pub(crate) last: i64,
}

/// Returns the progress of the import of a session; `None` if it is not being imported.
pub(crate) fn arrival(database: &Database, id: &SessionId) -> Result<Option<Arrival>, Failure> {
    arrival_by(database, id, Hidden::Coming)
}

/// Returns the progress of a session hidden for the reason `way`; `None` if it is not hidden for it.
pub(crate) fn arrival_by(database: &Database, id: &SessionId, way: Hidden) -> Result<Option<Arrival>, Failure> {
    let arrival = database
        .prepare_cached("SELECT messages, last_message FROM hx_hidden WHERE session_id = ? AND state = ?")?
        .query_row(params![id.as_str(), way.as_str()], |row| Ok(Arrival { messages: row.get(0)?, last: row.get(1)? }))
        .optional()?;
    Ok(arrival)
}

/// Stores the progress of the import of a session.
pub(crate) fn set_arrival(database: &Database, id: &SessionId, arrival: Arrival) -> Result<(), Failure> {
    database
        .prepare_cached("UPDATE hx_hidden SET messages = ?, last_message = ? WHERE session_id = ?")?
        .execute(params![arrival.messages, arrival.last, id.as_str()])?;
    Ok(())
}
