//! The transcript files that an agent keeps beside the store, and which are removed with their session.
//!
//! No path is built from an id: the folder is read, and the name of each file says which session it belongs to. So an
//! id, whatever it contains, can only reach a file of exactly that name in this folder.

use hermes_config::Settings;
use hermes_session::transcript_file::session_of;
use hermes_session::{SessionId, Trashed};
use hermes_store::StoreUrl;
use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use tracing::{debug, warn};

/// The folder of transcripts, in the home folder.
const FOLDER: &str = "sessions";
/// The folder, in that one, of transcripts whose sessions are in the trash.
const TRASH: &str = ".trash";

/// The transcript files of a store's sessions.
#[derive(Debug, Clone)]
pub struct Transcripts {
    folder: PathBuf,
}

/// Transcript files that were removed or moved.
#[derive(Debug, Default)]
pub struct Removed {
    /// How many files were removed or moved.
    pub files: u64,
    /// The new paths of moved files.
    pub moved: Vec<PathBuf>,
    /// Files that are still there, and why.
    pub left: Vec<(PathBuf, io::Error)>,
}

/// Returns the folder that the agent's gateway uses beside a store, or `None` if the store is not the one of the home
/// folder.
pub fn folder(settings: &Settings, url: &StoreUrl) -> Option<PathBuf> {
    let configured = &settings.sessiondb.sqlite.db_path.value;
    let is_same = |file: &Path| same_place(file) == same_place(configured);
    let is_of_home = settings.sessiondb.url.is_none() || url.file().is_some_and(is_same);
    is_of_home.then(|| settings.home.value.join(FOLDER))
}

impl Transcripts {
    /// Returns the transcripts in this folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the transcripts of a store, or `None` if it is not the one of the home folder: the transcripts there
    /// belong to another.
    pub fn of(settings: &Settings, url: &StoreUrl) -> Option<Self> {
        folder(settings, url).map(|folder| Self { folder })
    }

    /// Returns the files of these sessions, by name.
    pub fn files(&self, ids: &[SessionId]) -> Vec<PathBuf> {
        let ids: BTreeSet<&str> = ids.iter().filter(|id| id.is_file_safe()).map(SessionId::as_str).collect();
        let is_meant = |entry: &std::fs::DirEntry| {
            let is_file = entry.file_type().is_ok_and(|kind| !kind.is_dir());
            is_file && entry.file_name().to_str().and_then(session_of).is_some_and(|id| ids.contains(id))
        };
        let mut files: Vec<PathBuf> = entries(&self.folder).filter(is_meant).map(|entry| entry.path()).collect();
        files.sort();
        files
    }

    /// Removes the files of these sessions. A file that can't be removed is reported and does not stop the others.
    pub fn remove(&self, ids: &[SessionId]) -> Removed {
        let mut removed = Removed::default();
        for file in self.files(ids) {
            match std::fs::remove_file(&file) {
                Ok(()) => removed.files += 1,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => removed.left.push((file, error)),
            }
        }
        removed.log("transcripts removed");
        removed
    }
}

/// Transcripts in the trash: each entry's in a folder that is named by its number and time, never by an id.
impl Transcripts {
    /// Moves the files of sessions in the trash to the trash too. A file that can't be moved is reported and does not
    /// stop the others.
    pub fn put_away(&self, ids: &[SessionId], entry: &Trashed) -> Removed {
        self.put_these_away(self.files(ids), entry)
    }

    /// Moves these files to the trash. If a session could not be restored, only the files brought back for it go to the
    /// trash again: the agent may have written others under its id meanwhile.
    pub fn put_these_away(&self, files: Vec<PathBuf>, entry: &Trashed) -> Removed {
        let mut moved = Removed::default();
        let folder = self.trash_of(entry);
        if files.is_empty() {
            return moved;
        }
        if let Err(error) = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder) {
            moved.left.extend(files.into_iter().map(|file| (file, io::Error::from(error.kind()))));
            moved.log("transcripts moved to the trash");
            return moved;
        }
        files.into_iter().for_each(|file| moved.take(file, &folder));
        moved.log("transcripts moved to the trash");
        moved
    }

    /// Moves the files of restored sessions back. If a file exists there by now, it stays, and so does the one in the
    /// trash.
    pub fn bring_back(&self, ids: &[SessionId], entry: &Trashed) -> Removed {
        let mut moved = Removed::default();
        let trash = Self { folder: self.trash_of(entry) };
        trash.files(ids).into_iter().for_each(|file| moved.take(file, &self.folder));
        moved.log("transcripts moved back from the trash");
        // A folder stays as long as it holds a file that belongs to no session or could not be moved.
        remove_if_empty(&trash.folder);
        remove_if_empty(&self.folder.join(TRASH));
        moved
    }

    /// Removes the files of an entry that is gone from the trash.
    pub fn forget(&self, entry: &Trashed) -> Removed {
        let mut removed = Removed::default();
        let folder = self.trash_of(entry);
        for file in entries(&folder).map(|entry| entry.path()) {
            match std::fs::remove_file(&file) {
                Ok(()) => removed.files += 1,
                Err(error) => removed.left.push((file, error)),
            }
        }
        removed.log("transcripts in the trash removed");
        remove_if_empty(&folder);
        remove_if_empty(&self.folder.join(TRASH));
        removed
    }

    /// Returns the files of these sessions, those in the trash too.
    pub fn everywhere(&self, ids: &[SessionId]) -> Vec<PathBuf> {
        self.folders().iter().flat_map(|folder| folder.files(ids)).collect()
    }

    /// Returns every file there is, those in the trash too.
    pub fn all(&self) -> Vec<PathBuf> {
        let files = |folder: &Self| {
            entries(&folder.folder).map(|entry| entry.path()).filter(|path| path.is_file()).collect::<Vec<_>>()
        };
        self.folders().iter().flat_map(files).collect()
    }

    /// Removes the files of these sessions, those in the trash too.
    pub fn erase(&self, ids: &[SessionId]) -> Removed {
        let mut removed = Removed::default();
        for folder in self.folders() {
            removed.add(folder.remove(ids));
            if folder.folder != self.folder {
                remove_if_empty(&folder.folder);
            }
        }
        removed
    }

    /// Returns the folder, and those of the trash in it.
    fn folders(&self) -> Vec<Self> {
        let trash = entries(&self.folder.join(TRASH))
            .map(|entry| Self { folder: entry.path() })
            .filter(|folder| folder.folder.is_dir());
        [self.clone()].into_iter().chain(trash).collect()
    }

    fn trash_of(&self, entry: &Trashed) -> PathBuf {
        self.folder.join(TRASH).join(format!("{}-{:.0}", entry.number, entry.deleted_at.seconds()))
    }
}

impl Removed {
    /// Adds another report to this one.
    pub fn add(&mut self, others: Self) {
        self.files += others.files;
        self.moved.extend(others.moved);
        self.left.extend(others.left);
    }

    /// Logs what was done: counts, and each file that was left behind.
    fn log(&self, done: &'static str) {
        if self.files > 0 || !self.left.is_empty() {
            debug!(files = self.files, left = self.left.len(), "{done}");
        }
        for (path, error) in &self.left {
            warn!(?path, %error, "transcript left behind");
        }
    }

    /// Moves a file into a folder, unless the folder has a file of that name.
    fn take(&mut self, file: PathBuf, folder: &Path) {
        let Some(name) = file.file_name() else { return };
        let place = folder.join(name);
        // A rename would replace an existing file.
        match std::fs::hard_link(&file, &place).and_then(|()| std::fs::remove_file(&file)) {
            Ok(()) => {
                self.files += 1;
                self.moved.push(place);
            }
            Err(error) => self.left.push((file, error)),
        }
    }
}

/// Returns the entries of a folder; none if it does not exist or can't be read.
fn entries(folder: &Path) -> impl Iterator<Item = std::fs::DirEntry> + use<> {
    let entries = std::fs::read_dir(folder).map_err(|error| {
        if error.kind() != io::ErrorKind::NotFound {
            warn!(?folder, %error, "folder of transcripts not read");
        }
    });
    // An entry that can't be read was removed meanwhile, or the next deletion retries it.
    entries.into_iter().flatten().flatten()
}

/// Removes a folder unless it holds files.
fn remove_if_empty(folder: &Path) {
    match std::fs::remove_dir(folder) {
        Ok(()) => {}
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => {}
        Err(error) => debug!(?folder, %error, "empty folder of transcripts not removed"),
    }
}

/// Returns a path with its symbolic links resolved, as far as it exists.
fn same_place(path: &Path) -> PathBuf {
    path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_go_to_the_trash_and_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let transcripts = Transcripts { folder: folder.path().to_owned() };
        let at = hermes_session::Timestamp::from_seconds(1_741_166_123.5).unwrap();
        let ids = ["a", "b"].map(SessionId::from_stored);
        let entry = Trashed {
            number: 3,
            id: ids[0].clone(),
            title: None,
            source: "cli".into(),
            deleted_at: at,
            until: at,
            sessions: 2,
            messages: 0,
        };
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).ok();
        for name in ["a.json", "session_b.json", "c.json"] {
            write(name, name);
        }
        assert_eq!(transcripts.put_away(&ids, &entry).files, 2);
        assert_eq!((read("a.json"), read("c.json").as_deref()), (None, Some("c.json")));
        assert_eq!(read(".trash/3-1741166124/a.json").as_deref(), Some("a.json"));
        assert!(transcripts.files(&ids).is_empty());
        // A file that the agent has written since stays, and so does the old one.
        write("a.json", "newer");
        let back = transcripts.bring_back(&ids, &entry);
        assert_eq!((back.files, back.left.len(), read("a.json").as_deref()), (1, 1, Some("newer")));
        assert_eq!(read("session_b.json").as_deref(), Some("session_b.json"));
        assert_eq!(transcripts.forget(&entry).files, 1);
        assert!(!folder.path().join(TRASH).exists());
        assert_eq!(transcripts.forget(&entry).files, 0);
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

    #[test]
    fn every_kind_of_file_of_a_session_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            "abc.json",
            "abc.jsonl",
            "session_abc.json",
            "request_dump_abc_20250305_091523_123456.json",
            "request_dump_abc_def_20250305_091523_123456.json",
            "abc_def.json",
            "sessions.json",
        ];
        names.iter().for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
        let removed = Transcripts::in_folder(folder.path()).remove(&[SessionId::from_stored("abc")]);
        assert_eq!(removed.files, 4);
        let left: Vec<bool> = names.iter().map(|name| folder.path().join(name).exists()).collect();
        assert_eq!(left, [false, false, false, false, true, true, true]);
    }
}
