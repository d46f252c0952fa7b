//! Syncs the WAL to disk, outside the lock.
//!
//! SQLite would sync inside the lock, and all writers would wait for the disk one after the other. Instead a commit
//! only writes, and its jobs are answered when the WAL was synced through a descriptor of our own. Commits of other
//! processes in between are synced with it. SQLite keeps no locks on this file, so a descriptor of it may be opened and
//! closed freely. While a connection is open, SQLite neither removes the file nor leaves WAL mode. Nor does it
//! overwrite frames that are not on disk: before it restarts the WAL, all of it is in the store, and the store is
//! synced.

use crate::open::options::Synchronous;
use crate::open::place::beside;
use crate::write::database::Database;
use crate::write::writer::Settings;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Function that syncs a file to disk.
pub(crate) type Sync = fn(&File) -> std::io::Result<()>;

/// The WAL of an open store.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    file: File,
    sync: Sync,
}

impl Log {
    /// Opens the WAL, which SQLite has created, and syncs its folder.
    pub(crate) fn open(store: &Path, sync: Sync) -> std::io::Result<Self> {
        let path = beside(&std::path::absolute(store)?, "-wal");
        let file = File::open(&path)?;
        // If its directory entry is lost, so is everything in the WAL.
        if let Some(folder) = path.parent() {
            File::open(folder)?.sync_all()?;
        }
        Ok(Self { path, file, sync })
    }

    /// Syncs to disk what was committed before.
    ///
    /// # Errors
    /// If the disk fails, or the file is no longer the WAL: another program removed or replaced it, and SQLite
    /// continues in a file without a name.
    pub(crate) fn sync(&self) -> std::io::Result<()> {
        (self.sync)(&self.file)?;
        let (ours, named) = (self.file.metadata()?, std::fs::metadata(&self.path));
        match named {
            Ok(named) if (named.dev(), named.ino()) == (ours.dev(), ours.ino()) => Ok(()),
            _ => Err(std::io::Error::other("its WAL was removed or replaced while it was in use")),
        }
    }
}

/// The way in which a commit is synced to disk.
#[derive(Debug)]
pub(crate) enum Durability {
    /// SQLite, within the commit.
    InCommit,
    /// We do, after the lock was released.
    After(Log),
    /// The operating system, at some later time, in the right order.
    Later,
}

impl Durability {
    /// Takes over syncing if the file is in WAL mode. A file may enter WAL mode while it is open, but does not leave it
    /// before it is closed.
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

    /// Syncs to disk what was committed before, if that is ours to do.
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
