//! Turns a file that holds salvaged rows of the agent's tables into a store.

use crate::calls::{archive, pins_and_tags, recount, row, trash};
use crate::care::orphans;
use crate::care::refresh;
use crate::care::stale::Stale;
use crate::error::Failure;
use crate::open::foreign::quoted;
use crate::open::schema;
use crate::write::database::Database;
use hermes_session::{PinAndTags, SessionId};
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};
use std::path::Path;

/// Salvaged data other than the rows of the agent's tables.
#[derive(Debug, Default)]
pub struct Salvaged {
    /// The relations of sessions to their parents, as stamped when they were created.
    pub relations: Vec<StoredRelation>,
    /// The pins and tags of sessions.
    pub pins_and_tags: Vec<(SessionId, PinAndTags)>,
    /// The sessions that our own table has as archived.
    pub archived: Vec<SessionId>,
    /// Rows of live clients.
    pub live: Vec<StoredRow>,
    /// The statement that created the table of undone messages; `None` if there is no such table.
    pub undone: Option<String>,
    /// The statements that created the indexes of the agent's tables.
    pub indexes: Vec<String>,
}

/// The stored relation of a session to its parent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRelation {
    /// The session's id.
    pub session: String,
    /// The relation, as `hx_session` stores it.
    pub relation: String,
    /// The parent that the session was created with.
    pub origin: Option<String>,
    /// The cause of the reset that ended the session.
    pub cause: Option<String>,
}

/// A row of one of our tables.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRow {
    /// The table.
    pub table: &'static str,
    /// The values of its columns, in order. The last ones may be missing: SQLite adds columns without changing rows.
    pub values: Vec<Value>,
}

/// Turns the file into a store: adds missing columns, our side tables and search indexes, makes titles unique, and
/// recomputes lineages and counters. The connection must have no open transaction.
///
/// # Errors
/// Errors of SQLite; the file is then unusable.
pub fn bring_into_use(connection: Connection, path: &Path, salvaged: &Salvaged) -> Result<(), Failure> {
    let database = Database::new(connection);
    schema::bring_copy_into_use(&database, path)?;
    database.execute_batch("BEGIN")?;
    for StoredRelation { session, relation, origin, cause } in &salvaged.relations {
        database
            .prepare_cached(
                "UPDATE hx_session SET relation = ?, origin = ?, dirty = ? WHERE session_id = ?
                 AND EXISTS (SELECT 1 FROM sessions s WHERE s.id = session_id AND s.parent_session_id IS NOT NULL) AND relation <> ?1",
            )?
            .execute(params![relation, origin, Stale::ALL, session])?;
        if let Some(cause) = cause {
            database
                .prepare_cached("UPDATE hx_session SET cause = ? WHERE session_id = ?")?
                .execute(params![cause, session])?;
        }
    }
    live(&database, salvaged)?;
    for sql in &salvaged.indexes {
        // An index that exists, or that the rows contradict, is not needed to read them.
        if let Err(error) = database.execute_batch(sql) {
            tracing::debug!(error = crate::error::code(&error), "index of the damaged file not created");
        }
    }
    refresh::places(&database)?;
    pins_and_tags::import(&database, &salvaged.pins_and_tags)?;
    for id in salvaged.archived.iter().filter(|id| row::require(&database, id).is_ok()) {
        archive::mark(&database, id, true)?;
    }
    recount_all(&database)?;
    database.execute_batch("COMMIT")?;
    Ok(())
}

/// Inserts the rows of live clients whose session was salvaged.
fn live(database: &Database, salvaged: &Salvaged) -> Result<(), Failure> {
    if let Some(sql) = &salvaged.undone {
        database.execute_batch(sql)?;
        trash::make_undone(database)?;
    }
    for StoredRow { table, values } in &salvaged.live {
        let mut columns = database.prepare_cached("SELECT name FROM pragma_table_info(?)")?;
        let columns = columns.query_map([table], |row| row.get::<_, String>(0))?;
        let columns: Vec<String> =
            columns.take(values.len()).map(|name| name.map(|name| quoted(&name))).collect::<Result<_, _>>()?;
        if columns.len() == values.len() {
            let marks = vec!["?"; columns.len()].join(", ");
            // A row that was garbled may violate a constraint.
            let insert = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({marks})", columns.join(", "));
            database.prepare_cached(&insert)?.execute(params_from_iter(values))?;
        }
    }
    database.refresh()?;
    orphans::remove(database)?;
    if database.shape().undone {
        // What was in the trash is not salvaged.
        database.execute_batch(
            "DELETE FROM hx_undone WHERE hx_number IS NOT NULL OR session_id NOT IN (SELECT id FROM sessions WHERE id IS NOT NULL)",
        )?;
    }
    Ok(())
}

/// Recomputes the counters of all sessions from their messages.
fn recount_all(database: &Database) -> Result<(), Failure> {
    let mut statement = database.prepare("SELECT id FROM sessions WHERE typeof(id) = 'text'")?;
    let sessions: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for session in sessions {
        recount::recount(database, &SessionId::from_stored(session))?;
    }
    Ok(())
}
