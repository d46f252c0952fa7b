//! Copies the file to a given path. Never overwrites a file, and never writes to the store's own files.

use crate::calls::maintenance;
use crate::error::Failure;
use crate::open::copy;
use crate::open::place::beside;
use crate::write::database::Database;
use hermes_session::{BackupReport, Location, Purpose, StoreError, TargetProblem};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const OP: &str = "back up the store";

/// Allows one copy at a time in a process: two with the same target would use the same temporary file.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Copies the file at `path`, which `database` has open, to `target`.
pub(crate) fn run(database: &Database, path: &Path, target: &Path) -> Result<BackupReport, Failure> {
    let target = place(path, target)?;
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    // The copy needs a transaction of its own, so it gets its own connection.
    let source = maintenance::open_again(database, path)?;
    if !copy::has_room(&source, &target)? {
        let source = format!("{} needs a little more disk space than the store", target.display()).into();
        return Err(StoreError::NoRoom { location: Location::from(target), op: OP, source }.into());
    }
    let copied = copy::verified(&source, &target)?;
    Ok(BackupReport { path: target, sessions: copied.sessions, messages: copied.messages, bytes: copied.bytes })
}

/// Returns the path of the copy, with all links of its folder resolved. Fails if the copy can't be made there.
fn place(store: &Path, target: &Path) -> Result<PathBuf, StoreError> {
    let refused = |problem: TargetProblem| Err(StoreError::no_target(target, Purpose::Backup, problem));
    let Some(name) = target.file_name().filter(|_| !target.as_os_str().as_encoded_bytes().ends_with(b"/")) else {
        return refused(TargetProblem::Folder);
    };
    let folder = match folder_of(target).canonicalize() {
        Ok(folder) if folder.is_dir() => folder,
        Ok(_) => return refused(TargetProblem::NotInFolder),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return refused(TargetProblem::FolderAbsent);
        }
        Err(error) => return refused(TargetProblem::NotMade { cause: error.to_string() }),
    };
    let whole = folder.join(name);
    if is_of_the_store(store, &whole) {
        return refused(TargetProblem::OfStore);
    }
    if let Ok(found) = std::fs::symlink_metadata(&whole) {
        return if found.is_dir() {
            refused(TargetProblem::Folder)
        } else if found.is_symlink() {
            refused(TargetProblem::Link)
        } else {
            refused(TargetProblem::Exists)
        };
    }
    // SQLite would take a WAL or journal of this name for the copy's own, and play it back into it.
    for suffix in ["-wal", "-journal"] {
        if std::fs::symlink_metadata(beside(&whole, suffix)).is_ok() {
            return refused(TargetProblem::BesideOther { suffix: suffix.to_owned(), moves: Vec::new() });
        }
    }
    if let Err(error) = rustix::fs::access(&folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK) {
        return refused(TargetProblem::NotMade { cause: error.to_string() });
    }
    Ok(whole)
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

/// Returns whether a path is the store's file, or one of the files that SQLite or we keep beside it.
fn is_of_the_store(store: &Path, target: &Path) -> bool {
    let (Ok(folder), Some(name)) = (folder_of(store).canonicalize(), store.file_name()) else { return false };
    let file = folder.join(name);
    let kept = beside(&file, ".backup-v");
    let is_kept = target.as_os_str().as_encoded_bytes().strip_prefix(kept.as_os_str().as_encoded_bytes());
    ["", "-wal", "-shm", "-journal", ".queue"].iter().any(|suffix| beside(&file, suffix) == *target)
        || is_kept.is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_digit))
}
