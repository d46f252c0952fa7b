//! A note in the file that something is being erased, so that it can be ended by somebody else if whoever began it is interrupted.
//!
//! It has the ids of the sessions as long as rows or transcripts of them may be left, and none once only the file has to be rewritten.

use super::signs::exists;
use super::ties::list;
use crate::database::Database;
use crate::error::Failure;
use hermes_session::SessionId;
use rusqlite::{Connection, params};

/// Where it is, in `hx_state`.
pub(super) const KEY: &str = "erasing";

/// What the note says; nothing if there is none.
pub(super) fn read(connection: &Connection) -> Result<Option<Vec<SessionId>>, Failure> {
    if !exists(connection, "hx_state")? {
        return Ok(None);
    }
    let is_there = connection.prepare("SELECT 1 FROM main.hx_state WHERE key = ?")?.exists([KEY])?;
    let mut ids =
        connection.prepare("SELECT j.value FROM main.hx_state s JOIN json_each(s.value) j WHERE s.key = ?")?;
    let ids = ids.query_map([KEY], |row| row.get::<_, String>(0).map(SessionId::from_stored))?;
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    Ok(is_there.then_some(ids))
}

/// Notes that these sessions are being erased, beside those that somebody else was interrupted with.
pub(super) fn add<'a>(database: &Database, ids: impl Iterator<Item = &'a SessionId>) -> Result<(), Failure> {
    let mut all = read(database)?.unwrap_or_default();
    all.extend(ids.cloned());
    write(database, &all)
}

/// Notes that only the file is left to be rewritten.
pub(super) fn clear(database: &Database) -> Result<(), Failure> {
    write(database, &[])
}

fn write(database: &Database, ids: &[SessionId]) -> Result<(), Failure> {
    let text = list(ids.iter().map(SessionId::as_str));
    database.execute("INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, ?)", params![KEY, text])?;
    Ok(())
}

/// Takes the note away: nothing is left to be done.
pub(super) fn remove(connection: &Connection) -> Result<(), Failure> {
    if exists(connection, "hx_state")? {
        connection.execute("DELETE FROM main.hx_state WHERE key = ?", [KEY])?;
    }
    Ok(())
}
