//! A backup in the place of a store: checked and copied beside it, and put there in one step, with the old file kept.

use crate::error::{Circumstances, Failure};
use crate::options::SqliteOptions;
use crate::store::SqliteStore;
use crate::{connection, copy, place};
use hermes_session::{Maintenance as _, StoreError};
use rusqlite::{Connection, ErrorCode};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const OP: &str = "restore a backup";
/// How long to wait for others to let go of the file.
const WAIT: Duration = Duration::from_millis(500);
/// What to do about a backup that is not sound.
const UNSOUND: &str = "take another backup; `hermes sessions repair FILE` saves what can be read of this one";
/// What SQLite would play back into the file beside it.
const LOGS: [&str; 2] = ["-wal", "-journal"];

/// What a restore came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupRestored {
    /// Where the file is that was in its place; nothing if none was.
    pub kept: Option<PathBuf>,
    /// Sessions in the store now.
    pub sessions: u64,
    /// Messages in the store now.
    pub messages: u64,
    /// The size of the store now.
    pub bytes: u64,
}

/// Puts a copy of `backup`, which has to be a sound store, in the place of the store at `path`. What is there is kept as `kept`, a name beside it
/// that nothing has.
///
/// Interrupted at any point, the old store or the new one is in place, whole. The backup is only read.
///
/// # Errors
/// `Refused` if the backup is no sound store, if somebody has the store open (the agent too), if the store can't be read well enough to be sure of
/// that, or if `kept` is there. Nothing is changed then.
pub async fn restore_backup(path: &Path, backup: &Path, kept: &Path) -> Result<BackupRestored, StoreError> {
    place::check(backup, false)?;
    let is_there = std::fs::symlink_metadata(path).is_ok();
    if is_there {
        place::check(path, false)?;
        if same(path, backup) {
            return Err(refused(backup, "is the store itself", "give the path of a backup"));
        }
    } else if let Some(log) = LOGS.iter().map(|end| place::beside(path, end)).find(|log| log.exists()) {
        return Err(refused(&log, "is the log of a store that is not there", "move it away first"));
    }
    if std::fs::symlink_metadata(kept).is_ok() {
        return Err(refused(kept, "is there already", "choose another name, or remove it first"));
    }
    let stage = Stage { path: place::beside(path, &format!(".restoring-{}", std::process::id())) };
    let copied = blocking(backup, || stage.fill(backup)).map_err(|error| match error {
        StoreError::Corrupt { what, .. } => refused(backup, format!("is no sound store: {what}"), UNSOUND),
        other => other,
    })?;
    stage.verify(backup).await?;
    let kept = blocking(path, || if is_there { swap(path, &stage, kept).map(Some) } else { put(path, &stage) })?;
    Ok(BackupRestored { kept, sessions: copied.sessions, messages: copied.messages, bytes: copied.bytes })
}

fn blocking<T>(path: &Path, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, StoreError> {
    connection::set_deadline(WAIT);
    let start = Instant::now();
    let location = path.display().to_string();
    work().map_err(|failure| {
        failure.into_store_error(Circumstances { op: OP, waited: start.elapsed(), location: &location })
    })
}

fn refused(path: &Path, why: impl Into<String>, hint: &'static str) -> StoreError {
    StoreError::Refused { path: path.to_owned(), why: why.into(), hint: hint.into() }
}

/// Whether two paths are one file.
fn same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// The copy beside the store, which goes away unless it gets the store's name.
struct Stage {
    path: PathBuf,
}

impl Stage {
    fn fill(&self, backup: &Path) -> Result<copy::Copied, Failure> {
        let source = connection::open_read_only(backup)?;
        if !copy::has_room(&source, &self.path)? {
            let source = "a backup is copied before it takes the store's place".into();
            let location = self.path.display().to_string();
            return Err(StoreError::NoRoom { location, op: OP, source }.into());
        }
        copy::verified(&source, &self.path)
    }

    /// Sees that what was copied is a sound store, by all that verifying looks at.
    async fn verify(&self, backup: &Path) -> Result<(), StoreError> {
        let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
        let report = SqliteStore::open(&self.path, &options)?.verify().await?;
        if report.is_sound() {
            return Ok(());
        }
        Err(refused(backup, "is not sound", UNSOUND))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            _ = std::fs::remove_file(place::beside(&self.path, suffix));
        }
    }
}

/// Puts the copy where no store is.
fn put(path: &Path, stage: &Stage) -> Result<Option<PathBuf>, Failure> {
    copy::place_new(&stage.path, path).map_err(|error| misplaced(path, &error))?;
    Ok(None)
}

fn misplaced(path: &Path, error: &std::io::Error) -> Failure {
    refused(path, format!("can't be put into place: {error}"), "see that its folder can be written").into()
}

/// Puts the copy in the place of the store, while nobody else can open that.
fn swap(path: &Path, stage: &Stage, kept: &Path) -> Result<PathBuf, Failure> {
    let old = alone(path)?;
    let mode: String = old.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    // Folded, the old file stands without a log: the new one would be read with it.
    let now: String = old.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?;
    // Whoever has a file for himself keeps its journal, emptied; nothing is under way that it would be needed for.
    _ = std::fs::remove_file(place::beside(path, "-journal"));
    if now != "delete" || LOGS.iter().any(|end| place::beside(path, end).exists()) {
        let why = "has a log that can't be folded";
        return Err(refused(path, why, "stop every agent that uses it, and try again").into());
    }
    let new = connection::open_beside(&stage.path)?;
    new.pragma_update_and_check(None, "journal_mode", &mode, |row| row.get::<_, String>(0))?;
    new.close().map_err(|(_, error)| error)?;
    let outcome = exchange(path, &stage.path, kept).map_err(|error| misplaced(path, &error));
    if outcome.is_err() {
        // It stays in use as it was.
        _ = old.pragma_update_and_check(None, "journal_mode", &mode, |row| row.get::<_, String>(0));
    }
    copy::sync_folder(path);
    old.close().map_err(|(_, error)| error)?;
    outcome.map(|()| kept.to_owned())
}

/// Opens the store with nobody beside, and keeps everybody out.
fn alone(path: &Path) -> Result<Connection, Failure> {
    connection::open_alone(path).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            refused(path, "is in use", "stop every agent and every other program that has it open, and try again")
                .into()
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            let hint =
                "see that nobody uses it, move it and its -wal away, and try again: then the backup takes its place";
            refused(path, "is damaged, so that it can't be told who has it open", hint).into()
        }
        _ => error.into(),
    })
}

/// Gives the new file the old one's name, and the old one another.
fn exchange(path: &Path, new: &Path, kept: &Path) -> std::io::Result<()> {
    // With a second name the old file is never without one, and the first changes hands in one step.
    match std::fs::hard_link(path, kept) {
        Ok(()) => std::fs::rename(new, path).inspect_err(|_| _ = std::fs::remove_file(kept)),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems know no links, but may swap names.
        Err(_) => {
            renameat_with(CWD, new, CWD, path, RenameFlags::EXCHANGE)?;
            std::fs::rename(new, kept)
        }
    }
}
