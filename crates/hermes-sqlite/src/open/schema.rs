//! Whose file it is, and what it takes to use it: nothing, a schema of its own, our side tables, or more columns as well.
//!
//! Opening a file that is current reads two numbers and changes nothing.

mod adopt;
mod agent;
mod look;
mod memory;
mod side;

pub use agent::{AgentLayout, AgentTable, agent_tables};
pub(crate) use look::version;
pub(crate) use memory::refresh as refresh_memory;
pub use side::ERASING;
pub(crate) use side::{add_card, copy_sessions_to_memory, lacks_card, remove_card};

use crate::error::Failure;
use crate::index::indexes;
use crate::open::copy;
use crate::open::notice::{CopyBefore, Notice};
use crate::write::database::Database;
use crate::write::queue::Queue;
use hermes_session::{Refusal, StoreError};
use look::{State, look};
use std::path::Path;
use std::time::Instant;

/// The agent's schema that we make.
pub(crate) const VERSION: i64 = 11;
/// The newest schema of the agent's that we know how to use.
const NEWEST: i64 = 22;
/// Our own revision, kept in `PRAGMA user_version`, which the agent leaves at 0.
const REVISION: i64 = 1;

/// Brings a file into use, whatever it is, or refuses it untouched.
pub(crate) fn prepare(
    database: &Database,
    path: &Path,
    queue: &mut Queue,
    deadline: Instant,
) -> Result<Vec<Notice>, Failure> {
    let state = look(database, path)?;
    if matches!(state, State::Current) && !look::has_surplus_version_rows(database)? {
        return Ok(Vec::new());
    }
    // One at a time: the others find it done. SQLite's own lock is only taken for the change itself. Where there is no line,
    // that one still keeps the change whole; at worst a copy is made twice.
    queue.enter("bring the store into use", deadline).map_err(|late| Failure::Late { holder: late.holder })?;
    let outcome = bring_into_use(database, path, &state);
    let holder = queue.other();
    queue.leave();
    outcome.map_err(|failure| if failure.is_passing() { Failure::Late { holder } } else { failure })
}

fn bring_into_use(database: &Database, path: &Path, state: &State) -> Result<Vec<Notice>, Failure> {
    let mut notices = Vec::new();
    let found = look(database, path)?;
    let mut copy = CopyBefore::NotNeeded;
    if let State::Adopted { version } = found
        && adopt::alters(database, version)?
    {
        copy = keep_copy(database, path, version)?;
    }
    let before = objects(database)?.len();
    if matches!(state, State::Empty) {
        // Only takes effect on a file without tables, outside a transaction.
        database.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        notices.extend(journal(database, path)?);
    }
    database.execute_batch("BEGIN IMMEDIATE")?;
    match change(database, path) {
        Ok(told) => {
            database.execute_batch("COMMIT")?;
            tracing::info!(found = ?found, "store brought into use");
            if matches!(found, State::Adopted { .. } | State::Guest { .. }) {
                // Where there are sessions, the index of lists is made a moment later.
                let added =
                    (objects(database)?.len() + usize::from(lacks_card(database)?)).saturating_sub(before) as u64;
                notices.push(Notice::Adopted { added, copy });
            }
            notices.extend(told);
        }
        Err(failure) => {
            database.execute_batch("ROLLBACK")?;
            return Err(failure);
        }
    }
    Ok(notices)
}

/// Brings a file into use that is a copy itself, so that none is kept of it, and that has nothing but rows: titles may be shared, and the search
/// indexes are missing.
pub(crate) fn bring_copy_into_use(database: &Database, path: &Path) -> Result<(), Failure> {
    database.execute_batch("BEGIN IMMEDIATE")?;
    change(database, path)?;
    adopt::part_titles(database)?;
    indexes::mend(database, true)?;
    Ok(database.execute_batch("COMMIT")?)
}

/// The change itself, under the write lock. Only what is seen there counts: an agent may have been here in the meantime.
fn change(database: &Database, path: &Path) -> Result<Vec<Notice>, Failure> {
    let state = look(database, path)?;
    let notices = match state {
        State::Current => return Ok(leave_one_version_row(database)?.into_iter().collect()),
        State::Empty => {
            adopt::create(database)?;
            Vec::new()
        }
        State::Adopted { version } => adopt::adopt(database, version)?,
        State::Guest { .. } => {
            indexes::lay_ground(database)?;
            leave_one_version_row(database)?.into_iter().collect()
        }
    };
    database.refresh()?;
    side::add(database)?;
    Ok(notices)
}

/// Removes all rows of the agent's version table but the highest. No copy is kept for this: a notice names what was removed.
fn leave_one_version_row(database: &Database) -> Result<Option<Notice>, Failure> {
    match version(database)? {
        Some(version) if look::has_surplus_version_rows(database)? => adopt::keep_one_version_row(database, version),
        _ => Ok(None),
    }
}

/// Returns whether a conversation is being erased, or was when the process was interrupted.
pub(crate) fn is_erasing(connection: &rusqlite::Connection) -> Result<bool, rusqlite::Error> {
    let has_state =
        connection.prepare("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'hx_state'")?.exists([])?;
    Ok(has_state && connection.prepare("SELECT 1 FROM main.hx_state WHERE key = ?")?.exists([ERASING])?)
}

/// Whether a file is in use by us.
pub(crate) fn is_in_use(connection: &rusqlite::Connection, path: &Path) -> Result<bool, Failure> {
    Ok(matches!(look(connection, path)?, State::Current))
}

/// Returns whether a file has a schema that the agent upgrades when it opens the file.
pub(crate) fn is_old(connection: &rusqlite::Connection, path: &Path) -> Result<bool, Failure> {
    Ok(matches!(look(connection, path)?, State::Adopted { version } if version < VERSION))
}

/// Prepares a connection that only reads. Where the file is not adopted, the connection gets temporary side tables, which [`refresh_memory`] fills.
pub(crate) fn prepare_read_only(mut database: Database, path: &Path) -> Result<Database, Failure> {
    // One transaction: what is looked at here and what is remembered of the schema are of one state.
    database.execute_batch("BEGIN")?;
    let is_adopted = look_to_read(&database, path)?;
    if !is_adopted {
        database.keep_side_in_memory();
        memory::prepare(&database)?;
    }
    database.refresh()?;
    database.execute_batch("COMMIT")?;
    Ok(database)
}

/// Returns whether a file that is only read is adopted; fails if it is no file of an agent's.
fn look_to_read(database: &Database, path: &Path) -> Result<bool, Failure> {
    match look(database, path)? {
        State::Current => Ok(true),
        State::Adopted { .. } | State::Guest { .. } => Ok(false),
        State::Empty => Err(Failure::Store(StoreError::refused(path, Refusal::Empty))),
    }
}

/// Returns the names of our tables, indexes, views and triggers in a file, in order: those that a statement of ours made. Tables that SQLite keeps
/// for a full-text index, and indexes that it makes for a key, belong to their table and are not named. Every count of our objects is made here.
pub(crate) fn objects(connection: &rusqlite::Connection) -> Result<Vec<String>, rusqlite::Error> {
    // FTS5 keeps an index in tables named after it.
    let mut named = connection.prepare(
        "SELECT name FROM main.sqlite_schema o WHERE name GLOB 'hx_*' AND NOT EXISTS (SELECT 1 FROM main.sqlite_schema t \
         WHERE t.sql LIKE 'CREATE VIRTUAL TABLE%' AND o.tbl_name GLOB t.name || '_*') ORDER BY name",
    )?;
    named.query_map([], |row| row.get(0))?.collect()
}

/// Keeps a copy of a file as it is before we change it, if there is room.
pub(crate) fn keep_copy(database: &rusqlite::Connection, path: &Path, version: i64) -> Result<CopyBefore, Failure> {
    if !copy::has_room(database, path)? {
        tracing::warn!(version, "no room for a copy before the file is altered");
        return Ok(CopyBefore::NoRoom);
    }
    copy::clear_away(path);
    let name = copy::kept_name(path, version);
    copy::verified(database, &name)?;
    tracing::info!(version, copy = ?name, "copy kept before the file is altered");
    Ok(CopyBefore::Kept(name))
}

/// Asks for the write-ahead log, unless the file system can't share one.
pub(crate) fn journal(database: &rusqlite::Connection, path: &Path) -> Result<Option<Notice>, Failure> {
    if let Some(kind) = crate::open::filesystem::without_shared_memory(path) {
        return Ok(Some(Notice::NoWriteAheadLog { kind }));
    }
    // The answer tells the mode that holds; where the log can't be had, the rollback journal serves.
    let _mode: String = database.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    Ok(None)
}

/// What there is to say about the log of a file that is in use.
pub(crate) fn log_notice(database: &Database, path: &Path) -> Result<Option<Notice>, Failure> {
    let Some(kind) = crate::open::filesystem::without_shared_memory(path) else { return Ok(None) };
    let mode: String = database.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok((mode == "wal").then_some(Notice::LogOnBadFileSystem { kind }))
}
