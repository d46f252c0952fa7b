//! The only place that opens SQLite.

use crate::error::{Circumstances, Failure};
use crate::open::notice::Notice;
use crate::open::options::{Adopt, SqliteOptions};
use crate::open::{damage, place, schema};
use crate::write::checkpoint;
use crate::write::database::Database;
use crate::write::queue::Queue;
use hermes_session::{Location, Purpose, ReadOnlyReason, Refusal, StoreError, TargetProblem};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tracing::debug;

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
    // Short naps for a while, because most locks are held for a few milliseconds at most, and the agent takes the next one at once; of
    // us only the first in line is here. Odd lengths, so that waiters do not march in step.
    let nap =
        Duration::from_micros(200 * 2_u64.pow((tries / 16).clamp(0, 6) as u32) + u64::from(std::process::id() % 97));
    std::thread::sleep(nap.min(left));
    true
}

/// An open file, and what a person should be told of it.
pub(crate) struct Opened {
    /// The writer's connection; `None` unless `access` is `Write`.
    pub(crate) writer: Option<Database>,
    /// The first connection for reads; `None` if `access` is `Write`.
    pub(crate) reader: Option<Database>,
    pub(crate) access: Access,
    pub(crate) notices: Vec<Notice>,
    /// The writers' queue of the store.
    pub(crate) queue: Queue,
}

/// What an open file may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    /// It is only read until something is to be written; then [`open_writer`] adopts it.
    WriteLater,
    ReadOnly(ReadOnlyReason),
}

/// Opens the file for the writer, makes or checks its schema, and makes its folder if need be.
///
/// A file that can't be written here is opened for reading only, which is reported. With [`Adopt::OnFirstWrite`], a file that is not adopted yet is
/// opened for reading as well.
pub(crate) fn open_writer(path: &Path, options: &SqliteOptions) -> Result<Opened, StoreError> {
    const OP: &str = "open the store";
    let create = options.create && !options.read_only;
    place::check(path, create)?;
    if create {
        make_folder(path)?;
    }
    set_deadline(options.wait);
    let start = Instant::now();
    let location = Location::from(path);
    let failed = |failure: Failure| {
        failure.into_store_error(Circumstances { op: OP, waited: start.elapsed(), location: &location })
    };
    let to_read = |reader, access| {
        let notices =
            if access == Access::ReadOnly(ReadOnlyReason::NotWritable) { vec![Notice::ReadOnly] } else { vec![] };
        debug!(?path, ?access, took = ?start.elapsed(), "store opened for reading");
        Ok(Opened { writer: None, reader: Some(reader), access, notices, queue: Queue::of(path) })
    };
    if options.read_only || place::is_read_only(path) {
        let reason = if options.read_only { ReadOnlyReason::Requested } else { ReadOnlyReason::NotWritable };
        return to_read(open_read_only(path).map_err(failed)?, Access::ReadOnly(reason));
    }
    if options.adopt != Adopt::AtOpen && place::has_content(path) {
        let is_damaged = damage::is_marked(path);
        let reader = if is_damaged { open_read_only(path) } else { open_to_write_later(path) }.map_err(failed)?;
        let is_due = options.adopt == Adopt::OldAtOpen && schema::is_old(&reader, path).map_err(failed)?;
        if is_damaged || (reader.memory().is_some() && !is_due) {
            return to_read(reader, Access::WriteLater);
        }
    }
    damage::refuse_marked(path)?;
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if create {
        flags |= OpenFlags::SQLITE_OPEN_CREATE;
    }
    let database = Database::new(connect(path, flags).map_err(|error| failed(error.into()))?);
    let opened = prepare(database, path, options, start + options.wait).map_err(failed)?;
    debug!(?path, took = ?start.elapsed(), "store opened for writing");
    Ok(opened)
}

fn prepare(database: Database, path: &Path, options: &SqliteOptions, deadline: Instant) -> Result<Opened, Failure> {
    let mut queue = Queue::of(path);
    let mut notices = schema::prepare(&database, path, &mut queue, deadline)?;
    notices.extend(schema::log_notice(&database, path)?);
    notices.extend(place::mend_mode(path));
    // Acknowledged means on disk. With a log, the writer sees to it itself.
    database.pragma_update(None, "synchronous", "FULL")?;
    database.pragma_update(None, "foreign_keys", true)?;
    if options.overwrite {
        database.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    }
    // Enough for what the indexing step touches of a large vocabulary; taken as it is needed.
    database.pragma_update(None, "cache_size", -16_000)?;
    // The log is folded apart from commits; one that had grown shrinks again when it starts anew.
    database.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
    database.pragma_update_and_check(None, "journal_size_limit", checkpoint::LONG as i64, |_| Ok(()))?;
    Ok(Opened { writer: Some(database), reader: None, access: Access::Write, notices, queue })
}

/// Opens the file for a reader. It may make the `-shm` file that reading a WAL needs, and change nothing else.
pub(crate) fn open_reader(path: &Path) -> Result<Database, Failure> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Copies of stale derived data are made in memory (fresh.rs).
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "query_only", true)?;
    // Enough for the pages of a long session; the default is a quarter of it.
    connection.pragma_update(None, "cache_size", -8_000)?;
    Ok(Database::new(connection))
}

/// Opens a file that may be written later. A rollback journal that a killed writer left is rolled back first, as any program that may write does:
/// without that nothing can be read.
pub(crate) fn open_to_write_later(path: &Path) -> Result<Database, Failure> {
    if place::may_have_hot_journal(path) {
        open_beside(path)?.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    }
    open_read_only(path)
}

/// Opens a file that is only read, adopted or not: [`schema::prepare_read_only`]. At most a `-shm` and an empty `-wal` are made beside it.
pub(crate) fn open_read_only(path: &Path) -> Result<Database, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let readable = |connection: Connection| {
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map(|()| connection)
    };
    let opened = connect(path, flags).and_then(readable).or_else(|error| {
        let wal = place::beside(path, "-wal").metadata().map_or(0, |wal| wal.len());
        // The folder can't take a -shm. Without a WAL nothing is missing from the file, and we can't write it. A file that is locked is being
        // written: to read it past the lock would be to read half a transaction.
        let is_elsewhere = matches!(
            error.sqlite_error_code(),
            Some(
                ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::DatabaseCorrupt
                    | ErrorCode::NotADatabase
            )
        );
        if wal == 0 && !is_elsewhere && !is_hot_journal(&error) {
            connect(&unchanging(path), flags).and_then(readable)
        } else {
            Err(error)
        }
    });
    let refused = |refusal: Refusal| Failure::Store(StoreError::refused(path, refusal));
    let connection = opened.map_err(|error| match error.sqlite_error() {
        _ if is_hot_journal(&error) => refused(Refusal::HotJournal),
        Some(code) if matches!(code.code, ErrorCode::CannotOpen | ErrorCode::ReadOnly) => {
            refused(Refusal::WalNotReadable)
        }
        _ => error.into(),
    })?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "cache_size", -8_000)?;
    schema::prepare_read_only(Database::new(connection), path)
}

/// Returns whether reading failed because a rollback journal has to be rolled back first.
fn is_hot_journal(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|code| code.extended_code == ffi::SQLITE_READONLY_ROLLBACK)
}

/// How a file is written, as SQLite says; the file is only read.
pub(crate) fn journal_mode(path: &Path) -> Result<String, rusqlite::Error> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.pragma_query_value(None, "journal_mode", |row| row.get(0))
}

/// The address of a file that nobody changes.
fn unchanging(path: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    let mut address = String::from("file:");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => address.push(char::from(*byte)),
            other => address.push_str(&format!("%{other:02X}")),
        }
    }
    address.push_str("?immutable=1");
    address.into()
}

/// Opens a file to look at what is in it, for a command that writes it later: it is not brought into use. A rollback journal that a killed
/// writer left is rolled back.
pub(crate) fn open_plain_read_only(path: &Path) -> Result<Connection, rusqlite::Error> {
    if place::may_have_hot_journal(path) {
        open_beside(path)?.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    }
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Opens a file that nobody else has open, and locks all others out until the connection is closed.
///
/// # Errors
/// An error of SQLite.
pub fn open_alone(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    // In this mode a lock that is taken stays.
    connection.execute_batch("BEGIN EXCLUSIVE; COMMIT")?;
    Ok(connection)
}

/// Opens an existing file for reading and writing beside other programs. It is not brought into use.
///
/// # Errors
/// An error of SQLite.
pub fn open_beside(path: &Path) -> Result<Connection, rusqlite::Error> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Opens a file, and creates it if it is missing.
///
/// # Errors
/// An error of SQLite.
pub fn open_new(path: &Path) -> Result<Connection, rusqlite::Error> {
    connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
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
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
        let problem = TargetProblem::NotMade { cause: error.to_string() };
        StoreError::no_target(folder, Purpose::StoreFolder, problem)
    })
}
