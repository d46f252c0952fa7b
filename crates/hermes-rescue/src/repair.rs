//! Makes a new store from the salvaged rows of a damaged file, and proves it.

mod alike;

use crate::salvage::{Salvage, salvage};
use hermes_session::transfer::{
    self, Finding, FindingKind, Progress, Proof, Proving, TransferError, TransferOptions, TransferReport,
};
use hermes_session::{Maintenance as _, Purpose, StoreError, TargetProblem};
use hermes_sqlite::file::{self, Failure, beside};
use hermes_sqlite::{SqliteOptions, SqliteStore, Synchronous};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The suffixes of files beside a database that SQLite takes for its own by their name.
const BESIDE: [&str; 3] = ["-wal", "-journal", "-shm"];
/// How long to wait for a lock on the new file, which no other program knows.
const WAIT: Duration = Duration::from_secs(1);
/// How many words the proof searches for. The salvaged rows have no indexes: each search scans all of them.
const WORDS: usize = 2;

/// A phase of a repair, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RepairPhase {
    /// Reads the damaged file, in pages.
    Reading,
    /// Fills the new store, in messages.
    Filling,
    /// Builds its search indexes.
    Indexing,
    /// Compares the salvaged rows with the new store.
    Proving,
}

/// The outcome of a repair.
#[derive(Debug, Clone)]
pub struct Repaired {
    /// The rows that were salvaged from the damaged file.
    pub salvage: Salvage,
    /// Counts of copied sessions and messages, with the findings of the copy.
    pub report: TransferReport,
    /// The comparison of the two.
    pub proof: Proof,
}

/// Salvages a damaged file into a new store at `target`, which must not exist.
///
/// The damaged file, its WAL and its folder are only read. The new store is complete, proven and indexed when it
/// appears under its name; until then it is in a folder beside it, which is always removed.
///
/// # Errors
/// If the file holds nothing of a store, or the new one can't be written. Damage is no error.
pub async fn repair(
    path: &Path,
    target: &Path,
    watch: &mut (dyn FnMut(RepairPhase, u64, u64) -> ControlFlow<()> + Send),
) -> Result<Repaired, TransferError> {
    file::check_readable(path)?;
    check_free(path, target)?;
    let work = Work::make(target)?;
    let scratch = work.folder.join("rows.db");
    let read = salvage(path, &scratch, &mut |done, total| watch(RepairPhase::Reading, done, total))?;
    let mut salvage = read.ok_or(TransferError::Stopped)?;
    let Salvage { pages, damaged, wal_frames, damaged_frames, stray_rows, has_guessed, .. } = salvage;
    tracing::info!(pages, damaged, wal_frames, damaged_frames, stray_rows, has_guessed, "damaged file salvaged");
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
            transfer::prove(&rows, &store, Proving { reported: &report.conflicts, words: WORDS }, &mut compare).await?;
        if is_newer {
            past_the_store(target, || alike::compare(&scratch, &made))?;
        }
        (report, proof)
    };
    past_the_store(target, || {
        let new = file::open_beside(&made)?;
        salvage.settle(|table| alike::count(&new, table))
    })?;
    left_behind(&salvage, &mut report);
    past_the_store(target, || stand_alone(&made))?;
    // Another program may have created it meanwhile.
    check_free(path, target)?;
    file::place_new(&made, target).map_err(|error| {
        let problem = TargetProblem::NotPlaced { cause: error.to_string() };
        StoreError::no_target(target, Purpose::Repaired, problem)
    })?;
    Ok(Repaired { salvage, report, proof })
}

/// Adds tables and trashed conversations that were not salvaged to the report.
fn left_behind(salvage: &Salvage, report: &mut TransferReport) {
    let unread = salvage
        .unread
        .iter()
        .map(|table| format!("the table {table} is not copied: the layout of its rows is unknown"));
    let trash = (salvage.trashed > 0).then(|| format!("the trash is not copied (conversations: {})", salvage.trashed));
    for what in unread.chain(trash) {
        report.found += 1;
        report.findings.push(Finding { kind: FindingKind::Foreign, session: None, what });
    }
}

/// Refuses a path that exists, or beside which SQLite would find a WAL or journal and play it back into the new file.
fn check_free(path: &Path, target: &Path) -> Result<(), StoreError> {
    let refused = |problem: TargetProblem| Err(StoreError::no_target(target, Purpose::Repaired, problem));
    let is_there = |path: &Path| std::fs::symlink_metadata(path).is_ok();
    if is_there(target) {
        return refused(TargetProblem::Exists);
    }
    let found: Vec<&str> = BESIDE.into_iter().filter(|suffix| is_there(&beside(target, suffix))).collect();
    let Some(first) = found.first() else { return Ok(()) };
    let suffix = (*first).to_owned();
    // A damaged file that was renamed has to be read with its own WAL.
    if found.iter().any(|suffix| is_there(&beside(path, suffix))) {
        return refused(TargetProblem::BesideOther { suffix, moves: Vec::new() });
    }
    let moves = found.iter().map(|suffix| (beside(target, suffix), beside(path, suffix))).collect();
    refused(TargetProblem::BesideOther { suffix, moves })
}

/// Checkpoints the WAL of a file that is open nowhere. Closing does that too, but does not report a failure, which
/// would leave the newest rows in the WAL alone.
fn stand_alone(made: &Path) -> Result<(), Failure> {
    let connection = file::open_beside(made)?;
    let mode = |mode: &str| -> Result<String, rusqlite::Error> {
        connection.pragma_update_and_check(None, "journal_mode", mode, |row| row.get(0))
    };
    let before: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    let after = mode("DELETE")?;
    if after != "delete" || beside(made, "-wal").exists() {
        return Err(Failure::Damaged("the WAL of the new file could not be copied into it".into()));
    }
    if before == "wal" {
        mode("WAL")?;
    }
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}

/// Runs work on the new file past the store.
fn past_the_store<T>(target: &Path, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, StoreError> {
    file::run(target, "create the new store", WAIT, work)
}

/// A folder beside the target, for its owner alone. It is removed on drop.
struct Work {
    folder: PathBuf,
}

impl Work {
    fn make(target: &Path) -> Result<Self, StoreError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let folder = beside(target, &format!(".part-{}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(|error| {
            let problem = TargetProblem::NotMade { cause: error.to_string() };
            StoreError::no_target(target, Purpose::Repaired, problem)
        })?;
        Ok(Self { folder })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            tracing::warn!(folder = ?self.folder, %error, "folder with salvaged rows not removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;

    /// A file whose WAL holds a row, as a close leaves it that could not checkpoint.
    fn with_wal(folder: &Path) -> PathBuf {
        let (path, made) = (folder.join("open.db"), folder.join("store.db"));
        let writer = file::open_new(&path).unwrap();
        writer.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
        writer.execute_batch("CREATE TABLE t (a); PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (1)").unwrap();
        for suffix in ["", "-wal"] {
            let (from, to) = (beside(&path, suffix), beside(&made, suffix));
            // Not by this process: closing the file here would drop locks.
            assert!(std::process::Command::new("cp").args([from, to]).status().unwrap().success());
        }
        made
    }

    fn rows(connection: &Connection) -> i64 {
        connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn rows_of_the_wal_are_in_the_file_before_it_gets_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let made = with_wal(folder.path());
        stand_alone(&made).unwrap();
        assert!(!beside(&made, "-wal").exists());
        let alone = folder.path().join("alone.db");
        std::fs::rename(&made, &alone).unwrap();
        let connection = file::open_beside(&alone).unwrap();
        assert_eq!(rows(&connection), 1);
        let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }

    #[test]
    fn a_wal_that_can_not_be_checkpointed_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let made = with_wal(folder.path());
        let reader = file::open_beside(&made).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        assert_eq!(rows(&reader), 1);
        assert!(stand_alone(&made).is_err());
        assert!(beside(&made, "-wal").exists());
    }
}
