//! The only module that opens SQLite connections.

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
    /// Deadline until which the statement that runs on this thread may wait for a lock.
    static DEADLINE: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Lets the statements of this thread wait for locks until `wait` from now.
pub(crate) fn set_deadline(wait: Duration) {
    DEADLINE.set(Instant::now().checked_add(wait));
}

/// Busy handler of SQLite: waits for a lock, or returns `false` if the deadline has passed. It goes by the deadline,
/// not by a number of tries: a checkpoint or VACUUM of another process may take seconds, and tries run out faster than
/// that.
fn wait_for_lock(tries: i32) -> bool {
    let left = DEADLINE.get().map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(Instant::now()));
    if left.is_zero() {
        return false;
    }
    // Short naps at first, because most locks are held for a few milliseconds at most, and the agent takes the next one
    // at once. Of our processes only the first in the queue waits here. The lengths differ by process, so that waiters
    // do not wake in step.
    let nap =
        Duration::from_micros(200 * 2_u64.pow((tries / 16).clamp(0, 6) as u32) + u64::from(std::process::id() % 97));
    std::thread::sleep(nap.min(left));
    true
}

/// An open file, and notices for the user.
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

/// The permitted use of an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Write,
    /// It is only read until the first write; then [`open_writer`] adopts it.
    WriteLater,
    ReadOnly(ReadOnlyReason),
}

/// Opens the file for the writer, creates or checks its schema, and creates its folder if needed.
///
/// A file that can't be written is opened read-only, which is reported. With [`Adopt::OnFirstWrite`], a file that is
/// not adopted yet, or that a later revision wrote, is opened for reading as well.
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
    let to_read = |reader: Database, access| {
        let mut notices = Vec::new();
        if access == Access::ReadOnly(ReadOnlyReason::NotWritable) {
            notices.push(Notice::ReadOnly);
        }
        if schema::is_later(&reader) {
            notices.push(Notice::LaterRevision { revision: reader.revision() });
        }
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
        let is_incomplete = reader.memory().is_some() || schema::is_behind(&reader);
        if is_damaged || schema::is_later(&reader) || (is_incomplete && !is_due) {
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
    notices.extend(place::restrict_mode(path));
    // Acknowledged means on disk. In WAL mode the writer syncs by itself.
    database.pragma_update(None, "synchronous", "FULL")?;
    database.pragma_update(None, "foreign_keys", true)?;
    if options.overwrite {
        database.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))?;
    }
    // Enough for the pages of a large vocabulary that the indexing step touches; allocated on demand.
    database.pragma_update(None, "cache_size", -16_000)?;
    // Checkpoints are separate from commits; a WAL that had grown is truncated when it restarts.
    database.pragma_update_and_check(None, "wal_autocheckpoint", 0, |_| Ok(()))?;
    database.pragma_update_and_check(None, "journal_size_limit", checkpoint::LONG as i64, |_| Ok(()))?;
    Ok(Opened { writer: Some(database), reader: None, access: Access::Write, notices, queue })
}

/// Opens the file for a reader. This may create the `-shm` file that reading a WAL needs, and changes nothing else.
pub(crate) fn open_reader(path: &Path) -> Result<Database, Failure> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    // Copies of stale derived data are made in memory (fresh.rs).
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "query_only", true)?;
    // Enough for the pages of a long session; the default is a quarter of it.
    connection.pragma_update(None, "cache_size", -8_000)?;
    Ok(Database::new(connection))
}

/// Opens a file that may be written later. A rollback journal of a killed writer is rolled back first, as any program
/// that may write does: otherwise nothing can be read.
pub(crate) fn open_to_write_later(path: &Path) -> Result<Database, Failure> {
    if place::may_have_hot_journal(path) {
        open_beside(path)?.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    }
    open_read_only(path)
}

/// Opens a file that is only read, adopted or not: [`schema::prepare_read_only`]. Creates at most a `-shm` and an empty
/// `-wal` beside it.
pub(crate) fn open_read_only(path: &Path) -> Result<Database, Failure> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let readable = |connection: Connection| {
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(())).map(|()| connection)
    };
    let opened = connect(path, flags).and_then(readable).or_else(|error| {
        let wal = place::beside(path, "-wal").metadata().map_or(0, |wal| wal.len());
        // The folder does not allow a `-shm`. Without a WAL the file is complete, and we can't write it. A locked file
        // is being written: reading it past the lock could return half a transaction.
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

/// Opens a file that a reader has open once more, for a thread that helps it to scan messages. It waits for no lock.
pub(crate) fn open_to_scan(path: &Path) -> Result<Connection, rusqlite::Error> {
    set_deadline(Duration::ZERO);
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Returns whether reading failed because a rollback journal has to be rolled back first.
fn is_hot_journal(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|code| code.extended_code == ffi::SQLITE_READONLY_ROLLBACK)
}

/// Returns the journal mode of a file, which is only read, and its `user_version`, which agents leave at 0.
pub(crate) fn header(path: &Path) -> Result<(String, i64), rusqlite::Error> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    let mode = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok((mode, connection.pragma_query_value(None, "user_version", |row| row.get(0))?))
}

/// Returns the URI that opens a file as immutable.
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

/// Opens a file to inspect it, for a command that writes to it later: it is not adopted. A rollback journal of a killed
/// writer is rolled back.
pub(crate) fn open_plain_read_only(path: &Path) -> Result<Connection, rusqlite::Error> {
    if place::may_have_hot_journal(path) {
        open_beside(path)?.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    }
    connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)
}

/// Opens a file that no other program has open, and locks all others out until the connection is closed.
///
/// # Errors
/// An error of SQLite.
pub fn open_alone(path: &Path) -> Result<Connection, rusqlite::Error> {
    let connection = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    // In this mode an acquired lock is kept.
    connection.execute_batch("BEGIN EXCLUSIVE; COMMIT")?;
    Ok(connection)
}

/// Opens an existing file for reading and writing beside other programs. It is not adopted.
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
    // Plans must not depend on bound values; without this, SQLite may prepare a statement again for each of them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Creates the folder of the file, accessible to its owner only. An existing folder stays as it is.
fn make_folder(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else { return Ok(()) };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| {
        let problem = TargetProblem::NotMade { cause: error.to_string() };
        StoreError::no_target(folder, Purpose::StoreFolder, problem)
    })
}
