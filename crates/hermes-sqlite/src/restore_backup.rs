//! A backup in the place of a store: checked and copied beside it, then written into the store's file by one transaction, with a copy of what was there.
//!
//! The file stays the same one: whoever opens it meanwhile waits, and sees what it holds then.

use crate::error::{Circumstances, Failure};
use crate::options::SqliteOptions;
use crate::store::SqliteStore;
use crate::{connection, copy, damage, place, schema};
use hermes_session::{Location, Maintenance as _, Purpose, Refusal, StoreError, TargetProblem};
use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const OP: &str = "restore a backup";
/// How long to wait for others to let go of the file.
const WAIT: Duration = Duration::from_millis(500);
/// What SQLite would play back into the file beside it.
const LOGS: [&str; 2] = ["-wal", "-journal"];

/// What a restore came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupRestored {
    /// Where a copy is of what was in its place; nothing if nothing was.
    pub kept: Option<PathBuf>,
    /// Sessions in the store now.
    pub sessions: u64,
    /// Messages in the store now.
    pub messages: u64,
    /// The size of the store now.
    pub bytes: u64,
}

/// Puts what `backup` holds, which has to be a sound store, in the place of what the store at `path` does. A copy of that is kept as `kept`, a name
/// that nothing has.
///
/// Interrupted at any point, the store holds the old or the new, whole. The backup is only read.
///
/// # Errors
/// `Refused` if the backup is no sound store, if somebody has the store open (the agent too), if the store can't be read well enough to be sure of
/// that, or if `kept` is there. Nothing is changed then.
pub async fn restore_backup(path: &Path, backup: &Path, kept: &Path) -> Result<BackupRestored, StoreError> {
    let (path, backup) = (&place::resolve(path)?, &place::resolve(backup)?);
    place::check(backup, false)?;
    let is_there = std::fs::symlink_metadata(path).is_ok();
    if is_there {
        place::check(path, false)?;
        if same(path, backup) {
            return Err(StoreError::refused(backup, Refusal::BackupIsStore));
        }
    } else if let Some(log) = LOGS.iter().map(|end| place::beside(path, end)).find(|log| has_content(log)) {
        return Err(StoreError::refused(&log, Refusal::OrphanedWal));
    }
    if std::fs::symlink_metadata(kept).is_ok() {
        return Err(StoreError::no_target(kept, Purpose::Kept, TargetProblem::Exists));
    }
    let stage = Stage { path: place::beside(path, &format!(".restoring-{}", std::process::id())) };
    let copied = blocking(backup, || stage.fill(backup)).map_err(|error| match error {
        StoreError::Corrupt { what, .. } => StoreError::refused(backup, Refusal::UnsoundBackup { what: Some(what) }),
        other => other,
    })?;
    stage.verify(backup).await?;
    let kept = blocking(path, || if is_there { replace(path, &stage, kept).map(Some) } else { put(path, &stage) })?;
    // What is there now was verified a moment ago.
    damage::clear_damage(path)?;
    Ok(BackupRestored { kept, sessions: copied.sessions, messages: copied.messages, bytes: copied.bytes })
}

fn blocking<T>(path: &Path, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, StoreError> {
    connection::set_deadline(WAIT);
    let start = Instant::now();
    let location = Location::from(path);
    work().map_err(|failure| {
        failure.into_store_error(Circumstances { op: OP, waited: start.elapsed(), location: &location })
    })
}

/// Returns whether a file holds anything. A reader may leave an empty WAL behind.
fn has_content(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.len() > 0)
}

/// Whether two paths are one file.
fn same(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// The copy beside the store, which goes away unless it becomes the store.
struct Stage {
    path: PathBuf,
}

impl Stage {
    fn fill(&self, backup: &Path) -> Result<copy::Copied, Failure> {
        let source = connection::open_read_only(backup)?;
        if !copy::has_room(&source, &self.path)? {
            let source = "a backup is copied before it takes the store's place".into();
            let location = Location::from(&self.path);
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
        Err(StoreError::refused(backup, Refusal::UnsoundBackup { what: None }))
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
    let new = connection::open_beside(&stage.path)?;
    // A copy has no log beside it; a store that is made has one where it can.
    schema::journal(&new, &stage.path)?;
    new.close().map_err(|(_, error)| error)?;
    copy::place_new(&stage.path, path).map_err(|error| {
        StoreError::no_target(path, Purpose::Restored, TargetProblem::NotPlaced { cause: error.to_string() })
    })?;
    Ok(None)
}

/// Writes the copy into the store's file, while nobody else can open that, and keeps a copy of what it held.
fn replace(path: &Path, stage: &Stage, kept: &Path) -> Result<PathBuf, Failure> {
    let mut old = alone(path)?;
    let new = connection::open_beside(&stage.path)?;
    if !copy::has_room(&old, kept)? || !copy::has_room(&new, path)? {
        let source = "the old content is kept, and the new one is in the log before it is in the file".into();
        return Err(StoreError::NoRoom { location: Location::from(path), op: OP, source }.into());
    }
    // As it is: somebody may be restoring a backup because of what is wrong with it.
    copy::plain(&old, kept)?;
    let size = |of: &Connection| of.pragma_query_value(None, "page_size", |row| row.get::<_, i64>(0));
    let mode: String = old.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    // A log takes no pages of another size.
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

/// Opens the store with nobody beside, and keeps everybody out.
fn alone(path: &Path) -> Result<Connection, Failure> {
    connection::open_alone(path).map_err(|error| match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => in_use(path).into(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::refused(path, Refusal::UseUnknown).into()
        }
        _ => error.into(),
    })
}
