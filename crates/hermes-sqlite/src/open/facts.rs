//! Facts about a file and its location, found by its path, and through SQLite where needed.

use crate::open::{connection, filesystem, place};
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Age up to which a partial copy counts as still being made.
const LEFT: Duration = Duration::from_secs(3_600);

/// Facts about a file and its location, found without reading its tables.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileFacts {
    /// Its permission bits.
    pub mode: u32,
    /// Its size, in bytes.
    pub bytes: u64,
    /// The size of its WAL, in bytes.
    pub log_bytes: u64,
    /// Whether a rollback journal lies beside it.
    pub has_journal: bool,
    /// Its journal mode: `wal`, `delete`, …; `None` if it can't be read.
    pub journal_mode: Option<String>,
    /// Whether it was adopted; `None` if it can't be read.
    pub is_adopted: Option<bool>,
    /// The kind of its file system, if that can't share a WAL between processes.
    pub bad_file_system: Option<&'static str>,
    /// Free space on its disk, in bytes.
    pub disk_free: u64,
    /// Whether it can't be written here.
    pub is_read_only: bool,
    /// Remains of copies that were not finished.
    pub leftovers: Vec<PathBuf>,
}

/// Inspects an existing file. Changes nothing, and opens it through SQLite alone.
pub fn facts(path: &Path) -> FileFacts {
    // For a dangling link, the facts are those of the link itself.
    let path = &place::resolve(path).unwrap_or_else(|_| path.to_owned());
    let found = std::fs::symlink_metadata(path).ok();
    let length = |suffix: &str| place::beside(path, suffix).metadata().map_or(0, |file| file.len());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let header = connection::header(path).ok();
    FileFacts {
        mode: found.as_ref().map_or(0, |file| file.permissions().mode() & 0o7777),
        bytes: found.as_ref().map_or(0, std::fs::Metadata::len),
        log_bytes: length("-wal"),
        has_journal: length("-journal") > 0,
        is_adopted: header.as_ref().map(|(_, version)| *version != 0),
        journal_mode: header.map(|(mode, _)| mode),
        bad_file_system: filesystem::without_shared_memory(path),
        disk_free: rustix::fs::statvfs(folder).map_or(0, |room| room.f_bavail.saturating_mul(room.f_frsize)),
        is_read_only: place::is_read_only(path),
        leftovers: leftovers(path, folder),
    }
}

/// Returns partial copies that a process did not finish. Recently written ones count as being made, because a process
/// id means nothing if the process runs in another container.
fn leftovers(path: &Path, folder: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().map(|name| name.to_string_lossy().into_owned()) else { return Vec::new() };
    let is_left = |entry: &Path| {
        let Some(other) = entry.file_name().map(|name| name.to_string_lossy().into_owned()) else { return false };
        let Some(part) = other.strip_prefix(&name).and_then(Part::of) else { return false };
        let is_gone = !Path::new(&format!("/proc/{}", part.process)).exists();
        is_gone && is_ours(entry, &part) && is_old(entry)
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut left: Vec<PathBuf> = entries.filter(|entry| is_left(entry)).collect();
    left.sort_unstable();
    left
}

/// The parts of the name of a partial copy.
struct Part {
    process: u32,
    /// Whether the copy has a name of its own after the store's.
    is_named: bool,
    /// Whether it is a file that SQLite keeps beside a copy.
    is_beside: bool,
}

impl Part {
    /// Parses what follows the store's name; `None` if it is not a name that we use.
    fn of(rest: &str) -> Option<Self> {
        let (name, end) = rest.rsplit_once(".part-")?;
        let beside = ["-wal", "-shm", "-journal"].into_iter().find_map(|suffix| end.strip_suffix(suffix));
        let number = beside.unwrap_or(end);
        let process = number.parse::<u32>().ok().filter(|process| process.to_string() == number && *process > 0)?;
        Some(Self { process, is_named: name.starts_with('.'), is_beside: beside.is_some() })
    }
}

/// Returns whether the content is what we write under such a name. Other programs use similar names for parts of a
/// file.
fn is_ours(entry: &Path, part: &Part) -> bool {
    let Ok(found) = std::fs::symlink_metadata(entry) else { return false };
    if found.is_dir() {
        let is_known = |name: &str| ["rows.db", "store.db"].iter().any(|ours| name.starts_with(ours));
        let entries = std::fs::read_dir(entry).map(|entries| entries.map(|entry| entry.map(|entry| entry.file_name())));
        return entries.is_ok_and(|mut all| all.all(|name| name.is_ok_and(|name| name.to_str().is_some_and(is_known))));
    }
    found.is_file() && part.is_named && (part.is_beside || found.len() == 0 || is_database(entry))
}

fn is_database(path: &Path) -> bool {
    let mut head = [0; 16];
    std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *b"SQLite format 3\0"
}

/// Returns whether nothing in it was written recently.
fn is_old(entry: &Path) -> bool {
    let within = std::fs::read_dir(entry).into_iter().flatten().flatten().map(|entry| entry.path());
    std::iter::once(entry.to_owned()).chain(within).all(|path| {
        let written = std::fs::symlink_metadata(path).and_then(|found| found.modified()).ok();
        written.and_then(|written| written.elapsed().ok()).is_some_and(|age| age > LEFT)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_of_dead_processes_are_reported_and_files_of_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name);
        let path = place("state.db");
        let written = std::time::SystemTime::UNIX_EPOCH;
        let put = |name: &str, text: &str| {
            std::fs::write(place(name), text).unwrap();
            std::fs::File::open(place(name)).unwrap().set_modified(written).unwrap();
        };
        let database = "SQLite format 3\0 and so on";
        let left = [
            "state.db.backup-v11.part-4294967294",
            "state.db.backup-v11.part-4294967294-journal",
            "state.db.copy.part-4294967293",
            "state.db.repaired.part-4294967294",
        ];
        put(left[0], database);
        put(left[1], "journal");
        put(left[2], "");
        std::fs::create_dir(place(left[3])).unwrap();
        put("state.db.repaired.part-4294967294/rows.db", database);
        std::fs::File::open(place(left[3])).unwrap().set_modified(written).unwrap();

        put("state.db", database);
        put("other.db.part-4294967294", database);
        put(&format!("state.db.backup-v11.part-{}", std::process::id()), database);
        // The names that `split` gives to parts of a file.
        put("state.db.part-00", database);
        put("state.db.part-4294967294", database);
        put("state.db.old.part-4294967294", "the middle of a file");
        put("state.db.old.part-04294967294", database);
        // In another container the process may be alive under this id.
        std::fs::write(place("state.db.backup-v12.part-4294967294"), database).unwrap();
        std::fs::create_dir(place("state.db.mine.part-4294967294")).unwrap();
        put("state.db.mine.part-4294967294/letter", "dear");

        let facts = facts(&path);
        assert_eq!(facts.leftovers, left.map(place));
        assert!(facts.disk_free > 0 && facts.bytes > 0 && !facts.has_journal);
    }
}
