//! Brings the write-ahead log to disk, outside the lock.
//!
//! SQLite would do so inside it, and all writers would wait for the disk one after the other. Instead a commit only writes, and its jobs are answered when
//! the log was brought to disk by a descriptor of our own. What was committed in between by others goes to disk with it. SQLite keeps no locks on this
//! file, so that a descriptor of it may come and go; and as long as a connection is open, SQLite neither removes the file nor gives up the log.
//! Nor does it write over what is not on disk: before it starts the log anew, all of it is in the store, and that on disk.

use crate::open::options::Synchronous;
use crate::open::place::beside;
use crate::write::database::Database;
use crate::write::writer::Settings;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// How a file is brought to disk.
pub(crate) type Sync = fn(&File) -> std::io::Result<()>;

/// The log of a store that is open.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    sync: Sync,
}

impl Log {
    /// Opens the log, which SQLite has made; the folder that names it goes to disk.
    pub(crate) fn open(store: &Path, sync: Sync) -> std::io::Result<Self> {
        let path = beside(&std::path::absolute(store)?, "-wal");
        let file = File::open(&path)?;
        // A log whose name is lost is lost with all that it holds.
        if let Some(folder) = path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(Self { path, file, sync })
    }

    /// Brings to disk what was committed before.
    ///
    /// # Errors
    /// If the disk fails, or the file is no longer the log: somebody removed or replaced it, and SQLite goes on in a file without a name.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        (self.sync)(&self.file)?;
        let (ours, named) = (self.file.metadata()?, std::fs::metadata(&self.path));
        match named {
            Ok(named) if (named.dev(), named.ino()) == (ours.dev(), ours.ino()) => Ok(()),
            _ => Err(std::io::Error::other("its log (-wal) was removed or replaced while it was in use")),
        }
    }
}

/// Who brings a commit to disk.
#[derive(Debug)]
pub(crate) enum Durability {
    /// SQLite, before the commit is done.
    InCommit,
    /// We do, after the lock was given back.
    After(Log),
    /// Nobody: the system does some time, in the right order.
    Later,
}

impl Durability {
    /// Leaves it to us, if the file has a log. It may get one while it is open, but does not lose it before it is closed.
    pub(crate) fn settle(&mut self, database: &Database, store: &Path, settings: &Settings) {
        if !matches!(self, Self::InCommit) || !has_log(database) {
            return;
        }
        let ours = match settings.synchronous {
            Synchronous::Normal => Self::Later,
            Synchronous::Full => match Log::open(store, settings.sync) {
                Ok(log) => Self::After(log),
                Err(error) => {
                    tracing::warn!(%error, "WAL not opened; SQLite syncs it within each commit");
                    return;
                }
            },
        };
        if database.pragma_update(None, "synchronous", "NORMAL").is_ok() {
            *self = ours;
        }
    }

    /// Brings to disk what was committed before, if that is ours to do.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        match self {
            Self::InCommit | Self::Later => Ok(()),
            Self::After(log) => log.sync(),
        }
    }
}

fn has_log(database: &Database) -> bool {
    let mode = database.prepare_cached("PRAGMA journal_mode").and_then(|mut mode| mode.query_row([], |row| row.get(0)));
    mode.is_ok_and(|mode: String| mode == "wal")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> (tempfile::TempDir, PathBuf, Log) {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("state.db");
        std::fs::write(beside(&store, "-wal"), "frames").unwrap();
        let log = Log::open(&store, File::sync_data).unwrap();
        (folder, store, log)
    }

    #[test]
    fn a_log_that_was_removed_or_replaced_is_not_taken_for_the_log() {
        let (_folder, store, log) = log();
        log.sync().unwrap();
        let name = beside(&store, "-wal");
        std::fs::remove_file(&name).unwrap();
        assert!(log.sync().unwrap_err().to_string().contains("was removed or replaced"));
        std::fs::write(&name, "frames").unwrap();
        assert!(log.sync().unwrap_err().to_string().contains("was removed or replaced"));
    }

    #[test]
    fn what_the_disk_says_is_passed_on() {
        let (_folder, _store, mut log) = log();
        log.sync = |_| Err(std::io::Error::from_raw_os_error(5));
        assert_eq!(log.sync().unwrap_err().raw_os_error(), Some(5));
    }
}
