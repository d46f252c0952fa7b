//! Sessions that are in the agent's tables and that nobody should see: those that go bit by bit, those that come bit by bit.
//!
//! A row of `hx_hidden` says so, and no row of `hx_session` stands beside such a session. Every read of ours passes it over.
//! The agent knows nothing of it and may still write to the session; what it writes goes with it.

use crate::database::Database;
use crate::error::Failure;
use hermes_session::SessionId;
use rusqlite::{OptionalExtension as _, params};

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
    /// It is being imported; the rest of it follows, or did not.
    Coming,
}

impl Hidden {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Doomed => "doomed",
            Self::Coming => "coming",
        }
    }
}

/// Whether and why a session is hidden.
pub(crate) fn state(database: &Database, id: &SessionId) -> Result<Option<Hidden>, Failure> {
    let state: Option<String> = database
        .prepare_cached("SELECT state FROM hx_hidden WHERE session_id = ?")?
        .query_row(params![id.as_str()], |row| row.get(0))
        .optional()?;
    Ok(state.map(|state| if state == Hidden::Coming.as_str() { Hidden::Coming } else { Hidden::Doomed }))
}

/// Hides a session, or says why it is hidden from now on.
pub(crate) fn hide(database: &Database, id: &SessionId, why: Hidden) -> Result<(), Failure> {
    database
        .prepare_cached("INSERT OR REPLACE INTO hx_hidden (session_id, state) VALUES (?, ?)")?
        .execute(params![id.as_str(), why.as_str()])?;
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
        .prepare_cached("SELECT session_id FROM hx_hidden WHERE state <> 'coming' LIMIT 1")?
        .query_row([], |row| row.get(0))
        .optional()?;
    Ok(id.map(SessionId::from_stored))
}
