//! A new store from what can be read of a damaged file.

use crate::options::{SqliteOptions, Synchronous};
use crate::salvage::{Salvage, salvage};
use crate::store::SqliteStore;
use crate::{copy, place};
use hermes_session::transfer::{self, Progress, Proof, Proving, TransferError, TransferOptions, TransferReport};
use hermes_session::{Maintenance as _, StoreError};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

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
    if std::fs::symlink_metadata(target).is_ok() {
        let (why, hint) = ("is there already".to_owned(), "choose another name, or remove it first".into());
        return Err(StoreError::Refused { path: target.to_owned(), why, hint }.into());
    }
    let work = Work::make(target)?;
    let scratch = work.folder.join("rows.db");
    let read = salvage(path, &scratch, &mut |done, total| watch(RepairPhase::Reading, done, total))?;
    let mut salvage = read.ok_or(TransferError::Stopped)?;
    // Brought to disk at the end, before it gets its name.
    let options = SqliteOptions { background: false, synchronous: Synchronous::Normal, ..SqliteOptions::default() };
    let made = work.folder.join("store.db");
    let (report, proof) = {
        let rows = SqliteStore::open(&scratch, &options)?;
        let store = SqliteStore::open(&made, &options)?;
        let mut fill = |progress: Progress| watch(RepairPhase::Filling, progress.done, progress.total);
        let report = transfer::copy(&rows, &store, &TransferOptions::default(), &mut fill).await?;
        while store.upkeep().await? {
            if watch(RepairPhase::Indexing, 0, 0).is_break() {
                return Err(TransferError::Stopped);
            }
        }
        let mut compare = |progress: Progress| watch(RepairPhase::Proving, progress.done, progress.total);
        let proof =
            transfer::prove(&rows, &store, Proving { told: &report.conflicts, words: WORDS }, &mut compare).await?;
        (report, proof)
    };
    salvage.settle("messages", report.messages);
    salvage.settle("sessions", report.sessions);
    // Closed by the last who had it, it stands alone.
    copy::place_new(&made, target).map_err(|error| StoreError::Refused {
        path: target.to_owned(),
        why: format!("can't be put into place: {error}"),
        hint: "choose another place".into(),
    })?;
    Ok(Repaired { salvage, report, proof })
}

/// A folder beside the target, for its owner alone, that goes away.
struct Work {
    folder: PathBuf,
}

impl Work {
    fn make(target: &Path) -> Result<Self, StoreError> {
        use std::os::unix::fs::DirBuilderExt as _;
        let folder = place::beside(target, &format!(".part-{}", std::process::id()));
        std::fs::DirBuilder::new().mode(0o700).create(&folder).map_err(|error| StoreError::Refused {
            path: folder.clone(),
            why: format!("can't be made: {error}"),
            hint: "choose another place for the new store".into(),
        })?;
        Ok(Self { folder })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.folder);
    }
}
