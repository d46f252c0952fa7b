//! Taking everything of ours out of a file, so that it is as if we had never been there.
//!
//! In short steps while agents go on writing: what is under way is finished, what only we hold is written to a file, relations that the agent
//! can't see are written where it looks, its own indexes are built beside ours and swapped in, large tables of ours are emptied. Up to there
//! we and the agent can both go on with the file, and whoever runs it again goes on. The last transaction removes all the rest.

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

/// Counts what a file holds that only we know of; `None` if there is nothing of ours in it. Nothing is changed.
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

/// Takes everything of ours out of a file. What only we hold is written to `keep` first, if there is anything; nothing is kept if that is
/// `None`. `watch` hears what is being done, and says whether to go on.
///
/// # Errors
/// `Refused` if another process of ours has the file open, if something waits to be done by one, if the agent's tables are damaged, or if
/// the file can't be written. The file can be used as before then.
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

/// Builds some more of the agent's indexes. Returns how far that is.
fn index_step(database: &Database) -> Result<(Progress, u64, u64), Failure> {
    let progress = indexes::agents_step(database)?;
    let Progress::Built { up_to } = progress else { return Ok((progress, 0, 0)) };
    let (first, last) = optimize::bounds(database)?;
    Ok((progress, up_to.abs_diff(first), last.abs_diff(first)))
}

/// Sees that nothing keeps the store from being detached.
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

/// Removes the files beside a store that hold nothing. Only for whoever has it alone.
fn clear_beside(path: &Path, alone: &Presence) {
    queue::remove(path);
    // Without the lock the file is not ours.
    if alone.is_held() {
        presence::remove(path);
    }
}

/// Removes what runs that were killed left half-written of the file that keeps what only we hold. Only for whoever has the store alone.
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

/// The copies of a store that were kept beside it.
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

/// A name that nothing has: a run that was interrupted a moment ago may have left a file of the same time.
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
