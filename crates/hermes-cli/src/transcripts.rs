//! The files in which the agent keeps transcripts besides the store, and which go when a session goes.
//!
//! No path is made of an id: the folder is read, and of each file in it the name tells whose it is. So no id, whatever it
//! holds, reaches anything but a file of that very name in that very folder.

use hermes_config::Settings;
use hermes_session::SessionId;
use hermes_store::StoreUrl;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of transcripts, in the home folder.
const FOLDER: &str = "sessions";
/// The gateway's list of which chat is in which session. It is nobody's transcript, whatever a session is called.
const ROUTES: &str = "sessions.json";
/// The longest id that the agent makes a file name of.
const MOST_BYTES: usize = 128;

/// The transcripts of a store's sessions.
#[derive(Debug, Clone)]
pub(crate) struct Transcripts {
    folder: PathBuf,
}

/// What became of transcripts that were to go.
#[derive(Debug, Default)]
pub(crate) struct Removed {
    /// How many files went.
    pub(crate) files: u64,
    /// Those that did not, and why.
    pub(crate) left: Vec<(PathBuf, io::Error)>,
}

impl Transcripts {
    /// Those that belong to the store; nothing if it is not the one of the home folder: the transcripts there belong to another then.
    pub(crate) fn of(settings: &Settings, url: &StoreUrl) -> Option<Self> {
        let configured = &settings.sessiondb.sqlite.db_path.value;
        let is_same = |file: &Path| same_place(file) == same_place(configured);
        let is_of_home = settings.sessiondb.url.is_none() || url.file().is_some_and(is_same);
        is_of_home.then(|| Self { folder: settings.home.value.join(FOLDER) })
    }

    /// The files of these sessions, by name.
    pub(crate) fn files(&self, ids: &[SessionId]) -> Vec<PathBuf> {
        let ids: BTreeSet<&str> = ids.iter().map(SessionId::as_str).filter(|id| is_plain(id)).collect();
        // No folder, no files.
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let is_meant = |entry: &std::fs::DirEntry| {
            let is_file = entry.file_type().is_ok_and(|kind| !kind.is_dir());
            is_file && entry.file_name().to_str().and_then(session_of).is_some_and(|id| ids.contains(id))
        };
        let mut files: Vec<PathBuf> = entries.flatten().filter(is_meant).map(|entry| entry.path()).collect();
        files.sort();
        files
    }

    /// Removes the files of these sessions. What can't be removed is told and stops nothing.
    pub(crate) fn remove(&self, ids: &[SessionId]) -> Removed {
        let mut removed = Removed::default();
        for file in self.files(ids) {
            match std::fs::remove_file(&file) {
                Ok(()) => removed.files += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => removed.left.push((file, error)),
            }
        }
        removed
    }
}

/// Whether the agent makes names of files of such an id.
fn is_plain(id: &str) -> bool {
    (1..=MOST_BYTES).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The session whose file has this name: `session_ID.json`, `request_dump_ID_TIME.json`, `ID.json`, `ID.jsonl`.
///
/// A name that could be two sessions' is the one's for which the agent writes it today.
fn session_of(name: &str) -> Option<&str> {
    if name == ROUTES {
        return None;
    }
    if let Some(id) = name.strip_suffix(".jsonl") {
        return Some(id);
    }
    let stem = name.strip_suffix(".json")?;
    if let Some(id) = stem.strip_prefix("session_") {
        return Some(id);
    }
    match stem.strip_prefix("request_dump_") {
        Some(dump) => without_time(dump),
        None => Some(stem),
    }
}

/// Cuts `_20250305_091523_123456` off. The time has one length, so nothing of an id can be taken for it.
fn without_time(dump: &str) -> Option<&str> {
    const SHAPE: &[u8] = b"_dddddddd_dddddd_dddddd";
    let cut = dump.len().checked_sub(SHAPE.len())?;
    let (id, time) = dump.as_bytes().split_at(cut);
    let fits = |(byte, shape): (&u8, &u8)| if *shape == b'd' { byte.is_ascii_digit() } else { byte == shape };
    (!id.is_empty() && time.iter().zip(SHAPE).all(fits)).then(|| &dump[..cut])
}

/// A path with every link of its folder followed, as far as it is there.
fn same_place(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_whose_file_it_is() {
        for (name, id) in [
            ("session_20250305_091523_a1b2c3.json", Some("20250305_091523_a1b2c3")),
            ("20250305_091523_a1b2c3.jsonl", Some("20250305_091523_a1b2c3")),
            ("20250305_091523_a1b2c3.json", Some("20250305_091523_a1b2c3")),
            ("request_dump_x_20250305_091523_123456.json", Some("x")),
            ("request_dump_x_20250305_091523_20250305_091523_123456.json", Some("x_20250305_091523")),
            ("request_dump_20250305_091523_123456.json", None),
            ("request_dump_x_y.json", None),
            ("sessions.json", None),
            ("sessions.jsonl", Some("sessions")),
            ("notes.txt", None),
            ("request_dump_大_20250305_091523_12345大.json", None),
        ] {
            assert_eq!(session_of(name), id, "{name}");
        }
    }

    #[test]
    fn no_id_reaches_another_file() {
        let folder = tempfile::tempdir().unwrap();
        let sessions = folder.path().join(FOLDER);
        std::fs::create_dir_all(sessions.join("folder.json")).unwrap();
        let names = ["a.json", "ab.json", "sessions.json", "session_a.json", "*.json", ".json", "..json", "../x.json"];
        names.iter().for_each(|name| std::fs::write(sessions.join(name), "").unwrap());
        let transcripts = Transcripts { folder: sessions };
        let ids = ["../x", "*", "", ".", "..", "sessions", "folder", "x/../a", "/a"].map(SessionId::from_stored);
        assert!(transcripts.files(&ids).is_empty(), "{:?}", transcripts.files(&ids));
        let removed = transcripts.remove(&[SessionId::from_stored("a")]);
        assert_eq!((removed.files, removed.left.len()), (2, 0));
        let left = |name: &str| transcripts.folder.join(name).exists();
        assert_eq!(names.map(left), [false, true, true, false, true, true, true, true]);
    }
}
