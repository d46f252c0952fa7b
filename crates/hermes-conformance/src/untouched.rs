//! Checks that reading a SQLite file did not change it, for tests of libraries and commands that must not change what
//! they read.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Content, mode and modification time (seconds, nanoseconds).
type Kept = (Vec<u8>, u32, (i64, i64));

/// Everything in the folder of a SQLite file, except a `-shm` and an empty `-wal`, which reading may create.
///
/// No connection of this process may have the file open when the snapshot is taken or compared: the file is read
/// through a separate descriptor, and closing that drops the locks of the process.
#[derive(Debug, Clone)]
pub struct Untouched {
    folder: PathBuf,
    files: BTreeMap<OsString, Kept>,
}

impl Untouched {
    /// Takes a snapshot of the folder of the file at `path`.
    ///
    /// # Panics
    /// If it can't be read.
    pub fn of(path: &Path) -> Self {
        let folder = path.parent().expect("a file is in a folder").to_owned();
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (name, found) = (entry.file_name(), entry.metadata().unwrap());
            let ends = |suffix: &str| name.to_string_lossy().ends_with(suffix);
            if !found.is_file() || ends("-shm") || ends(".damaged") || (ends("-wal") && found.len() == 0) {
                continue;
            }
            let content = std::fs::read(entry.path()).unwrap();
            files.insert(name, (content, found.mode(), (found.mtime(), found.mtime_nsec())));
        }
        Self { folder, files }
    }

    /// Compares the folder with the snapshot.
    ///
    /// # Panics
    /// If a file was added, removed or changed in content, mode or modification time; the message contains `what`.
    #[track_caller]
    pub fn check(&self, what: &str) {
        let now = Self::of(&self.folder.join("any"));
        let names = |files: &BTreeMap<OsString, Kept>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&now.files), names(&self.files), "{what}: the files of the folder");
        for (name, before) in &self.files {
            let after = &now.files[name];
            assert!(after.0 == before.0, "{what}: the content of {name:?} changed");
            assert_eq!(after.1, before.1, "{what}: the mode of {name:?}");
            assert_eq!(after.2, before.2, "{what}: the modification time of {name:?}");
        }
    }
}
