//! What the place of a file tells: looked at by its path, and through SQLite for what only that knows.

use crate::{connection, filesystem, place};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// What is known of a file and its place without reading its tables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileFacts {
    /// Who may read and write it.
    pub mode: u32,
    /// Its size.
    pub bytes: u64,
    /// The size of its log (`-wal`).
    pub log_bytes: u64,
    /// Whether a rollback journal lies beside it.
    pub has_journal: bool,
    /// How it is written: `wal`, `delete`, …; nothing if it can't be read.
    pub journal_mode: Option<String>,
    /// The kind of its file system, if that can't share a write-ahead log.
    pub bad_file_system: Option<&'static str>,
    /// Room that is free on its disk.
    pub disk_free: u64,
    /// Whether it can't be written here.
    pub is_read_only: bool,
    /// What copies that were not finished left behind.
    pub leftovers: Vec<PathBuf>,
}

/// Looks at a file that is there. Changes nothing, and opens it through SQLite alone.
pub fn facts(path: &Path) -> FileFacts {
    let found = std::fs::symlink_metadata(path).ok();
    let length = |suffix: &str| place::beside(path, suffix).metadata().map_or(0, |file| file.len());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    FileFacts {
        mode: found.as_ref().map_or(0, |file| file.permissions().mode() & 0o7777),
        bytes: found.as_ref().map_or(0, std::fs::Metadata::len),
        log_bytes: length("-wal"),
        has_journal: length("-journal") > 0,
        journal_mode: connection::journal_mode(path).ok(),
        bad_file_system: filesystem::without_shared_memory(path),
        disk_free: rustix::fs::statvfs(folder).map_or(0, |room| room.f_bavail.saturating_mul(room.f_frsize)),
        is_read_only: place::is_read_only(path),
        leftovers: leftovers(path, folder),
    }
}

/// Copies that a process began and did not finish. Those of processes that live are being made.
fn leftovers(path: &Path, folder: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { return Vec::new() };
    let is_left = |entry: &Path| {
        let Some(other) = entry.file_name().map(|name| name.to_string_lossy().into_owned()) else { return false };
        let process = other.strip_prefix(&name).and_then(|rest| rest.split_once(".part-")).map(|(_, process)| process);
        let process = process.and_then(|process| process.split('-').next()?.parse::<u32>().ok());
        process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut left: Vec<PathBuf> = entries.filter(|entry| is_left(entry)).collect();
    left.sort_unstable();
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_dead_processes_left_is_told_and_what_is_being_made_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let alive = format!("state.db.backup-v11.part-{}", std::process::id());
        for name in ["state.db", "state.db.backup-v11.part-4294967294", "other.db.part-4294967294", &alive] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let facts = facts(&path);
        assert_eq!(facts.leftovers, [folder.path().join("state.db.backup-v11.part-4294967294")]);
        assert!(facts.disk_free > 0 && facts.bytes == 0 && !facts.has_journal);
    }
}
