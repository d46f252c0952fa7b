//! A new store from what can be read of a damaged file.

mod alike;

use crate::error::{Circumstances, Failure};
use crate::options::{SqliteOptions, Synchronous};
use crate::salvage::{Salvage, salvage};
use crate::store::SqliteStore;
use crate::{connection, copy, place};
use hermes_session::transfer::{
    self, Finding, FindingKind, Progress, Proof, Proving, TransferError, TransferOptions, TransferReport,
};
use hermes_session::{Location, Maintenance as _, Purpose, StoreError, TargetProblem};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What SQLite keeps beside a file and takes for its own by the name.
const BESIDE: [&str; 3] = ["-wal", "-journal", "-shm"];
/// How long to wait for a lock on the new file. Nobody else knows of it.
const WAIT: Duration = Duration::from_secs(1);
/// How many words what was read and the new store are searched for. What was read has no indexes: each word is looked for in all of it.
const WORDS: usize = 2;

/// What is being done, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairPhase {
    /// Reads the damaged file, in pages.
    Reading,
    /// Fills the new store, in messages.
    Filling,
    /// Makes its search indexes.
    Indexing,
    /// Compares what was read with what is in the new store.
    Proving,
}

/// What a repair came to.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// What was read of the damaged file.
    pub salvage: Salvage,
    /// What became of it on its way into the new store.
    pub report: TransferReport,
    /// Whether it is there.
    pub proof: Proof,
}

/// Salvages what can be read of a damaged file into a new store at `target`, where nothing may be yet.
///
/// The damaged file, its log and its folder are only read. The new store is complete, proven and indexed when it appears under its name;
/// until then it is in a folder beside it, which is removed whatever happens.
///
/// # Errors
/// If there is nothing of a store in the file, or the new one can't be written. Damage is no error.
pub async fn repair(
    path: &Path,
    target: &Path,
    watch: &mut (dyn FnMut(RepairPhase, u64, u64) -> ControlFlow<()> + Send),
) -> Result<Repaired, TransferError> {
    place::check_readable(path)?;
    check_free(path, target)?;
    let work = Work::make(target)?;
    let scratch = work.folder.join("rows.db");
    let read = salvage(path, &scratch, &mut |done, total| watch(RepairPhase::Reading, done, total))?;
    let mut salvage = read.ok_or(TransferError::Stopped)?;
    // Brought to disk at the end, before it gets its name.
    let options = SqliteOptions { background: false, synchronous: Synchronous::Normal, ..SqliteOptions::default() };
    let made = work.folder.join("store.db");
    let (mut report, proof) = {
        let rows = SqliteStore::open(&scratch, &options)?;
        let is_newer = past_the_store(target, || alike::is_newer(&scratch))?;
        let alike = if is_newer { Some(past_the_store(target, || alike::fill(&scratch, &made))?) } else { None };
        let store = SqliteStore::open(&made, &options)?;
        let mut fill = |progress: Progress| watch(RepairPhase::Filling, progress.done, progress.total);
        let report = match alike {
            Some(report) => report,
            None => transfer::copy(&rows, &store, &TransferOptions::default(), &mut fill).await?,
        };
        while store.upkeep().await? {
            if watch(RepairPhase::Indexing, 0, 0).is_break() {
                return Err(TransferError::Stopped);
            }
        }
        let mut compare = |progress: Progress| watch(RepairPhase::Proving, progress.done, progress.total);
        let proof =
            transfer::prove(&rows, &store, Proving { told: &report.conflicts, words: WORDS }, &mut compare).await?;
        if is_newer {
            past_the_store(target, || alike::compare(&scratch, &made))?;
        }
        (report, proof)
    };
    past_the_store(target, || {
        let new = connection::open_beside(&made)?;
        salvage.settle(|table| alike::count(&new, table))
    })?;
    left_behind(&salvage, &mut report);
    past_the_store(target, || stand_alone(&made))?;
    // Somebody may have come meanwhile.
    check_free(path, target)?;
    copy::place_new(&made, target).map_err(|error| {
        let problem = TargetProblem::NotPlaced { cause: error.to_string() };
        StoreError::no_target(target, Purpose::Repaired, problem)
    })?;
    Ok(Repaired { salvage, report, proof })
}

/// Tells what was not even read.
fn left_behind(salvage: &Salvage, report: &mut TransferReport) {
    let unread = salvage
        .unread
        .iter()
        .map(|table| format!("the table {table} is not carried: how its rows are kept is not known"));
    let trash = (salvage.trashed > 0)
        .then(|| format!("what is in the trash is not carried (conversations: {})", salvage.trashed));
    for what in unread.chain(trash) {
        report.found += 1;
        report.findings.push(Finding { kind: FindingKind::Foreign, session: None, what });
    }
}

/// Refuses a place where something is, or where SQLite would take a log of that name for the new file's own and play it back into it.
fn check_free(path: &Path, target: &Path) -> Result<(), StoreError> {
    let refused = |problem: TargetProblem| Err(StoreError::no_target(target, Purpose::Repaired, problem));
    let is_there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    if is_there(target) {
        return refused(TargetProblem::Exists);
    }
    let found: Vec<&str> = BESIDE.into_iter().filter(|suffix| is_there(&place::beside(target, suffix))).collect();
    let Some(first) = found.first() else { return Ok(()) };
    let suffix = (*first).to_owned();
    // A damaged file that was given another name is to be read with what was written last.
    if found.iter().any(|suffix| is_there(&place::beside(path, suffix))) {
        return refused(TargetProblem::BesideOther { suffix, moves: Vec::new() });
    }
    let moves = found.iter().map(|suffix| (place::beside(target, suffix), place::beside(path, suffix))).collect();
    refused(TargetProblem::BesideOther { suffix, moves })
}

/// Folds the log of a file that everybody has closed. Closing does that too, but says nothing if it can't: then the end is in the log alone.
fn stand_alone(made: &Path) -> Result<(), Failure> {
    let connection = connection::open_beside(made)?;
    let mode = |mode: &str| -> Result<String, rusqlite::Error> {
        connection.pragma_update_and_check(None, "journal_mode", mode, |row| row.get(0))
    };
    let before: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let after = mode("DELETE")?;
    if after != "delete" || place::beside(made, "-wal").exists() {
        return Err(Failure::Damaged("the log of the new file could not be folded into it".into()));
    }
    if before == "wal" {
        mode("WAL")?;
    }
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// Does something with the new file past the store.
fn past_the_store<T>(target: &Path, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, StoreError> {
    let start = Instant::now();
    connection::set_deadline(WAIT);
    work().map_err(|failure| {
        let location = Location::from(target);
        failure.into_store_error(Circumstances {
            op: "make the new store",
            waited: start.elapsed(),
            location: &location,
        })
    })
}

/// A folder beside the target, for its owner alone, that goes away.
struct Work {
    folder: PathBuf,
}

impl Work {
    fn make(target: &Path) -> Result<Self, StoreError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let folder = place::beside(target, &format!(".part-{}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(|error| {
            let problem = TargetProblem::NotMade { cause: error.to_string() };
            StoreError::no_target(target, Purpose::Repaired, problem)
        })?;
        Ok(Self { folder })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// A file whose log holds a row, as a close leaves it that could not fold it.
    fn unfolded(folder: &Path) -> PathBuf {
        let (path, made) = (folder.join("open.db"), folder.join("store.db"));
        let writer = connection::open_new(&path).unwrap();
        writer.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
        writer.execute_batch("CREATE TABLE t (a); PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (1)").unwrap();
        for suffix in ["", "-wal"] {
            let (from, to) = (place::beside(&path, suffix), place::beside(&made, suffix));
            // Not by this process: closing the file here would drop locks.
            assert!(std::process::Command::new("cp").args([from, to]).status().unwrap().success());
        }
        made
    }

    fn rows(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn what_only_the_log_holds_is_in_the_file_before_it_gets_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let made = unfolded(folder.path());
        stand_alone(&made).unwrap();
        assert!(!place::beside(&made, "-wal").exists());
        let alone = folder.path().join("alone.db");
        std::fs::rename(&made, &alone).unwrap();
        let connection = connection::open_beside(&alone).unwrap();
        assert_eq!(rows(&connection), 1);
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }

    #[test]
    fn a_log_that_can_not_be_folded_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let made = unfolded(folder.path());
        let reader = connection::open_beside(&made).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        assert_eq!(rows(&reader), 1);
        assert!(stand_alone(&made).is_err());
        assert!(place::beside(&made, "-wal").exists());
    }
}
