//! The store: each call of the contract is one job on one of the threads.

mod conversations;
mod gateway;
mod maintenance;
mod sessions;

use crate::SqliteOptions;
use crate::calls::deletion;
use crate::care::optimize;
use crate::error::Failure;
use crate::open::connection::Access;
use crate::open::notice::Notice;
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

/// Up to so many rows a read counts as short.
const SHORT: u32 = 1_000;

/// Sessions in a SQLite file.
///
/// Dropping it finishes what was asked for, then closes the file.
pub struct SqliteStore {
    path: PathBuf,
    pub(crate) workers: Workers,
    notices: Notices,
    /// Whether a copy was kept, or not needed, before `optimize`.
    has_copy: AtomicBool,
    /// Tells `detach` that this process has the store open. Dropped last.
    presence: Slot,
}

/// Where the presence of a store is kept: an adoption at the first write makes it.
type Slot = Arc<Mutex<Option<Presence>>>;

fn keep(slot: &Slot, presence: Presence) {
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(presence);
}

/// What there is to report about the file. An adoption at the first write adds to it.
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

/// Returns what the first write does before it writes: it opens the file for writing, and so adopts it.
fn open_later(path: &Path, options: &SqliteOptions, notices: &Notices, presence: &Slot) -> OpenLater {
    let (path, options, notices, slot) = (path.to_owned(), options.clone(), notices.clone(), Arc::clone(presence));
    Box::new(move |wait| {
        damage::refuse_marked(&path)?;
        keep(&slot, Presence::shared(&path, true, wait)?);
        let options = SqliteOptions { wait, create: false, adopt: Adopt::AtOpen, ..options.clone() };
        let opened = connection::open_writer(&path, &options)?;
        notices.add(opened.notices);
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
    /// Opens a file, or makes it with its folder, for its owner alone.
    ///
    /// # Errors
    /// `Refused` if the file is not one that we may use; `Busy` if it was locked until the deadline; nothing is written then.
    pub fn open(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        let path = &place::resolve(path)?;
        loop {
            // Whoever detaches the store is waited for, so that it is looked at afterwards.
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

    /// Does the same for whoever has the store alone.
    pub(crate) fn open_alone(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        Ok(Self::open_as(path, options)?.0)
    }

    fn open_as(path: &Path, options: &SqliteOptions) -> Result<(Self, Access), StoreError> {
        let opened = connection::open_writer(path, options)?;
        let (notices, presence) = (Notices::new(opened.notices), Slot::default());
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
                Writing::Later(open_later(path, options, &notices, &presence))
            }
        };
        let workers = Workers::start(writing, opened.reader, path, settings).map_err(|error| {
            let location = Location::from(path);
            StoreError::Backend { location, op: "start the store's threads", source: error.into() }
        })?;
        let has_copy = AtomicBool::new(false);
        Ok((Self { path: path.to_owned(), workers, notices, presence, has_copy }, opened.access))
    }

    /// Makes a session of this id, once nothing is left of a deleted one that had it. What is left goes in steps, so that others can
    /// write in between.
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

    /// Keeps a copy of a file whose full-text tables are the agent's, before `optimize` replaces them. Only once: afterwards they are ours.
    pub(crate) async fn keep_copy_before_optimizing(&self) -> Result<(), StoreError> {
        if self.has_copy.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        let path = self.path.clone();
        let work = move |database: &Database| optimize::keep_copy(database, &path);
        if let Some(copy) = self.workers.read_file("keep a copy of the store", work).await? {
            self.notices.add(vec![Notice::Replacing { what: "the agent's full-text tables", copy }]);
        }
        Ok(())
    }

    /// Takes away what is left of deleted conversations. They are deleted whatever comes of it: what fails here is upkeep's.
    pub(crate) async fn finish_deletions(&self) {
        while let Ok(false) = self.workers.write("delete a conversation", deletion::step).await {}
    }
}
