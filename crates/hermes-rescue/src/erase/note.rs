//! A note in the file that sessions are being erased, so that another process can complete an interrupted erasure.
//!
//! It lists the ids of the sessions as long as rows or transcripts of them may be left, and none once only the file has
//! to be rewritten.

use super::signs::exists;
use super::ties::list;
use hermes_session::SessionId;
use hermes_sqlite::file::{ERASING, Failure};
use rusqlite::{Connection, params};

/// Returns the ids in the note; `None` if there is no note.
pub(super) fn read(connection: &Connection) -> Result<Option<Vec<SessionId>>, Failure> {
    if !exists(connection, "hx_state")? {
        return Ok(None);
    }
    let is_there = connection.prepare("SELECT 1 FROM main.hx_state WHERE key = ?")?.exists([ERASING])?;
    let mut ids =
        connection.prepare("SELECT j.value FROM main.hx_state s JOIN json_each(s.value) j WHERE s.key = ?")?;
    let ids = ids.query_map([ERASING], |row| row.get::<_, String>(0).map(SessionId::from_stored))?;
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    Ok(is_there.then_some(ids))
}

/// Adds sessions to the note, beside those of an interrupted erasure.
pub(super) fn add<'a>(connection: &Connection, ids: impl Iterator<Item = &'a SessionId>) -> Result<(), Failure> {
    let mut all = read(connection)?.unwrap_or_default();
    all.extend(ids.cloned());
    write(connection, &all)
}

/// Notes that only the file is left to be rewritten.
pub(super) fn clear(connection: &Connection) -> Result<(), Failure> {
    write(connection, &[])
}

fn write(connection: &Connection, ids: &[SessionId]) -> Result<(), Failure> {
    let text = list(ids.iter().map(SessionId::as_str));
    connection.execute("INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, ?)", params![ERASING, text])?;
    Ok(())
}

/// Removes the note: nothing is left to be done.
pub(super) fn remove(connection: &Connection) -> Result<(), Failure> {
    if exists(connection, "hx_state")? {
        connection.execute("DELETE FROM main.hx_state WHERE key = ?", [ERASING])?;
    }
    Ok(())
}
