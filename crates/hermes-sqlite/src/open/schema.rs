//! Determines the state of a file and brings it into use: it may need nothing, a new schema, our side tables, or
//! missing columns too.
//!
//! Opening a file that is current reads two numbers and changes nothing.

mod adopt;
mod agent;
mod live;
mod look;
mod memory;
mod side;

pub use agent::{AgentLayout, AgentTable, agent_tables};
pub(crate) use live::FORGET_SESSION;
pub(crate) use look::version;
pub(crate) use memory::refresh as refresh_memory;
pub use side::ERASING;
pub(crate) use side::{add_card, copy_sessions_to_memory, lacks_card, remove_card};

use crate::error::Failure;
use crate::index::indexes;
use crate::open::copy;
use crate::open::notice::{CopyBefore, Notice};
use crate::write::database::Database;
use crate::write::long_wait;
use crate::write::queue::Queue;
use hermes_session::{Location, Refusal, StoreError};
use look::{State, look};
use std::path::Path;
use std::time::Instant;

/// The agent's schema version that we create.
pub(crate) const VERSION: i64 = 11;
/// The newest schema version of the agent that we support.
const NEWEST: i64 = 22;
/// Our own revision, stored in `PRAGMA user_version`, which the agent leaves at 0.
const REVISION: i64 = 2;
/// Key in `hx_state` of the lowest revision whose readers understand the file.
const READS_FROM: &str = "reads_from";
/// That revision: the tables of revision 2 are additions.
const OLDEST_READER: i64 = 1;

/// Brings a file into use, or refuses it without changing it.
pub(crate) fn prepare(
    database: &Database,
    path: &Path,
    queue: &mut Queue,
    deadline: Instant,
) -> Result<Vec<Notice>, Failure> {
    let state = look_to_write(database, path)?;
    if matches!(state, State::Current) && !look::has_surplus_version_rows(database)? {
        return Ok(Vec::new());
    }
    // One process at a time does this; the others find it done. SQLite's own lock is only taken for the change itself.
    // Without a queue, that lock still keeps the change atomic; at worst a copy is made twice.
    queue.enter("prepare the store", deadline).map_err(|late| Failure::Late { holder: late.holder })?;
    let outcome = bring_into_use(database, path, &state, deadline);
    let holder = queue.other();
    queue.leave();
    outcome.map_err(|failure| if failure.is_passing() { Failure::Late { holder } } else { failure })
}

fn bring_into_use(database: &Database, path: &Path, state: &State, deadline: Instant) -> Result<Vec<Notice>, Failure> {
    let mut notices = Vec::new();
    let found = look_to_write(database, path)?;
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
    long_wait::reporting(path, deadline, || database.execute_batch("BEGIN IMMEDIATE"))?;
    match change(database, path) {
        Ok(changes) => {
            database.execute_batch("COMMIT")?;
            tracing::info!(found = ?found, "store brought into use");
            if matches!(found, State::Adopted { .. } | State::Guest { .. }) {
                // If there are sessions, the index of lists is created a moment later.
                let added =
                    (objects(database)?.len() + usize::from(lacks_card(database)?)).saturating_sub(before) as u64;
                notices.push(Notice::Adopted { added, copy, replaces: false });
            }
            notices.extend(changes);
        }
        Err(failure) => {
            database.execute_batch("ROLLBACK")?;
            return Err(failure);
        }
    }
    Ok(notices)
}

/// Brings a copy into use that has only rows: titles may be shared, and the search indexes are missing. No copy of it
/// is kept.
pub(crate) fn bring_copy_into_use(database: &Database, path: &Path) -> Result<(), Failure> {
    database.execute_batch("BEGIN IMMEDIATE")?;
    change(database, path)?;
    adopt::part_titles(database)?;
    indexes::create_missing(database, true)?;
    Ok(database.execute_batch("COMMIT")?)
}

/// Makes the change, under the write lock. The state is read again there, because an agent may have changed the file in
/// the meantime.
fn change(database: &Database, path: &Path) -> Result<Vec<Notice>, Failure> {
    let state = look(database, path)?;
    let notices = match state {
        State::Later { revision } => return Err(look::later(path, revision)),
        State::Current => return Ok(leave_one_version_row(database)?.into_iter().collect()),
        State::Behind => {
            side::upgrade(database)?;
            return Ok(leave_one_version_row(database)?.into_iter().collect());
        }
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

/// Removes all rows of the agent's version table but the highest. No copy is kept for this: a notice lists the removed
/// rows.
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

/// Returns whether a file is adopted and complete.
pub(crate) fn is_in_use(connection: &rusqlite::Connection, path: &Path) -> Result<bool, Failure> {
    Ok(matches!(look(connection, path)?, State::Current | State::Behind | State::Later { .. }))
}

/// Returns whether a file has a schema that the agent upgrades when it opens the file.
pub(crate) fn is_old(connection: &rusqlite::Connection, path: &Path) -> Result<bool, Failure> {
    Ok(matches!(look(connection, path)?, State::Adopted { version } if version < VERSION))
}

/// Prepares a connection that only reads. If the file is not adopted, the connection gets temporary side tables, which
/// [`refresh_memory`] fills.
pub(crate) fn prepare_read_only(mut database: Database, path: &Path) -> Result<Database, Failure> {
    // One transaction, so that the state and the cached schema belong together.
    database.execute_batch("BEGIN")?;
    match look(&database, path)? {
        State::Current | State::Later { .. } => {}
        State::Behind => memory::add_live(&database)?,
        State::Adopted { .. } | State::Guest { .. } => {
            database.keep_side_in_memory();
            memory::prepare(&database)?;
        }
        State::Empty => return Err(Failure::Store(StoreError::refused(path, Refusal::Empty))),
    }
    database.refresh()?;
    database.execute_batch("COMMIT")?;
    Ok(database)
}

/// Returns the state of a file that is to be written. Refuses one that only a later revision may write.
fn look_to_write(database: &Database, path: &Path) -> Result<State, Failure> {
    match look(database, path)? {
        State::Later { revision } => Err(look::later(path, revision)),
        state => Ok(state),
    }
}

/// Returns whether a later revision has brought the file into use, so that this one may only read it.
pub(crate) fn is_later(database: &Database) -> bool {
    database.revision() > REVISION
}

/// Returns whether an earlier revision has brought the file into use, so that the first write has to add to it.
pub(crate) fn is_behind(database: &Database) -> bool {
    (1..REVISION).contains(&database.revision())
}

/// Refuses to write a file that a later revision has brought into use since it was opened.
pub(crate) fn refuse_later(database: &Database, location: &Location) -> Result<(), Failure> {
    let revision = database.revision();
    let refusal = Refusal::NewerRevision { revision };
    let refused = || Failure::Store(StoreError::Refused { location: location.clone(), refusal });
    if is_later(database) { Err(refused()) } else { Ok(()) }
}

/// Returns the names of our tables, indexes, views and triggers in a file, in order, as far as our statements created
/// them. Shadow tables of a full-text index, and indexes that SQLite creates for a key, are not included. Every count
/// of our objects uses this function.
pub(crate) fn objects(connection: &rusqlite::Connection) -> Result<Vec<String>, rusqlite::Error> {
    // FTS5 stores an index in tables named after it.
    let mut named = connection.prepare(
        "SELECT name FROM main.sqlite_schema o WHERE name GLOB 'hx_*' AND NOT EXISTS (SELECT 1 FROM main.sqlite_schema t \
         WHERE t.sql LIKE 'CREATE VIRTUAL TABLE%' AND o.tbl_name GLOB t.name || '_*') ORDER BY name",
    )?;
    named.query_map([], |row| row.get(0))?.collect()
}

/// Keeps a copy of a file before we change it, if there is room.
pub(crate) fn keep_copy(database: &rusqlite::Connection, path: &Path, version: i64) -> Result<CopyBefore, Failure> {
    if !copy::has_room(database, path)? {
        tracing::warn!(version, "no disk space for a copy before the file is altered");
        return Ok(CopyBefore::NoRoom);
    }
    copy::clear_away(path);
    let name = copy::kept_name(path, version);
    copy::verified(database, &name)?;
    tracing::info!(version, copy = ?name, "copy kept before the file is altered");
    Ok(CopyBefore::Kept(name))
}

/// Switches to WAL mode, unless the file system can't share a WAL.
pub(crate) fn journal(database: &rusqlite::Connection, path: &Path) -> Result<Option<Notice>, Failure> {
    if let Some(kind) = crate::open::filesystem::without_shared_memory(path) {
        return Ok(Some(Notice::NoWriteAheadLog { kind }));
    }
    // The result is the actual mode; if WAL mode is not possible, the rollback journal is used.
    let _mode: String = database.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    Ok(None)
}

/// Returns a notice if a file in use has a WAL on a file system that can't share it.
pub(crate) fn log_notice(database: &Database, path: &Path) -> Result<Option<Notice>, Failure> {
    let Some(kind) = crate::open::filesystem::without_shared_memory(path) else { return Ok(None) };
    let mode: String = database.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok((mode == "wal").then_some(Notice::LogOnBadFileSystem { kind }))
}
