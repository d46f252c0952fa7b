//! Rows of live clients that contain text of a session: undone messages, mail, routes. They are deleted with it.

use super::signs::{each, each_decoded, exists};
use hermes_session::SessionId;
use hermes_session::needles::Needles;
use hermes_sqlite::file::Failure;
use rusqlite::{Connection, params};

/// The rows of a session `?1`, by the table that they are in. Keys of routes and ids of platforms are no text of it.
const ROWS: [(&str, &str); 4] = [
    ("hx_undone", "SELECT * FROM hx_undone WHERE session_id = ?1 AND hx_number IS NULL"),
    ("hx_outbox", "SELECT body, plain, last_error FROM hx_outbox WHERE session_id = ?1"),
    (
        "hx_inbox",
        "SELECT payload FROM hx_inbox WHERE session_id = ?1 OR turn IN (SELECT turn FROM hx_turn WHERE session_id = ?1)",
    ),
    ("hx_route", "SELECT source, display_name, notice FROM hx_route WHERE session_id = ?1"),
];

/// Takes the signs of these rows.
pub(super) fn take(connection: &Connection, session: &SessionId, needles: &mut Needles) -> Result<(), Failure> {
    for (table, sql) in ROWS {
        if exists(connection, table)? {
            each(connection, sql, params![session.as_str()], |value| needles.take(value))?;
        }
    }
    if exists(connection, "hx_undone")? {
        let said = "SELECT content, tool_name, tool_calls FROM hx_undone WHERE session_id = ? AND hx_number IS NULL";
        each_decoded(connection, said, params![session.as_str()], |text| needles.take(text))?;
    }
    Ok(())
}

/// Takes the signs of the undone messages of an entry of the trash.
pub(super) fn take_trashed(connection: &Connection, number: i64, needles: &mut Needles) -> Result<(), Failure> {
    if exists(connection, "hx_undone")? {
        let all = "SELECT * FROM hx_undone WHERE hx_number = ?";
        each(connection, all, params![number], |value| needles.take(value))?;
        let said = "SELECT content, tool_name, tool_calls FROM hx_undone WHERE hx_number = ?";
        each_decoded(connection, said, params![number], |text| needles.take(text))?;
    }
    Ok(())
}

/// Removes the ids of deleted sessions from the feed of changes. Readers that follow it have to read everything again.
pub(super) fn forget_changes(connection: &Connection) -> Result<(), Failure> {
    if exists(connection, "hx_change")? {
        connection.execute_batch(
            "DELETE FROM hx_change WHERE session_id NOT IN (SELECT id FROM sessions WHERE id IS NOT NULL);
             UPDATE hx_state SET value = lower(hex(randomblob(8))) WHERE key = 'changes';",
        )?;
    }
    Ok(())
}
