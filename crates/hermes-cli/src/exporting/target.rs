//! Target file of an export. It is never the store, never behind a link and never visible half-written.

use crate::error::{CliError, Kind};
use hermes_store::StoreUrl;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

const ELSEWHERE: &str = "choose another name, or another folder";

/// A path that an export may be written to.
pub(crate) struct Target {
    /// The path with every link of its folder resolved.
    path: PathBuf,
    folder: PathBuf,
    is_there: bool,
}

impl Target {
    /// Checks a typed path, and refuses one that an export must not replace.
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
                return refused("is in a folder that does not exist", "create the folder first, or choose another");
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
            Ok(found) if !found.is_file() => return refused("is not a regular file", "use - and redirect stdout"),
            Ok(_) => true,
        };
        Ok(Self { path, folder, is_there })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether a file exists that would be replaced.
    pub(crate) const fn is_there(&self) -> bool {
        self.is_there
    }
}

/// Returns whether a path is the store's file or one kept beside it, under any name.
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

/// Returns whether two paths lead to the same file.
#[cfg(unix)]
fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    // A file that does not exist is not the same as any other.
    let identity = |path: &Path| std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()));
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

#[cfg(not(unix))]
fn is_same_file(_: &Path, _: &Path) -> bool {
    false
}

/// An export being written to a temporary file in the target's folder. The file is removed if it is not finished.
pub(crate) struct Draft<'a> {
    target: &'a Target,
    file: BufWriter<NamedTempFile>,
    bytes: u64,
}

impl<'a> Draft<'a> {
    /// Creates a file that only its owner can read.
    pub(crate) fn new(target: &'a Target) -> Result<Self, CliError> {
        let file = tempfile::Builder::new().prefix(".hermes-export-").tempfile_in(&target.folder).map_err(|error| {
            let text = format!("could not create a file in {}: {error}", target.folder.display());
            CliError::new(Kind::User, text, "choose a folder that you may write to")
        })?;
        Ok(Self { target, file: BufWriter::new(file), bytes: 0 })
    }

    pub(crate) fn write(&mut self, piece: &str) -> Result<(), CliError> {
        self.bytes += piece.len() as u64;
        self.file.write_all(piece.as_bytes()).map_err(|error| failed(self.target, &error))
    }

    /// Syncs the file and gives it its final name. Returns its size in bytes.
    pub(crate) fn finish(self) -> Result<u64, CliError> {
        let Self { target, file, bytes } = self;
        let file = file.into_inner().map_err(|error| failed(target, error.error()))?;
        file.as_file().sync_all().map_err(|error| failed(target, &error))?;
        // If nothing existed when the user was asked, nothing is replaced: a file that appeared since belongs to
        // somebody else.
        let named = if target.is_there { file.persist(&target.path) } else { file.persist_noclobber(&target.path) };
        named.map_err(|error| failed(target, &error.error))?;
        // The name is durable once the folder is synced. A folder that can't be opened is synced by the system later.
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
        io::ErrorKind::AlreadyExists => "another process created it meanwhile; choose another name",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some disk space; nothing was written there",
        _ => "see the cause; the old file is unchanged",
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
        assert_eq!(error.hints(), ["another process created it meanwhile; choose another name"]);
        assert_eq!(std::fs::read_to_string(target.path()).unwrap(), "theirs");
        assert_eq!(names(folder.path()).len(), 1);
    }
}
