//! The store: each call of the contract is one job on one of its threads.

mod changes;
mod conversations;
mod gateway;
mod leases;
mod mail;
mod maintenance;
mod routes;
mod sessions;
mod turns;

use crate::SqliteOptions;
use crate::calls::deletion;
use crate::care::optimize;
use crate::error::Failure;
use crate::open::connection::Access;
use crate::open::notice::{CopyBefore, Notice};
use crate::open::options::Adopt;
use crate::open::presence::Presence;
use crate::open::{connection, damage, place};
use crate::write::budget::Budget;
use crate::write::database::Database;
use crate::write::worker::{OpenLater, Workers, Writing};
use crate::write::writer::Settings;
use hermes_session::{Location, ReadOnlyReason, SessionId, StoreError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of rows of a read that counts as short.
const SHORT: u32 = 1_000;

/// Sessions in a SQLite file.
///
/// Dropping it finishes pending calls, then closes the file.
pub struct SqliteStore {
    path: PathBuf,
    pub(crate) workers: Workers,
    notices: Notices,
    /// Whether a copy was kept, or not needed, before `optimize`.
    has_copy: AtomicBool,
    /// The copy of a file that is not adopted yet, until the notice of the adoption names it.
    replacing: Replacing,
    /// Shows `detach` that this process has the store open. Dropped last.
    presence: Slot,
}

/// The presence of a store, or `None` until the first write adopts the file.
type Slot = Arc<Mutex<Option<Presence>>>;

fn keep(slot: &Slot, presence: Presence) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(presence);
}

/// A copy that was kept before the agent's full-text tables are replaced, and that no notice names yet.
type Replacing = Arc<Mutex<Option<CopyBefore>>>;

fn take(slot: &Replacing) -> Option<CopyBefore> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Notices about the file. An adoption at the first write adds to them.
#[derive(Clone)]
struct Notices(Arc<Mutex<Vec<String>>>);

impl Notices {
    fn new(notices: Vec<Notice>) -> Self {
        let new = Self(Arc::default());
        new.add(notices);
        new
    }

    fn add(&self, notices: Vec<Notice>) {
        self.lock().extend(notices.iter().map(Notice::to_string));
    }

    fn lock(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the work that precedes the first write: it opens the file for writing, and so adopts it.
fn open_later(
    path: &Path,
    options: &SqliteOptions,
    notices: &Notices,
    presence: &Slot,
    replacing: &Replacing,
) -> OpenLater {
    let (path, options, notices, slot) = (path.to_owned(), options.clone(), notices.clone(), Arc::clone(presence));
    let replacing = Arc::clone(replacing);
    Box::new(move |wait| {
        damage::refuse_marked(&path)?;
        keep(&slot, Presence::shared(&path, true, wait)?);
        let options = SqliteOptions { wait, create: false, adopt: Adopt::AtOpen, ..options.clone() };
        let opened = connection::open_writer(&path, &options)?;
        notices.add(match take(&replacing) {
            Some(copy) => Notice::with_replaced(opened.notices, copy),
            None => opened.notices,
        });
        match opened.writer {
            Some(writer) => Ok((writer, opened.queue)),
            None => {
                let location = Location::from(&path);
                Err(StoreError::ReadOnly { op: "write", location, reason: ReadOnlyReason::NotWritable })
            }
        }
    })
}

impl SqliteStore {
    /// Opens a file. Creates it and its folder, accessible to the owner only, if `options` allow it.
    ///
    /// # Errors
    /// `Refused` if the file is not one that we may use; `Busy` if it was locked until the deadline. Nothing is written
    /// then.
    pub fn open(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        let path = &place::resolve(path)?;
        loop {
            // Waits for a process that is detaching the store, so that the file is inspected afterwards.
            let known = Presence::shared(path, false, options.wait)?;
            let (store, access) = Self::open_as(path, options)?;
            if known.is_held() || access != Access::Write {
                keep(&store.presence, known);
                return Ok(store);
            }
            let made = Presence::shared(path, true, options.wait)?;
            if !made.has_waited() {
                keep(&store.presence, made);
                return Ok(store);
            }
        }
    }

    /// Opens a file like [`Self::open`], for a caller that already has the store to itself.
    pub(crate) fn open_alone(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        Ok(Self::open_as(path, options)?.0)
    }

    fn open_as(path: &Path, options: &SqliteOptions) -> Result<(Self, Access), StoreError> {
        let opened = connection::open_writer(path, options)?;
        let (notices, presence) = (Notices::new(opened.notices), Slot::default());
        let replacing = Replacing::default();
        let settings = Settings {
            wait: options.wait,
            synchronous: options.synchronous,
            background: options.background.then_some(crate::calls::maintenance::BACKGROUND),
            sync: std::fs::File::sync_data,
            index_at_close: options.index_at_close.clone(),
        };
        let writing = match (opened.writer, opened.access) {
            (Some(writer), _) => Writing::Now(Box::new((writer, opened.queue))),
            (None, Access::ReadOnly(reason)) => Writing::Never(reason),
            (None, Access::Write | Access::WriteLater) => {
                Writing::Later(open_later(path, options, &notices, &presence, &replacing))
            }
        };
        let workers = Workers::start(writing, opened.reader, path, settings).map_err(|error| {
            let location = Location::from(path);
            StoreError::Backend { location, op: "start the store's threads", source: error.into() }
        })?;
        let has_copy = AtomicBool::new(false);
        Ok((Self { path: path.to_owned(), workers, notices, presence, has_copy, replacing }, opened.access))
    }

    /// Creates a session with this id, once no rows of a deleted session with the same id are left. Those rows are
    /// removed in steps, so that other writers get their turn in between.
    async fn make<T: Send + 'static>(
        &self,
        op: &'static str,
        id: SessionId,
        work: impl Fn(&Database) -> Result<T, Failure> + Send + Sync + 'static,
    ) -> Result<T, StoreError> {
        let work = Arc::new((id, work));
        loop {
            let work = Arc::clone(&work);
            let job = move |database: &Database| match deletion::clear(database, &work.0, &mut Budget::step())? {
                true => (work.1)(database).map(Some),
                false => Ok(None),
            };
            if let Some(made) = self.workers.write(op, job).await? {
                return Ok(made);
            }
        }
    }

    /// Keeps a copy of a file whose full-text tables are the agent's, before `optimize` replaces them. Runs only once
    /// per store: afterwards the tables are ours.
    pub(crate) async fn keep_copy_before_optimizing(&self) -> Result<(), StoreError> {
        if self.has_copy.load(Ordering::Acquire) {
            return Ok(());
        }
        // Before the copy: it would fail for a reason that says less.
        self.workers.may_write("optimize the store")?;
        damage::refuse_marked(&self.path)?;
        if self.has_copy.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let path = self.path.clone();
        let work = move |database: &Database| optimize::keep_copy(database, &path);
        if let Some(copy) = self.workers.read_file("keep a copy of the store", work).await? {
            if self.workers.is_deferred() {
                *self.replacing.lock().unwrap_or_else(PoisonError::into_inner) = Some(copy);
            } else {
                self.notices.add(Notice::with_replaced(Vec::new(), copy));
            }
        }
        Ok(())
    }

    /// Removes the remaining rows of deleted conversations. A failure is ignored: the conversations count as deleted,
    /// and upkeep continues.
    pub(crate) async fn finish_deletions(&self) {
        while let Ok(false) = self.workers.write("delete a conversation", deletion::step).await {}
    }
}
