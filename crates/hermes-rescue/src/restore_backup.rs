//! Replaces a store's content by that of a backup: the backup is copied beside the store and verified, then written
//! into the store's file in one transaction. A copy of the old content is kept.
//!
//! The file keeps its inode: a program that opens it meanwhile waits and then sees the new content.

use hermes_session::{Location, Maintenance as _, Purpose, Refusal, StoreError, TargetProblem};
use hermes_sqlite::file::{self, Copied, Failure, beside};
use hermes_sqlite::{SqliteOptions, SqliteStore, clear_damage};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode};
use std::path::{Path, PathBuf};
use std::time::Duration;

const OP: &str = "restore a backup";
/// How long to wait for other programs to close the file.
const WAIT: Duration = Duration::from_millis(500);
/// Files that SQLite would play back into the file beside them.
const PENDING: [&str; 2] = ["-wal", "-journal"];

/// The outcome of a restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupRestored {
    /// The copy of the old content; `None` if there was no store.
    pub kept: Option<PathBuf>,
    /// Sessions in the store now.
    pub sessions: u64,
    /// Messages in the store now.
    pub messages: u64,
    /// The size of the store now.
    pub bytes: u64,
}

/// Replaces the content of the store at `path` by that of `backup`, which has to be a sound store. Keeps a copy of the
/// old content at `kept`, which must not exist.
///
/// If it is interrupted, the store holds either the old or the new content. The backup is only read.
///
/// # Errors
/// `Refused` if the backup is not a sound store, if another program (such as the agent) has the store open, if the
/// store is too damaged to find that out, or if `kept` exists. Nothing is changed then.
pub async fn restore_backup(path: &Path, backup: &Path, kept: &Path) -> Result<BackupRestored, StoreError> {
    let (path, backup) = (&file::resolve(path)?, &file::resolve(backup)?);
    file::check(backup, false)?;
    let is_there = std::fs::symlink_metadata(path).is_ok();
    if is_there {
        file::check(path, false)?;
        if same(path, backup) {
            return Err(StoreError::refused(backup, Refusal::BackupIsStore));
        }
    } else if let Some(log) = PENDING.iter().map(|end| beside(path, end)).find(|log| has_content(log)) {
        return Err(StoreError::refused(&log, Refusal::OrphanedWal));
    }
    if std::fs::symlink_metadata(kept).is_ok() {
        return Err(StoreError::no_target(kept, Purpose::Kept, TargetProblem::Exists));
    }
    let stage = Stage { path: beside(path, &format!(".restoring-{}", std::process::id())) };
    let copied = blocking(backup, || stage.fill(backup)).map_err(|error| match error {
        StoreError::Corrupt { what, .. } => StoreError::refused(backup, Refusal::UnsoundBackup { what: Some(what) }),
        other => other,
    })?;
    stage.verify(backup).await?;
    let kept = blocking(path, || if is_there { replace(path, &stage, kept).map(Some) } else { put(path, &stage) })?;
    tracing::info!(sessions = copied.sessions, messages = copied.messages, "backup restored");
    // Clears the record of damage: the new content was verified before it was written.
    clear_damage(path)?;
    Ok(BackupRestored { kept, sessions: copied.sessions, messages: copied.messages, bytes: copied.bytes })
}

fn blocking<T>(path: &Path, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, StoreError> {
    file::run(path, OP, WAIT, work)
}

/// Returns whether a file is not empty. A reader may leave an empty WAL behind.
fn has_content(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.len() > 0)
}

/// Returns whether two paths are one file.
fn same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// The copy beside the store. It is removed unless it becomes the store.
struct Stage {
    path: PathBuf,
}

impl Stage {
    fn fill(&self, backup: &Path) -> Result<Copied, Failure> {
        let source = file::open_read_only(backup)?;
        if !file::has_room(&source, &self.path)? {
            let source = "a backup is copied before it takes the store's place".into();
            let location = Location::from(&self.path);
            return Err(StoreError::NoRoom { location, op: OP, source }.into());
        }
        file::copy_verified(&source, &self.path)
    }

    /// Verifies the copy. Fails with `Refused` if it is not sound.
    async fn verify(&self, backup: &Path) -> Result<(), StoreError> {
        let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
        let report = SqliteStore::open(&self.path, &options)?.verify().await?;
        if report.is_sound() {
            return Ok(());
        }
        Err(StoreError::refused(backup, Refusal::UnsoundBackup { what: None }))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            match std::fs::remove_file(beside(&self.path, suffix)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    tracing::warn!(suffix, %error, "copy of the backup not removed");
                }
                _ => {}
            }
        }
    }
}

/// Renames the copy to the store's path, where no store is.
fn put(path: &Path, stage: &Stage) -> Result<Option<PathBuf>, Failure> {
    let new = file::open_beside(&stage.path)?;
    // A copy has no WAL; a new store has one where the file system supports it.
    file::use_wal(&new, &stage.path)?;
    new.close().map_err(|(_, error)| error)?;
    file::place_new(&stage.path, path).map_err(|error| {
        StoreError::no_target(path, Purpose::Restored, TargetProblem::NotPlaced { cause: error.to_string() })
    })?;
    Ok(None)
}

/// Writes the copy into the store's file, under an exclusive lock, and keeps a copy of the old content. Returns the
/// path of that copy.
fn replace(path: &Path, stage: &Stage, kept: &Path) -> Result<PathBuf, Failure> {
    let mut old = alone(path)?;
    let new = file::open_beside(&stage.path)?;
    if !file::has_room(&old, kept)? || !file::has_room(&new, path)? {
        let source = "the old content is kept, and the new one is in the log before it is in the file".into();
        return Err(StoreError::NoRoom { location: Location::from(path), op: OP, source }.into());
    }
    // The copy is not verified: the store may be damaged, which may be the reason for the restore.
    file::copy_plain(&old, kept)?;
    let size = |of: &Connection| of.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0));
    let mode: String = old.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    // WAL mode does not allow a change of the page size.
    let is_folded = size(&old)? != size(&new)?;
    if is_folded {
        old.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get::<_, String>(0))?;
    }
    let step = Backup::new(&new, &mut old)?.step(-1);
    if is_folded {
        old.pragma_update_and_check(None, "journal_mode", &mode, |row| row.get::<_, String>(0))?;
    }
    if step? != StepResult::Done {
        return Err(in_use(path).into());
    }
    old.close().map_err(|(_, error)| error)?;
    Ok(kept.to_owned())
}

fn in_use(path: &Path) -> StoreError {
    StoreError::refused(path, Refusal::InUse)
}

/// Opens the store under an exclusive lock.
fn alone(path: &Path) -> Result<Connection, Failure> {
    file::open_alone(path).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => in_use(path).into(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::refused(path, Refusal::UseUnknown).into()
        }
        _ => error.into(),
    })
}
