//! The only place that opens SQLite.

use crate::error::{Failure, store_error};
use crate::options::SqliteOptions;
use crate::schema;
use hermes_session::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

thread_local! {
    /// Until when the statement that runs on this thread may wait for a lock.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Lets the statements of this thread wait for locks until `wait` from now.
pub(crate) fn set_deadline(wait: Duration) {
    DEADLINE.set(Instant::now().checked_add(wait));
}

/// SQLite asks this whenever a lock is taken. Waiting goes by the deadline, not by a count of tries:
/// a checkpoint or a VACUUM of another process may take seconds, and tries run out faster than that.
fn wait_for_lock(tries: i32) -> bool {
    let left = DEADLINE.get().map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(Instant::now()));
    if left.is_zero() {
        return false;
    }
    // Short naps first, because most locks are held for less than a millisecond; odd lengths, so that waiters do not march in step.
    let nap = Duration::from_micros(200 * 2_u64.pow(tries.clamp(0, 6) as u32) + u64::from(std::process::id() % 97));
    std::thread::sleep(nap.min(left));
    true
}

/// Opens the file for the writer, makes or checks its schema, and makes its folder if need be.
pub(crate) fn open_writer(path: &Path, options: &SqliteOptions) -> Result<Connection, StoreError> {
    const OP: &str = "open the store";
    if options.create {
        make_folder(path)?;
    }
    set_deadline(options.wait);
    let start = Instant::now();
    let failed = |error: rusqlite::Error| store_error(OP, start.elapsed(), error);
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if options.create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let connection = connect(path, flags).map_err(failed)?;
    schema::prepare(&connection, path).map_err(|failure: Failure| failure.into_store_error(OP, start.elapsed()))?;
    // Acknowledged means on disk.
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    Ok(connection)
}

/// Opens the file for a reader. It may make the `-shm` file that reading a WAL needs, and change nothing else.
pub(crate) fn open_reader(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, rusqlite::Error> {
    #[expect(clippy::disallowed_methods, reason = "this is the one place")]
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait_for_lock))?;
    connection.set_prepared_statement_cache_capacity(64);
    // Plans do not depend on the values that are bound; without this, SQLite may prepare a statement anew for each of them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Makes the folder of the file for its owner alone; one that is there is left as it is.
fn make_folder(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| StoreError::Refused {
        path: folder.to_owned(),
        why: format!("can't be made: {error}"),
        hint: "choose another place with HERMES_HOME or --url, or make the folder yourself".into(),
    })
}
