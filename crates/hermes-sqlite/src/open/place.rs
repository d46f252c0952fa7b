//! Inspects the location of a file by its path alone, before SQLite opens it: no descriptor is ever opened on the file.

use crate::open::notice::Notice;
use hermes_session::{Purpose, Refusal, StoreError, TargetProblem};
use rustix::fs::Access;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// Resolves a path that is a symbolic link, once, so that SQLite, its side files and ours all use the file itself.
///
/// # Errors
/// `Refused` if the link is dangling or leads to itself.
pub fn resolve(path: &Path) -> Result<PathBuf, StoreError> {
    if !std::fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Ok(path.to_owned());
    }
    path.canonicalize().map_err(|error| {
        let target =
            std::fs::read_link(path).map_or_else(|_| "elsewhere".to_owned(), |target| target.display().to_string());
        let refusal = match error.kind() {
            std::io::ErrorKind::NotFound => Refusal::LinkToNothing { target },
            _ => Refusal::BrokenLink { target, cause: error.to_string() },
        };
        StoreError::refused(path, refusal)
    })
}

/// Checks that a path can be a store. A missing file passes only with `create`.
///
/// # Errors
/// `Refused`, with the reason.
pub fn check(path: &Path, create: bool) -> Result<(), StoreError> {
    let refused = |refusal: Refusal| Err(StoreError::refused(path, refusal));
    let found = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && create => return check_folder(path),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return refused(Refusal::Absent);
        }
        Err(error) => return refused(Refusal::NotExamined { cause: error.to_string() }),
    };
    if found.is_dir() {
        return refused(Refusal::Folder);
    }
    if !found.is_file() {
        return refused(Refusal::NotRegular);
    }
    if found.len() == 0 && beside(path, "-wal").metadata().is_ok_and(|log| log.len() > 0) {
        return refused(Refusal::Lost);
    }
    if rustix::fs::access(path, Access::READ_OK).is_err() {
        return refused(Refusal::NotReadable);
    }
    Ok(())
}

/// Checks that a path is a file that can be read. Follows a link.
///
/// # Errors
/// `Refused`, with the reason.
pub fn check_readable(path: &Path) -> Result<(), StoreError> {
    let refused = |refusal: Refusal| Err(StoreError::refused(path, refusal));
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => refused(Refusal::Absent),
        Err(error) => refused(Refusal::NotExamined { cause: error.to_string() }),
        Ok(found) if found.is_dir() => refused(Refusal::Folder),
        Ok(found) if !found.is_file() => refused(Refusal::NotRegular),
        Ok(_) if rustix::fs::access(path, Access::READ_OK).is_err() => refused(Refusal::NotReadable),
        Ok(_) => Ok(()),
    }
}

/// Fails if the folder exists but does not allow a new file.
fn check_folder(path: &Path) -> Result<(), StoreError> {
    let Some(folder) = path.parent().filter(|folder| folder.is_dir()) else { return Ok(()) };
    match rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Ok(()),
        Err(error) => {
            let problem = TargetProblem::NotMade { cause: error.to_string() };
            Err(StoreError::no_target(path, Purpose::Store, problem))
        }
    }
}

/// Returns whether nothing can be written: the file itself is read-only, or its folder, in which the WAL is created.
pub(crate) fn is_read_only(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let may_write = |path: &Path| rustix::fs::access(path, Access::WRITE_OK).is_ok();
    path.exists() && !(may_write(path) && may_write(folder))
}

/// Returns whether a file exists and is not empty.
pub(crate) fn has_content(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.len() > 0)
}

/// Returns whether a rollback journal lies beside a file. SQLite decides whether it is hot.
pub(crate) fn may_have_hot_journal(path: &Path) -> bool {
    has_content(&beside(path, "-journal"))
}

/// Removes a file if it exists. A failure is only logged.
pub(crate) fn remove(path: &Path) {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            tracing::warn!(?path, %error, "file not removed");
        }
        _ => {}
    }
}

/// Returns a path with a suffix appended to its file name.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Removes the access of other users to a file, by its path. Returns a notice if that changed anything.
pub(crate) fn restrict_mode(path: &Path) -> Option<Notice> {
    let mode = std::fs::symlink_metadata(path).ok()?.permissions().mode() & 0o7777;
    if mode & 0o077 == 0 {
        return None;
    }
    for suffix in ["", "-wal", "-shm"] {
        // A missing WAL, or another user's file, stays as it is.
        if let Err(error) = std::fs::set_permissions(beside(path, suffix), std::fs::Permissions::from_mode(0o600)) {
            tracing::debug!(suffix, %error, "mode of a file of the store not changed");
        }
    }
    let is_restricted = std::fs::symlink_metadata(path).ok()?.permissions().mode() & 0o077 == 0;
    is_restricted.then(|| Notice::ModeRestricted { path: path.to_owned(), before: mode })
}
