//! Tracks which of our processes have a store open: each holds a shared lock on a file beside it.
//!
//! SQLite can't distinguish our processes from the agent's, and a process of ours that finds its side tables gone would
//! fail. So a process that removes them takes the lock exclusively. If the lock file can't be used (another owner, a
//! file system without locks), no process is kept out.

use crate::open::place::beside;
use crate::write::long_wait;
use hermes_session::{Location, StoreError};
use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Suffix of the lock file, after the store's name.
pub(crate) const SUFFIX: &str = ".open";
/// How often to check whether a process that detaches the store is done.
const LOOK: Duration = Duration::from_millis(20);

/// Describes the process that has the lock exclusively.
const DETACHING: &str = "hermes sessiondb detach";

/// A lock that shows that a store is open. It is released when this is dropped, or when the process ends.
#[derive(Debug)]
pub(crate) struct Presence {
    /// `None` if the lock file can't be used.
    file: Option<File>,
    has_waited: bool,
}

impl Presence {
    /// Takes the shared lock of a store. A reader does so only if the lock file exists, and never creates it.
    ///
    /// # Errors
    /// `Busy` if another process had exclusive access until the deadline.
    pub(crate) fn shared(store: &Path, may_make: bool, wait: Duration) -> Result<Self, StoreError> {
        let (place, start, mut has_waited) = (place(store), Instant::now(), false);
        let mut report_at = Some(start + long_wait::LONG);
        loop {
            let Some(file) = open(&place, may_make) else { return Ok(Self { file: None, has_waited }) };
            match file.try_lock_shared() {
                // A process that detaches a store removes the file while it holds the lock; another file may exist by
                // now.
                Ok(()) if !is_at(&file, &place) => continue,
                Ok(()) => return Ok(Self { file: Some(file), has_waited }),
                Err(TryLockError::Error(_)) => return Ok(Self { file: None, has_waited }),
                Err(TryLockError::WouldBlock) if start.elapsed() < wait => {
                    has_waited = true;
                    if report_at.take_if(|at| Instant::now() >= *at).is_some() {
                        long_wait::report(Some(DETACHING.into()));
                    }
                    std::thread::sleep(LOOK);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Busy {
                        location: Location::from(store),
                        op: "open the store",
                        waited: start.elapsed(),
                        holder: Some(DETACHING.into()),
                        source: "the store is being detached".into(),
                    });
                }
            }
        }
    }

    /// Returns whether the lock is held.
    pub(crate) const fn is_held(&self) -> bool {
        self.file.is_some()
    }

    /// Returns whether another process had exclusive access meanwhile, so that the store may have changed.
    pub(crate) const fn has_waited(&self) -> bool {
        self.has_waited
    }

    /// Takes exclusive access to the store among our own processes; `None` if another one has it open.
    pub(crate) fn exclusive(store: &Path) -> Option<Self> {
        let place = place(store);
        loop {
            let Some(file) = open(&place, true) else { return Some(Self { file: None, has_waited: false }) };
            match file.try_lock() {
                Ok(()) if !is_at(&file, &place) => continue,
                Ok(()) => return Some(Self { file: Some(file), has_waited: false }),
                Err(TryLockError::Error(_)) => return Some(Self { file: None, has_waited: false }),
                Err(TryLockError::WouldBlock) => return None,
            }
        }
    }
}

/// Returns the processes that have the store open, as far as the system reports them.
pub(crate) fn holders(store: &Path) -> Vec<u32> {
    let Ok(found) = std::fs::metadata(place(store)) else { return Vec::new() };
    let inode = format!(":{}", found.ino());
    let Ok(locks) = std::fs::read_to_string("/proc/locks") else { return Vec::new() };
    // "1: FLOCK  ADVISORY  READ 1234 08:01:5678 0 EOF"
    let holder = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_meant = words.get(1) == Some(&"FLOCK") && words.get(5).is_some_and(|file| file.ends_with(&inode));
        words.get(4).filter(|_| is_meant)?.parse().ok()
    };
    let mut holders: Vec<u32> = locks.lines().filter_map(holder).collect();
    holders.sort_unstable();
    holders.dedup();
    holders
}

/// Removes the lock file. The caller must have exclusive access.
pub(crate) fn remove(store: &Path) {
    crate::open::place::remove(&place(store));
}

fn place(store: &Path) -> PathBuf {
    beside(&std::path::absolute(store).unwrap_or_else(|_| store.to_owned()), SUFFIX)
}

fn open(place: &Path, may_make: bool) -> Option<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
    if may_make {
        options.write(true).create(true).truncate(false).mode(0o600);
    }
    let is_ours = |found: &Metadata| found.is_file() && found.nlink() <= 1 && found.len() == 0;
    options.open(place).ok().filter(|file| file.metadata().is_ok_and(|found| is_ours(&found)))
}

/// Returns whether a path still leads to an open file.
fn is_at(file: &File, place: &Path) -> bool {
    let identity = |found: Metadata| (found.dev(), found.ino());
    let (here, there) = (file.metadata().ok().map(identity), std::fs::metadata(place).ok().map(identity));
    here.is_some() && here == there
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_may_have_it_open_or_one_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("state.db");
        let shared = |may_make| Presence::shared(&store, may_make, Duration::ZERO);
        drop(shared(false).unwrap());
        assert!(!place(&store).exists(), "a reader makes no file");
        let (one, two) = (shared(true).unwrap(), shared(false).unwrap());
        assert_eq!(holders(&store), [std::process::id()]);
        assert!(Presence::exclusive(&store).is_none());
        drop((one, two));
        let alone = Presence::exclusive(&store).unwrap();
        assert!(matches!(shared(false), Err(StoreError::Busy { .. })));
        remove(&store);
        drop(shared(true).unwrap());
        drop(alone);
        assert!(holders(&store).is_empty());
    }

    #[test]
    fn what_is_somebody_elses_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("state.db");
        std::fs::write(place(&store), "a person's notes").unwrap();
        assert!(Presence::shared(&store, true, Duration::ZERO).is_ok());
        assert_eq!(std::fs::read_to_string(place(&store)).unwrap(), "a person's notes");
    }
}
