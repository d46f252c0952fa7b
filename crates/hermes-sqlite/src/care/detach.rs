//! Removes everything of ours from a file, which is then as if only the agent had ever used it.
//!
//! It runs in short steps, so that agents can keep writing: unfinished work is completed, the data that only our tables
//! hold is written to a file, relations that the agent can't see are written where it looks for them, its indexes are
//! built beside ours and swapped in, and our large tables are emptied. Until then the file serves us and the agent, and
//! an interrupted run is continued by the next one. The last transaction removes the rest.

mod holdings;
mod keep;
mod relations;
mod remove;
mod settle;

pub use holdings::Holdings;

use crate::care::optimize;
use crate::error::{Circumstances, Failure};
use crate::index::indexes;
use crate::index::indexes::Progress;
use crate::open::presence::{self, Presence};
use crate::open::{connection, damage, place, schema};
use crate::write::database::Database;
use crate::write::queue;
use crate::{SqliteOptions, SqliteStore};
use hermes_session::{Location, Refusal, StoreError};
use relations::Relations;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const OP: &str = "detach the store";

/// Phase of detaching, with its progress if known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DetachPhase {
    /// Unfinished deletions, imports and indexing are completed.
    Finishing,
    /// Data that only our tables hold is written to a file.
    Keeping {
        /// Conversations of the trash that are written.
        done: u64,
        /// All of them.
        total: u64,
    },
    /// Relations are written where the agent sees them.
    Relating,
    /// The agent's indexes are built.
    Indexing {
        /// Messages by id, from the first.
        done: u64,
        /// The last of them.
        total: u64,
    },
    /// Our tables are emptied and removed.
    Removing,
}

/// Outcome of detaching.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detaching {
    /// There is nothing of ours in the file.
    NothingOfOurs,
    /// It was asked to stop. The file can be used, and the next run continues.
    Stopped {
        /// The file with the data that only our tables held, if it was written.
        kept: Option<PathBuf>,
    },
    /// Nothing of ours is left in it.
    Done(Detached),
}

/// The changes made to a file that has no objects of ours any more.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Detached {
    /// The data that only our tables held.
    pub holdings: Holdings,
    /// The file that it was written to, if there was any and a file was requested.
    pub kept: Option<PathBuf>,
    /// Number of sessions that got `_branched_from` or `_delegate_from`.
    pub relations: u64,
    /// Sessions whose settings are not a JSON object, so that the relation could not be written.
    pub relations_left: Vec<String>,
    /// How many tables, indexes, views and triggers of ours were removed.
    pub objects: u64,
    /// Copies of the store that were kept before it was changed. They are left alone.
    pub backups: Vec<PathBuf>,
}

/// Counts the data of a file that only our tables hold. Returns `None` if nothing of ours is in it. Changes nothing.
///
/// # Errors
/// If the file can't be opened or read, or is another program's.
pub fn holdings(path: &Path) -> Result<Option<Holdings>, StoreError> {
    let path = &place::resolve(path)?;
    place::check(path, false)?;
    connection::set_deadline(SqliteOptions::default().wait);
    at(path, || {
        let connection = connection::open_plain_read_only(path)?;
        let is_ours = schema::is_in_use(&connection, path)? || !schema::objects(&connection)?.is_empty();
        Ok(if is_ours { Some(holdings::count(&connection)?) } else { None })
    })
}

/// Removes everything of ours from a file. Data that only our tables hold is written to `keep` first, if there is any;
/// it is discarded if `keep` is `None`. `watch` gets each phase and returns whether to continue.
///
/// # Errors
/// `Refused` if another process of ours has the file open, if inbox or outbox rows or open turns are left, if the
/// agent's tables are damaged, or if the file can't be written. The file can be used as before then.
pub async fn detach(
    path: &Path,
    options: &SqliteOptions,
    keep: Option<&Path>,
    watch: &mut (dyn FnMut(DetachPhase) -> bool + Send),
) -> Result<Detaching, StoreError> {
    let path = &place::resolve(path)?;
    let is_ours = holdings(path)?.is_some();
    let Some(alone) = Presence::exclusive(path) else { return Err(in_use(path)) };
    clear_parts(path);
    if !is_ours {
        clear_beside(path, &alone);
        return Ok(Detaching::NothingOfOurs);
    }
    let options = SqliteOptions { background: false, create: false, read_only: false, ..options.clone() };
    let store = SqliteStore::open_alone(path, &options)?;
    let outcome = run(path, &store, options.wait, keep, watch).await;
    drop(store);
    if matches!(outcome, Ok(Detaching::Done(_))) {
        clear_beside(path, &alone);
    }
    drop(alone);
    outcome
}

async fn run(
    path: &Path,
    store: &SqliteStore,
    wait: Duration,
    keep: Option<&Path>,
    watch: &mut (dyn FnMut(DetachPhase) -> bool + Send),
) -> Result<Detaching, StoreError> {
    let mut kept = None;
    let mut detached = Detached { backups: backups(path), ..Detached::default() };
    detached.objects = store.workers.read(OP, |database| Ok(schema::objects(database)?.len() as u64)).await?;
    let location = path.to_owned();
    store.workers.read(OP, move |database| refuse(database, &location)).await?;
    loop {
        while store.workers.write(OP, settle::step).await? {
            if !watch(DetachPhase::Finishing) {
                return Ok(Detaching::Stopped { kept });
            }
        }
        if kept.is_none() {
            let holdings = store.workers.read(OP, |database| Ok(holdings::count(database)?)).await?;
            kept = keep.filter(|_| !holdings.is_empty()).map(free_name);
            if let Some(target) = &kept {
                connection::set_deadline(wait);
                let mut progress = |done| _ = watch(DetachPhase::Keeping { done, total: holdings.trashed });
                at(path, || keep::write(&Database::fresh(connection::open_beside(path)?)?, target, &mut progress))?;
            }
            detached.holdings = holdings;
        }
        let mut relations = Relations::default();
        while !relations.is_over {
            let so_far = relations.clone();
            relations = store.workers.write(OP, move |database| relations::step(database, so_far.clone())).await?;
            if !watch(DetachPhase::Relating) {
                return Ok(Detaching::Stopped { kept });
            }
        }
        detached.relations += relations.written;
        detached.relations_left = relations.left;
        loop {
            let phase = match store.workers.write(OP, index_step).await? {
                (Progress::Done, ..) => break,
                (Progress::Clearing, ..) => DetachPhase::Indexing { done: 0, total: 0 },
                (Progress::Built { .. }, done, total) => DetachPhase::Indexing { done, total },
            };
            if !watch(phase) {
                return Ok(Detaching::Stopped { kept });
            }
        }
        while store.workers.write(OP, |database| remove::empty_step(database).map_err(indexes::elsewhere)).await? {
            if !watch(DetachPhase::Removing) {
                return Ok(Detaching::Stopped { kept });
            }
        }
        let remove = |database: &Database| remove::all(database).map_err(indexes::elsewhere);
        if store.workers.write(OP, remove).await? {
            detached.kept = kept;
            return Ok(Detaching::Done(detached));
        }
    }
}

/// Builds the next part of the agent's indexes. Returns the progress, and how many of how many ids are done.
fn index_step(database: &Database) -> Result<(Progress, u64, u64), Failure> {
    let progress = indexes::agents_step(database)?;
    let Progress::Built { up_to } = progress else { return Ok((progress, 0, 0)) };
    let (first, last) = optimize::bounds(database)?;
    Ok((progress, up_to.abs_diff(first), last.abs_diff(first)))
}

/// Fails if the store can't be detached: damage, an unfinished erase, or rows that wait for a process of ours.
fn refuse(database: &Database, path: &Path) -> Result<(), Failure> {
    if let Some(what) = damage::in_agents_tables(database) {
        return Err(Failure::Damaged(what));
    }
    let refused = |refusal: Refusal| Err(StoreError::refused(path, refusal).into());
    if schema::is_erasing(database)? {
        return refused(Refusal::BeingErased);
    }
    match holdings::waiting(database)? {
        Some(what) => refused(Refusal::NotSettled { what }),
        None => Ok(()),
    }
}

fn in_use(path: &Path) -> StoreError {
    StoreError::refused(path, Refusal::InUseByUs { holders: presence::holders(path) })
}

/// Removes our lock files beside a store. The caller must hold the exclusive lock.
fn clear_beside(path: &Path, alone: &Presence) {
    queue::remove(path);
    // Without the lock the file is not ours.
    if alone.is_held() {
        presence::remove(path);
    }
}

/// Removes the part files that killed runs left. The caller must hold the exclusive lock.
fn clear_parts(path: &Path) {
    let Some(name) = path.file_name() else { return };
    let start = format!("{}.detached-", name.to_string_lossy());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_part =
            |rest: &str| rest.split_once(".jsonl.part-").is_some_and(|(_, process)| process.parse::<u32>().is_ok());
        if name.to_string_lossy().strip_prefix(&start).is_some_and(is_part) {
            _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Returns the copies of a store that were kept beside it, sorted.
fn backups(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name() else { return Vec::new() };
    let start = format!("{}.backup-v", name.to_string_lossy());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&start))
        .map(|entry| folder.join(entry.file_name()))
        .collect();
    found.sort();
    found
}

/// Returns a name that no file has: a run that was interrupted in the same second may have left a file.
fn free_name(wanted: &Path) -> PathBuf {
    let text = wanted.to_string_lossy();
    let stem = text.strip_suffix(".jsonl").unwrap_or(&text);
    let next = |number: u32| PathBuf::from(format!("{stem}-{number}.jsonl"));
    let is_free = |path: &PathBuf| std::fs::symlink_metadata(path).is_err();
    std::iter::once(wanted.to_owned()).chain((2..100).map(next)).find(is_free).unwrap_or_else(|| wanted.to_owned())
}

fn at<T>(path: &Path, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, StoreError> {
    let (start, location) = (Instant::now(), Location::from(path));
    work().map_err(|failure| {
        failure.into_store_error(Circumstances { op: OP, waited: start.elapsed(), location: &location })
    })
}
