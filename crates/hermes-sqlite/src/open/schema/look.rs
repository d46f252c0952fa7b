//! Determines the state of a file without changing it.

use super::{NEWEST, READS_FROM, REVISION, VERSION};
use crate::error::Failure;
use hermes_session::{Refusal, StoreError};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _};
use std::path::Path;

/// The state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It has no tables.
    Empty,
    /// The agent made it, with a schema up to 11, and it is not adopted yet.
    Adopted { version: i64 },
    /// A newer agent made it: we add our side tables and alter nothing else.
    Guest { version: i64 },
    /// It is adopted and complete.
    Current,
    /// An earlier revision of this program adopted it, and tables of this one are missing.
    Behind,
    /// A later revision of this program wrote it, and permits this one to read it.
    Later { revision: i64 },
}

/// Columns without which a table of that name is not the agent's.
const ESSENTIAL: [(&str, &str); 7] = [
    ("sessions", "id"),
    ("sessions", "source"),
    ("sessions", "started_at"),
    ("messages", "id"),
    ("messages", "session_id"),
    ("messages", "role"),
    ("messages", "timestamp"),
];

pub(super) fn look(connection: &Connection, path: &Path) -> Result<State, Failure> {
    let refused = |refusal: Refusal| Failure::Store(StoreError::refused(path, refusal));
    let revision: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    if (1..=REVISION).contains(&revision) && is_complete(connection)? {
        return Ok(if revision == REVISION && has_live_tables(connection)? { State::Current } else { State::Behind });
    }
    if revision > REVISION {
        let may_read = reads_from(connection)?.is_some_and(|from| from <= REVISION) && is_complete(connection)?;
        return if may_read { Ok(State::Later { revision }) } else { Err(later(path, revision)) };
    }
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if objects == 0 && revision == 0 {
        return Ok(State::Empty);
    }
    for (table, column) in ESSENTIAL {
        if !connection.prepare_cached("SELECT 1 FROM pragma_table_info(?) WHERE name = ?")?.exists([table, column])? {
            return Err(refused(Refusal::OtherProgram));
        }
    }
    if !(0..=REVISION).contains(&revision) {
        return Err(refused(Refusal::OtherUserVersion { version: revision }));
    }
    let known = match version(connection) {
        Ok(Some(version)) => version,
        Ok(None) | Err(_) => version_by_shape(connection)?,
    };
    match known {
        1..=VERSION => Ok(State::Adopted { version: known }),
        12..=NEWEST => Ok(State::Guest { version: known }),
        _ => Err(refused(Refusal::NewerSchema { found: known, newest: NEWEST })),
    }
}

/// Returns the refusal of a file that a later revision wrote.
pub(super) fn later(path: &Path, revision: i64) -> Failure {
    Failure::Store(StoreError::refused(path, Refusal::NewerRevision { revision }))
}

/// Returns the lowest revision whose readers understand a file; `None` if the file does not say.
fn reads_from(connection: &Connection) -> Result<Option<i64>, rusqlite::Error> {
    if !connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = 'hx_state'")?.exists([])? {
        return Ok(None);
    }
    let mut statement = connection.prepare_cached("SELECT value FROM main.hx_state WHERE key = ?")?;
    let text: Option<String> = statement.query_row([READS_FROM], |row| row.get(0)).optional()?;
    Ok(text.and_then(|text| text.parse().ok()))
}

/// Returns whether a file that is marked as adopted is complete: it has a supported schema and our side tables.
fn is_complete(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let side: i64 = connection
        .prepare_cached("SELECT count(*) FROM sqlite_schema WHERE name IN ('hx_session', 'hx_request', 'hx_state', 'hx_pending', 'hx_hidden', 'schema_version')")?
        .query_row([], |row| row.get(0))?;
    Ok(side == 6 && version(connection)?.is_some_and(|known| (VERSION..=NEWEST).contains(&known)))
}

/// Returns whether a file has the tables of revision 2.
fn has_live_tables(connection: &Connection) -> Result<bool, rusqlite::Error> {
    let live: i64 = connection
        .prepare_cached("SELECT count(*) FROM sqlite_schema WHERE name IN ('hx_lease', 'hx_turn', 'hx_inbox', 'hx_cursor', 'hx_outbox', 'hx_route', 'hx_route_alias')")?
        .query_row([], |row| row.get(0))?;
    Ok(live == 7)
}

/// Returns the agent's schema version; `None` if it has none. The table should have one row; bugs of the agent may
/// leave several or none.
pub(crate) fn version(connection: &Connection) -> Result<Option<i64>, rusqlite::Error> {
    let newest: Value = connection
        .prepare_cached("SELECT max(version) FROM schema_version WHERE typeof(version) = 'integer'")?
        .query_row([], |row| row.get(0))?;
    Ok(if let Value::Integer(version) = newest { Some(version) } else { None })
}

/// Returns whether the agent's version table has more than one row. The agent reads the first one: if that is an old
/// number, it repeats data migrations that the file already has.
pub(super) fn has_surplus_version_rows(connection: &Connection) -> Result<bool, rusqlite::Error> {
    connection.prepare_cached("SELECT count(*) > 1 FROM schema_version")?.query_row([], |row| row.get(0))
}

/// Infers the version of a file that does not state it: 11 if its indexes store the text themselves, which only 11
/// does, or were made by us; else an older one.
fn version_by_shape(connection: &Connection) -> Result<i64, rusqlite::Error> {
    let newer: i64 = connection.query_row(
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('messages_fts', 'messages_fts_trigram') AND (sql NOT LIKE '%content=%' OR sql LIKE '%content=''hx%')",
        [],
        |row| row.get(0),
    )?;
    Ok(if newer == 2 { VERSION } else { VERSION - 1 })
}
