//! The store: each call of the contract is one job on one of the threads.

mod gateway;
mod maintenance;

use crate::budget::Budget;
use crate::connection::Access;
use crate::database::Database;
use crate::error::Failure;
use crate::fresh::Decides;
use crate::notice::Notice;
use crate::options::Adopt;
use crate::presence::Presence;
use crate::worker::{OpenLater, Workers, Writing};
use crate::writer::Settings;
use crate::{
    SqliteOptions, connection, damage, deletion, fresh, lineage, listing, messages, meta, optimize, place, row, search,
    sessions, titles, usage,
};
use async_trait::async_trait;
use hermes_session::search::{SearchAnswer, SearchRequest, SearchStore};
use hermes_session::{
    Counts, Deleted, EndReason, Ensured, Lineage, ListRequest, Listing, Message, MessageId, MessageRequest, NewChild,
    NewMessage, NewSession, ReadOnlyReason, Request, Session, SessionFilter, SessionId, SessionPatch, SessionStore,
    StoreError, Title, Titled, UsageUpdate, checked_meta_key, checked_prefix,
};
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
    /// Says that the store is open, to whoever would take our tables out; the last thing that goes.
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
                let location = path.display().to_string();
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
            background: options.background.then_some(crate::maintenance::BACKGROUND),
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
            let location = path.display().to_string();
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

    /// Deletes what goes with a session, step by step.
    async fn delete(
        &self,
        id: &SessionId,
        extent: deletion::Extent,
        fingerprint: String,
        request: &Request,
    ) -> Result<Deleted, StoreError> {
        let (id, request) = (id.clone(), request.clone());
        let work = move |database: &Database| deletion::begin(database, &id, extent, &fingerprint, &request);
        let (deleted, is_over) = self.workers.write("delete a conversation", work).await?;
        if !is_over {
            self.finish_deletions().await;
        }
        Ok(deleted)
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

#[async_trait]
impl SessionStore for SqliteStore {
    async fn create(&self, session: &NewSession, request: &Request) -> Result<(), StoreError> {
        let (session, request) = (session.clone().checked()?, request.clone());
        let id = session.id.clone();
        self.make("create a session", id, move |database| sessions::create(database, &session, &request)).await
    }

    async fn ensure(&self, session: &NewSession, request: &Request) -> Result<Ensured, StoreError> {
        let (session, request) = (session.clone().checked()?, request.clone());
        let id = session.id.clone();
        self.make("ensure a session", id, move |database| sessions::ensure(database, &session, &request)).await
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        let id = id.clone();
        self.workers.read_short("read a session", move |database| row::session(database, &id)).await
    }

    async fn sessions(&self, ids: &[SessionId]) -> Result<Vec<Session>, StoreError> {
        let ids = ids.to_vec();
        let is_short = ids.len() <= SHORT as usize;
        let work = move |database: &Database| {
            ids.iter().filter_map(|id| row::session(database, id).transpose()).collect::<Result<_, Failure>>()
        };
        if is_short {
            self.workers.read_short("read sessions", work).await
        } else {
            self.workers.read("read sessions", work).await
        }
    }

    async fn update(&self, id: &SessionId, patch: &SessionPatch, request: &Request) -> Result<(), StoreError> {
        let (id, patch, request) = (id.clone(), patch.clone().checked()?, request.clone());
        self.workers.write("change a session", move |database| sessions::update(database, &id, &patch, &request)).await
    }

    async fn end(&self, id: &SessionId, reason: &EndReason, request: &Request) -> Result<bool, StoreError> {
        let (id, reason, request) = (id.clone(), reason.clone(), request.clone());
        self.workers.write("end a session", move |database| sessions::end(database, &id, &reason, &request)).await
    }

    async fn reopen(&self, id: &SessionId, request: &Request) -> Result<bool, StoreError> {
        let (id, request) = (id.clone(), request.clone());
        self.workers.write("reopen a session", move |database| sessions::reopen(database, &id, &request)).await
    }

    async fn set_title(&self, id: &SessionId, title: Option<&Title>, request: &Request) -> Result<(), StoreError> {
        let (id, title, request) = (id.clone(), title.cloned(), request.clone());
        self.workers.write("set a title", move |database| titles::set(database, &id, title.as_ref(), &request)).await
    }

    async fn allocate_title(&self, id: &SessionId, base: &Title, request: &Request) -> Result<Title, StoreError> {
        let (id, base, request) = (id.clone(), base.clone(), request.clone());
        self.workers.write("allocate a title", move |database| titles::allocate(database, &id, &base, &request)).await
    }

    async fn split(
        &self,
        parent: &SessionId,
        child: &NewChild,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Option<Title>, StoreError> {
        let (parent, child, messages, request) =
            (parent.clone(), child.clone(), NewMessage::checked_all(messages)?, request.clone());
        let id = child.id.clone();
        let work = move |database: &Database| lineage::split(database, &parent, &child, &messages, &request);
        self.make("carry a session on", id, work).await
    }

    async fn branch(
        &self,
        parent: &SessionId,
        child: &NewChild,
        request: &Request,
    ) -> Result<Option<Title>, StoreError> {
        let (parent, child, request) = (parent.clone(), child.clone(), request.clone());
        let id = child.id.clone();
        let work = move |database: &Database| lineage::branch(database, &parent, &child, &request);
        self.make("branch a session", id, work).await
    }

    async fn append(
        &self,
        id: &SessionId,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError> {
        let (id, messages, request) = (id.clone(), NewMessage::checked_all(messages)?, request.clone());
        let work = move |database: &Database| messages::append(database, &id, &messages, &request);
        self.workers.write("append messages", work).await
    }

    async fn replace(
        &self,
        id: &SessionId,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError> {
        let (id, messages, request) = (id.clone(), NewMessage::checked_all(messages)?, request.clone());
        self.workers
            .write("replace messages", move |database| messages::replace(database, &id, &messages, &request))
            .await
    }

    async fn messages(&self, id: &SessionId, request: &MessageRequest) -> Result<Vec<Message>, StoreError> {
        let (id, request) = (id.clone(), *request);
        let work = move |database: &Database| messages::read(database, &id, &request);
        if request.limit <= SHORT {
            self.workers.read_short("read messages", work).await
        } else {
            self.workers.read("read messages", work).await
        }
    }

    async fn around(&self, places: &[(SessionId, MessageId)]) -> Result<Vec<Vec<Message>>, StoreError> {
        let places = places.to_vec();
        let is_short = places.len() <= SHORT as usize;
        let work = move |database: &Database| {
            places.iter().map(|(id, place)| messages::around(database, id, *place)).collect::<Result<_, Failure>>()
        };
        if is_short {
            self.workers.read_short("read messages", work).await
        } else {
            self.workers.read("read messages", work).await
        }
    }

    async fn record_usage(&self, id: &SessionId, update: &UsageUpdate, request: &Request) -> Result<(), StoreError> {
        let (id, update, request) = (id.clone(), update.clone(), request.clone());
        self.workers.write("record usage", move |database| usage::record(database, &id, &update, &request)).await
    }

    async fn list(&self, request: &ListRequest) -> Result<Listing, StoreError> {
        let request = request.clone();
        let limit = request.page.limit();
        let work = move |database: &Database| listing::list(database, &request);
        let (listing, mend) = if limit <= SHORT {
            self.workers.read_short("list sessions", work).await?
        } else {
            self.workers.read("list sessions", work).await?
        };
        if mend {
            // The list is right as it is; the next one need not look so far.
            self.workers.nudge();
        }
        Ok(listing)
    }

    async fn counts(&self, filter: &SessionFilter) -> Result<Counts, StoreError> {
        let filter = filter.clone();
        self.workers.read("count sessions", move |database| listing::counts(database, &filter)).await
    }

    async fn lineage(&self, id: &SessionId) -> Result<Lineage, StoreError> {
        let id = id.clone();
        self.workers.read_short("read a lineage", move |database| lineage::read(database, &id)).await
    }

    async fn ids_with_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let prefix = checked_prefix(prefix)?;
        self.workers
            .read_short("look up ids", move |database| sessions::ids_with_prefix(database, &prefix, limit))
            .await
    }

    async fn titled(&self, title: &str) -> Result<Vec<Titled>, StoreError> {
        let title = title.to_owned();
        self.workers.read_short("look up titles", move |database| titles::lineage_of(database, &title)).await
    }

    async fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let key = key.to_owned();
        self.workers.read_short("read a value", move |database| meta::read(database, &key)).await
    }

    async fn set_meta(&self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        let (key, value) = (checked_meta_key(key)?, value.map(str::to_owned));
        self.workers.write("keep a value", move |database| meta::write(database, &key, value.as_deref())).await
    }
}

#[async_trait]
impl SearchStore for SqliteStore {
    async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, StoreError> {
        let request = request.clone();
        let work = move |database: &Database| {
            fresh::read(database, Decides::ByPlace, |database| search::search(database, &request))
        };
        let answer = self.workers.read("search messages", work).await?;
        if answer.served.unindexed > 0 {
            // The agent may be the only one that writes here, and fills no index of ours: whoever searches has them filled.
            self.workers.nudge();
        }
        Ok(answer)
    }
}
