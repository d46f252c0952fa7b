//! Where an export goes: never onto the store, never through a link, never seen half-made.

use crate::error::{CliError, Kind};
use hermes_store::StoreUrl;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

const ELSEWHERE: &str = "choose another name, or another folder";

/// A place that an export may have.
pub(crate) struct Target {
    /// With every link of its folder followed.
    path: PathBuf,
    folder: PathBuf,
    is_there: bool,
}

impl Target {
    /// Takes what was typed, and refuses what an export must not replace.
    pub(crate) fn of(typed: &Path, store: &StoreUrl) -> Result<Self, CliError> {
        let whole = std::path::absolute(typed).unwrap_or_else(|_| typed.to_owned());
        let refused =
            |why: &str, hint: &str| Err(CliError::new(Kind::User, format!("{} {why}", whole.display()), hint));
        let is_folder = typed.as_os_str().as_encoded_bytes().ends_with(b"/");
        let Some(name) = whole.file_name().filter(|_| !is_folder) else {
            return refused("is a folder", "give the name of a file in it");
        };
        let folder = match whole.parent().unwrap_or(Path::new("/")).canonicalize() {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return refused("is in a folder that does not exist", "make the folder first, or choose another");
            }
            Err(error) => return refused(&format!("can't be made: {error}"), ELSEWHERE),
        };
        let path = folder.join(name);
        if store.file().is_some_and(|file| is_of_the_store(file, &path)) {
            return refused("belongs to the store itself", ELSEWHERE);
        }
        let is_there = match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return refused(&format!("can't be made: {error}"), ELSEWHERE),
            Ok(found) if found.is_symlink() => return refused("is a link", "give the path of the file itself"),
            Ok(found) if found.is_dir() => return refused("is a folder", "give the name of a file in it"),
            Ok(found) if !found.is_file() => return refused("is no regular file", "give -, and send stdout there"),
            Ok(_) => true,
        };
        Ok(Self { path, folder, is_there })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether a file is there that would be replaced.
    pub(crate) const fn is_there(&self) -> bool {
        self.is_there
    }
}

/// Whether a path is the store's file, or one of those that are kept beside it; under whatever name.
fn is_of_the_store(store: &Path, target: &Path) -> bool {
    let store = store.canonicalize().or_else(|_| std::path::absolute(store)).unwrap_or_else(|_| store.to_owned());
    let beside = |suffix: &str| {
        let mut name = OsString::from(&store);
        name.push(suffix);
        PathBuf::from(name)
    };
    let kept = beside(".backup-v");
    let is_kept = target.as_os_str().as_encoded_bytes().starts_with(kept.as_os_str().as_encoded_bytes());
    let own = ["", "-wal", "-shm", "-journal", ".queue"].map(beside);
    is_kept || own.iter().any(|own| own == target || is_same_file(own, target))
}

/// Whether two paths lead to one file.
#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // A file that does not exist is no other file.
    let identity = |path: &Path| std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()));
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

#[cfg(not(unix))]
fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}

/// An export that is being written, beside the place that it will have. It goes away if it is not finished.
pub(crate) struct Draft<'a> {
    target: &'a Target,
    file: BufWriter<NamedTempFile>,
    bytes: u64,
}

impl<'a> Draft<'a> {
    /// Makes a file for its owner alone.
    pub(crate) fn new(target: &'a Target) -> Result<Self, CliError> {
        let file = tempfile::Builder::new().prefix(".hermes-export-").tempfile_in(&target.folder).map_err(|error| {
            let text = format!("could not make a file in {}: {error}", target.folder.display());
            CliError::new(Kind::User, text, "choose a folder that you may write to")
        })?;
        Ok(Self { target, file: BufWriter::new(file), bytes: 0 })
    }

    pub(crate) fn write(&mut self, piece: &str) -> Result<(), CliError> {
        self.bytes += piece.len() as u64;
        self.file.write_all(piece.as_bytes()).map_err(|error| failed(self.target, &error))
    }

    /// Brings it to disk and gives it its name; how many bytes it has.
    pub(crate) fn finish(self) -> Result<u64, CliError> {
        let Self { target, file, bytes } = self;
        let file = file.into_inner().map_err(|error| failed(target, error.error()))?;
        file.as_file().sync_all().map_err(|error| failed(target, &error))?;
        // Where nothing was when it was asked, nothing is replaced: whatever came there since is somebody else's.
        let named = if target.is_there { file.persist(&target.path) } else { file.persist_noclobber(&target.path) };
        named.map_err(|error| failed(target, &error.error))?;
        // The name is on disk once the folder is. A folder that can't be opened is synced when the system does it.
        match std::fs::File::open(&target.folder) {
            Ok(folder) => folder.sync_all().map_err(|error| failed(target, &error))?,
            Err(error) => tracing::debug!(folder = ?target.folder, %error, "folder of the export not synced"),
        }
        Ok(bytes)
    }
}

fn failed(target: &Target, error: &io::Error) -> CliError {
    let text = format!("could not write {}: {error}", target.path.display());
    let hint = match error.kind() {
        io::ErrorKind::AlreadyExists => "somebody made it meanwhile; choose another name",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some room; nothing was written there",
        _ => "see the cause; what was there is still there",
    };
    CliError::new(Kind::User, text, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(folder: &Path) -> Target {
        Target::of(&folder.join("out"), &StoreUrl::Sqlite(folder.join("state.db"))).unwrap()
    }

    fn names(folder: &Path) -> Vec<OsString> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn what_is_not_finished_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(folder.path());
        let mut draft = Draft::new(&target).unwrap();
        draft.write("half").unwrap();
        assert!(!names(folder.path()).contains(&"out".into()));
        drop(draft);
        assert_eq!(names(folder.path()).len(), 0);
    }

    #[test]
    fn what_came_there_meanwhile_stays() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(folder.path());
        let mut draft = Draft::new(&target).unwrap();
        draft.write("ours").unwrap();
        std::fs::write(target.path(), "theirs").unwrap();
        let error = draft.finish().unwrap_err();
        assert_eq!(error.hints(), ["somebody made it meanwhile; choose another name"]);
        assert_eq!(std::fs::read_to_string(target.path()).unwrap(), "theirs");
        assert_eq!(names(folder.path()).len(), 1);
    }
}
