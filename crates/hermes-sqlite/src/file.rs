//! Access to a store's file past the contract, for `hermes-rescue`: opening, copying, and the stored forms it has to
//! know.
//!
//! Everything else uses [`SqliteStore`]. Items here may change with the file format; a caller must keep the rules of
//! this crate: `connection.rs` opens every SQLite connection, and a file that this process has open as a store is never
//! opened past SQLite.

mod salvaged;

pub use crate::calls::hidden::abandon_restore;
pub use crate::error::Failure;
pub use crate::open::connection::{open_alone, open_beside, open_new};
pub use crate::open::copy::{Copied, has_room, place_new, plain as copy_plain, verified as copy_verified};
pub use crate::open::foreign::tables as foreign_tables;
pub use crate::open::place::{beside, check, check_readable, resolve};
pub use crate::open::schema::{AgentLayout, AgentTable, ERASING, agent_tables};
pub use salvaged::{Salvaged, StoredRelation, StoredRow, bring_into_use};

use crate::SqliteStore;
use crate::calls::row;
use crate::error::Circumstances;
use crate::index::vocabulary;
use crate::open::{connection, schema};
use hermes_session::{Location, StoreError};
use rusqlite::{Connection, Row};
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs `work` on this thread. Its statements wait for locks until `wait` has passed. A failure becomes a
/// [`StoreError`] that names `path` and `op`, the operation as a verb.
///
/// # Errors
/// Errors of `work`.
pub fn run<T>(
    path: &Path,
    op: &'static str,
    wait: Duration,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, StoreError> {
    connection::set_deadline(wait);
    let start = Instant::now();
    work().map_err(|failure| {
        let location = Location::from(path);
        failure.into_store_error(Circumstances { op, waited: start.elapsed(), location: &location })
    })
}

/// Opens a file for reading. Creates at most a `-shm` and an empty `-wal` beside it.
///
/// # Errors
/// `Refused` if the file is not an agent's or could only be read by changing it.
pub fn open_read_only(path: &Path) -> Result<Connection, Failure> {
    connection::open_read_only(path).map(crate::write::database::Database::into_connection)
}

/// Runs a read on a connection of an open store, in one transaction.
///
/// # Errors
/// Errors of `work`.
pub async fn read<T: Send + 'static>(
    store: &SqliteStore,
    op: &'static str,
    work: impl FnOnce(&Connection) -> Result<T, Failure> + Send + 'static,
) -> Result<T, StoreError> {
    store.workers.read(op, move |database| work(database)).await
}

/// Runs a write on the writer of an open store, in one transaction.
///
/// # Errors
/// Errors of `work`.
pub async fn write<T: Send + 'static>(
    store: &SqliteStore,
    op: &'static str,
    mut work: impl FnMut(&Connection) -> Result<T, Failure> + Send + 'static,
) -> Result<T, StoreError> {
    store.workers.write(op, move |database| work(database)).await
}

/// Switches a file that nobody else has open to the WAL, where its file system supports one.
///
/// # Errors
/// An error of SQLite.
pub fn use_wal(connection: &Connection, path: &Path) -> Result<(), Failure> {
    schema::journal(connection, path).map(drop)
}

/// Returns whether the agent that made a file has a newer schema than the one we create.
///
/// # Errors
/// An error of SQLite.
pub fn is_newer(connection: &Connection) -> Result<bool, Failure> {
    Ok(schema::version(connection)? > Some(schema::VERSION))
}

/// Returns the text of a message as a person wrote it. The first three columns of the row are its content, tool name
/// and tool calls.
///
/// # Errors
/// If the row has fewer columns.
pub fn message_text(row: &Row<'_>) -> Result<String, Failure> {
    let [content, tool_name, tool_calls] = [row::text(row, 0)?, row::text(row, 1)?, row::text(row, 2)?];
    Ok(vocabulary::decoded(content.as_deref(), tool_name.as_deref(), tool_calls.as_deref()).into_owned())
}
