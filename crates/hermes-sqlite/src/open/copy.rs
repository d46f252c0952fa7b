//! Copies of a file in use: made by SQLite itself, verified, and placed atomically.

use crate::error::Failure;
use crate::open::connection;
use hermes_session::{Purpose, StoreError, TargetProblem};
use rusqlite::Connection;
use rusqlite::backup::Backup;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use std::path::{Path, PathBuf};

/// Counts of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copied {
    /// The number of sessions.
    pub sessions: u64,
    /// The number of messages.
    pub messages: u64,
    /// The size of the copy, in bytes.
    pub bytes: u64,
}

/// Copies one state of a file to `target`, which must not exist, and verifies that the copy is sound and has as many
/// rows.
///
/// Writers are not blocked meanwhile. The copy is accessible to its owner only, synced to disk when this returns, and
/// never visible half-written.
///
/// # Errors
/// `Refused` if `target` exists or can't be written; `Damaged` if the copy is not sound.
pub fn verified(source: &Connection, target: &Path) -> Result<Copied, Failure> {
    placed(target, |part| copy_to(source, part))
}

/// Copies a file as it is, sound or not, and places it like [`verified`].
///
/// # Errors
/// `Refused` if `target` exists or can't be written.
pub fn plain(source: &Connection, target: &Path) -> Result<(), Failure> {
    placed(target, |part| {
        let mut copy = connection::open_new(part)?;
        Backup::new(source, &mut copy)?.step(-1)?;
        // A damaged copy may refuse; SQLite would then look for a WAL beside it.
        if let Err(error) = copy.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get::<_, String>(0))
        {
            tracing::warn!(error = crate::error::code(&error), "copy keeps its journal mode");
        }
        copy.close().map_err(|(_, error)| error)?;
        let synced = std::fs::File::open(part).and_then(|file| file.sync_all());
        synced.map_err(|error| refused(part, TargetProblem::NotWritten { cause: error.to_string() }))
    })
}

/// Has `make` write a temporary file and renames it to `target`, which must not exist.
fn placed<T>(target: &Path, make: impl FnOnce(&Path) -> Result<T, Failure>) -> Result<T, Failure> {
    if std::fs::symlink_metadata(target).is_ok() {
        return Err(refused(target, TargetProblem::Exists));
    }
    let part = crate::open::place::beside(target, &format!(".part-{}", std::process::id()));
    let outcome = make(&part).and_then(|made| {
        put_into_place(&part, target)
            .map_err(|error| refused(target, TargetProblem::NotPlaced { cause: error.to_string() }))?;
        sync_folder(target);
        Ok(made)
    });
    for suffix in ["", "-wal", "-shm", "-journal"] {
        crate::open::place::remove(&crate::open::place::beside(&part, suffix));
    }
    outcome
}

/// Syncs a closed file to disk and renames it to `target`, unless `target` exists.
///
/// # Errors
/// Errors of the file system.
pub fn place_new(made: &Path, target: &Path) -> Result<(), std::io::Error> {
    std::fs::File::open(made)?.sync_all()?;
    put_into_place(made, target)?;
    sync_folder(target);
    Ok(())
}

/// Renames a file unless the target exists. A plain rename would overwrite a file that was created in the meantime.
fn put_into_place(part: &Path, target: &Path) -> Result<(), std::io::Error> {
    match renameat_with(CWD, part, CWD, target, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        // Some file systems do not support this, but support hard links.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => std::fs::hard_link(part, target),
        Err(error) => Err(error.into()),
    }
}

fn copy_to(source: &Connection, part: &Path) -> Result<Copied, Failure> {
    let mut copy = connection::open_new(part)?;
    let transaction = source.unchecked_transaction()?;
    let expect = contents(&transaction)?;
    // All pages in one step: the copy is of one state, and no writer makes it start again.
    Backup::new(&transaction, &mut copy)?.step(-1)?;
    transaction.finish()?;
    // The copy stands alone, without a WAL beside it.
    copy.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get::<_, String>(0))?;
    if contents(&copy)? != expect {
        return Err(Failure::Damaged("the copy has not as many rows as the store".into()));
    }
    if let Some(damage) = damage(&copy)? {
        return Err(Failure::Damaged(format!("the copy is not sound: {damage}")));
    }
    copy.close().map_err(|(_, error)| error)?;
    let file = std::fs::File::open(part).and_then(|file| file.sync_all().map(|()| file));
    let bytes = file
        .and_then(|file| file.metadata())
        .map_err(|error| refused(part, TargetProblem::NotWritten { cause: error.to_string() }))?
        .len();
    Ok(Copied { sessions: expect.0, messages: expect.1, bytes })
}

/// Returns the first problem of the tables of a file; `None` if they are sound.
///
/// Checks table by table, because a check of the whole file includes the full-text indexes. Those of a SQLite that
/// reads text up to a NUL look damaged to one that reads on (see [`crate::index::indexes`]).
fn damage(connection: &Connection) -> Result<Option<String>, rusqlite::Error> {
    let mut tables =
        connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")?;
    let tables: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for table in tables {
        let check = format!("PRAGMA quick_check(\"{}\")", table.replace('"', "\"\""));
        let answer: String = connection.query_row(&check, [], |row| row.get(0))?;
        if answer != "ok" {
            return Ok(Some(answer));
        }
    }
    Ok(None)
}

fn contents(connection: &Connection) -> Result<(u64, u64), rusqlite::Error> {
    let count = |sql: &str| {
        connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(|count| u64::try_from(count).unwrap_or(0))
    };
    Ok((count("SELECT count(*) FROM sessions")?, count("SELECT count(*) FROM messages")?))
}

/// Returns whether the disk has room in the folder of `beside` for a copy of `source`, and an eighth more.
///
/// # Errors
/// An error of SQLite.
pub fn has_room(source: &Connection, beside: &Path) -> Result<bool, rusqlite::Error> {
    let pragma = |name: &str| source.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let needed = u64::try_from(pragma("page_count")? * pragma("page_size")?).unwrap_or(u64::MAX);
    let folder = beside.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let free = rustix::fs::statvfs(folder).map_or(0, |room| room.f_bavail.saturating_mul(room.f_frsize));
    Ok(free > needed.saturating_add(needed / 8).saturating_add(1 << 20))
}

/// Returns the first free name for the copy that is kept before a file of this version is changed.
pub(crate) fn kept_name(path: &Path, version: i64) -> PathBuf {
    let plain = crate::open::place::beside(path, &format!(".backup-v{version}"));
    let numbered = (2..).map(|number| crate::open::place::beside(path, &format!(".backup-v{version}.{number}")));
    std::iter::once(plain).chain(numbered).find(|name| std::fs::symlink_metadata(name).is_err()).unwrap_or_default()
}

/// Removes partial copies of this file that a killed process left. The caller holds the queue, so no other process is
/// making one.
pub(crate) fn clear_away(path: &Path) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return };
    let prefix = format!("{}.backup-v", name.to_string_lossy());
    let Ok(entries) = std::fs::read_dir(if folder.as_os_str().is_empty() { Path::new(".") } else { folder }) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(&prefix) && name.contains(".part-") {
            crate::open::place::remove(&entry.path());
        }
    }
}

pub(crate) fn sync_folder(path: &Path) {
    if let Some(folder) = path.parent().and_then(|folder| std::fs::File::open(folder).ok()) {
        // If the folder can't be synced, the copy gets its name on disk when the system writes it.
        if let Err(error) = folder.sync_all() {
            tracing::debug!(%error, "folder not synced");
        }
    }
}

fn refused(path: &Path, problem: TargetProblem) -> Failure {
    StoreError::no_target(path, Purpose::Kept, problem).into()
}
