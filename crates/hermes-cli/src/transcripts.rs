//! The files in which the agent keeps transcripts besides the store, and which go when a session goes.
//!
//! No path is made of an id: the folder is read, and of each file in it the name tells whose it is. So no id, whatever it
//! holds, reaches anything but a file of that very name in that very folder.

use hermes_config::Settings;
use hermes_session::SessionId;
use hermes_session::transcript_file::session_of;
use hermes_store::StoreUrl;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

/// The folder of transcripts, in the home folder.
const FOLDER: &str = "sessions";

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

/// The folder that the agent's gateway uses beside a store; nothing if the store is not the one of the home folder.
pub(crate) fn folder(settings: &Settings, url: &StoreUrl) -> Option<PathBuf> {
    let configured = &settings.sessiondb.sqlite.db_path.value;
    let is_same = |file: &Path| same_place(file) == same_place(configured);
    let is_of_home = settings.sessiondb.url.is_none() || url.file().is_some_and(is_same);
    is_of_home.then(|| settings.home.value.join(FOLDER))
}

impl Transcripts {
    /// Those that belong to the store; nothing if it is not the one of the home folder: the transcripts there belong to another then.
    pub(crate) fn of(settings: &Settings, url: &StoreUrl) -> Option<Self> {
        folder(settings, url).map(|folder| Self { folder })
    }

    /// The files of these sessions, by name.
    pub(crate) fn files(&self, ids: &[SessionId]) -> Vec<PathBuf> {
        let ids: BTreeSet<&str> = ids.iter().filter(|id| id.is_file_safe()).map(SessionId::as_str).collect();
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

/// A path with every link of its folder followed, as far as it is there.
fn same_place(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

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
