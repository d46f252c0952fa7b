//! The store: each call of the contract is one job on one of the threads.

use crate::budget::Budget;
use crate::chores::Background;
use crate::database::Database;
use crate::error::Failure;
use crate::notice::Notice;
use crate::worker::Workers;
use crate::writer::Settings;
use crate::{
    SqliteOptions, backup, connection, deletion, foreign, handoffs, import, indexes, insights, lineage, listing,
    maintenance, messages, meta, optimize, recount, row, search, sessions, statistics, titles, topics, usage, verify,
};
use async_trait::async_trait;
use hermes_session::gateway::{Claim, GatewayStore, Handoff, HandoffEnd};
use hermes_session::import::{ImportPiece, Imported, checked_link};
use hermes_session::retention::{Pruned, RetentionPolicy};
use hermes_session::search::{SearchAnswer, SearchRequest, SearchStore};
use hermes_session::{
    BackupReport, Counts, Deleted, EndReason, Ensured, Foreign, Insights, InsightsRequest, Lineage, ListRequest,
    Listing, Maintenance, Message, MessageId, MessageRequest, NewChild, NewMessage, NewSession, Optimizing, Relation,
    Report, Request, Room, Session, SessionFilter, SessionId, SessionPatch, SessionStore, Statistics, StoreError,
    StoreStatus, Timestamp, Title, Titled, TopicBinding, TopicChange, TopicMode, Topics, TopicsImported, UsageUpdate,
    change, checked_meta_key, checked_prefix,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Up to so many rows a read counts as short.
const SHORT: u32 = 1_000;

/// Sessions in a SQLite file.
///
/// Dropping it finishes what was asked for, then closes the file.
pub struct SqliteStore {
    path: PathBuf,
    pub(crate) workers: Workers,
    notices: Vec<String>,
}

impl SqliteStore {
    /// Opens a file, or makes it with its folder, for its owner alone.
    ///
    /// # Errors
    /// `Refused` if the file is not one that we may use; `Busy` if it was locked until the deadline; nothing is written then.
    pub fn open(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        let opened = connection::open_writer(path, options)?;
        let settings = Settings {
            wait: options.wait,
            synchronous: options.synchronous,
            background: if options.background { maintenance::BACKGROUND } else { Background::NONE },
            sync: std::fs::File::sync_data,
        };
        let workers = Workers::start(opened.writer, path, opened.queue, settings).map_err(|error| {
            let location = path.display().to_string();
            StoreError::Backend { location, op: "start the store's threads", source: error.into() }
        })?;
        let notices = opened.notices.iter().map(Notice::to_string).collect();
        Ok(Self { path: path.to_owned(), workers, notices })
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
        self.workers.read("search messages", move |database| search::search(database, &request)).await
    }
}

#[async_trait]
impl GatewayStore for SqliteStore {
    async fn request_handoff(&self, id: &SessionId, platform: &str, request: &Request) -> Result<bool, StoreError> {
        let (id, platform, request) = (id.clone(), platform.to_owned(), request.clone());
        let work = move |database: &Database| handoffs::request(database, &id, &platform, &request);
        self.workers.write("ask for a handoff", work).await
    }

    async fn claim_handoff(
        &self,
        id: &SessionId,
        lease: Duration,
        request: &Request,
    ) -> Result<Option<Claim>, StoreError> {
        let (id, request) = (id.clone(), request.clone());
        let work = move |database: &Database| handoffs::claim(database, &id, lease, &request);
        self.workers.write("take a handoff", work).await
    }

    async fn end_handoff(
        &self,
        id: &SessionId,
        claim: Option<Claim>,
        end: &HandoffEnd,
        request: &Request,
    ) -> Result<bool, StoreError> {
        let (id, end, request) = (id.clone(), end.clone(), request.clone());
        let work = move |database: &Database| handoffs::end(database, &id, claim, &end, &request);
        self.workers.write("end a handoff", work).await
    }

    async fn handoff(&self, id: &SessionId) -> Result<Option<Handoff>, StoreError> {
        let id = id.clone();
        self.workers.read_short("read a handoff", move |database| handoffs::read(database, &id)).await
    }

    async fn waiting_handoffs(&self, now: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        self.workers.read("look for handoffs", move |database| handoffs::waiting(database, now)).await
    }

    async fn change_topics(&self, change: &TopicChange, at: Timestamp) -> Result<(), StoreError> {
        change.check()?;
        let change = change.clone();
        self.workers.write("change topics", move |database| topics::change(database, &change, at)).await
    }

    async fn topic_mode(&self, chat_id: &str) -> Result<Option<TopicMode>, StoreError> {
        let chat_id = chat_id.to_owned();
        self.workers.read_short("read topics", move |database| topics::mode_of(database, &chat_id)).await
    }

    async fn topic(&self, chat_id: &str, thread_id: &str) -> Result<Option<TopicBinding>, StoreError> {
        let (chat_id, thread_id) = (chat_id.to_owned(), thread_id.to_owned());
        let work = move |database: &Database| topics::binding_at(database, &chat_id, &thread_id);
        self.workers.read_short("read topics", work).await
    }

    async fn topic_of(&self, session: &SessionId) -> Result<Option<TopicBinding>, StoreError> {
        let session = session.clone();
        self.workers.read_short("read topics", move |database| topics::binding_of(database, &session)).await
    }
}

#[async_trait]
impl Maintenance for SqliteStore {
    async fn delete_conversation(&self, id: &SessionId, request: &Request) -> Result<Deleted, StoreError> {
        self.delete(id, Lineage::conversation, change::delete_conversation(id), request).await
    }

    async fn delete_chain(&self, id: &SessionId, request: &Request) -> Result<Deleted, StoreError> {
        self.delete(id, Lineage::chain, change::delete_chain(id), request).await
    }

    async fn prune(
        &self,
        conversations: &[SessionId],
        policy: &RetentionPolicy,
        now: Timestamp,
    ) -> Result<Pruned, StoreError> {
        let (conversations, policy) = (conversations.to_vec(), policy.clone());
        let work = move |database: &Database| deletion::prune(database, &conversations, &policy, now);
        let (pruned, is_over) = self.workers.write("prune conversations", work).await?;
        if !is_over {
            self.finish_deletions().await;
        }
        Ok(pruned)
    }

    async fn import(&self, pieces: &[ImportPiece]) -> Result<Vec<Imported>, StoreError> {
        let pieces = pieces.to_vec();
        self.workers.write("import sessions", move |database| import::take(database, &pieces)).await
    }

    async fn link(&self, child: &SessionId, parent: &SessionId, relation: Relation) -> Result<bool, StoreError> {
        let (child, parent) = checked_link(child, parent, relation)?;
        self.workers.write("link a session", move |database| import::link(database, &child, &parent, relation)).await
    }

    async fn recount(&self, id: &SessionId) -> Result<bool, StoreError> {
        // Most are right, and reading a long one keeps nobody waiting.
        let asked = id.clone();
        let is_wrong = self.workers.read("count messages", move |database| recount::wrong(database, &asked)).await?;
        if is_wrong.is_none() {
            return Ok(false);
        }
        let id = id.clone();
        self.workers.write("count messages anew", move |database| recount::recount(database, &id)).await
    }

    async fn meta_page(&self, after: Option<&str>, limit: u32) -> Result<Vec<(String, String)>, StoreError> {
        let after = after.map(str::to_owned);
        self.workers.read("read values", move |database| meta::page(database, after.as_deref(), limit)).await
    }

    async fn swap_meta(&self, key: &str, expected: Option<&str>, value: Option<&str>) -> Result<bool, StoreError> {
        let key = checked_meta_key(key)?;
        let (expected, value) = (expected.map(str::to_owned), value.map(str::to_owned));
        let work = move |database: &Database| meta::swap(database, &key, expected.as_deref(), value.as_deref());
        self.workers.write("swap a value", work).await
    }

    async fn topics(&self) -> Result<Topics, StoreError> {
        self.workers.read("read topics", topics::read).await
    }

    async fn import_topics(&self, topics: &Topics) -> Result<TopicsImported, StoreError> {
        let topics = topics.clone();
        self.workers.write("import topics", move |database| topics::import(database, &topics)).await
    }

    async fn foreign(&self) -> Result<Vec<Foreign>, StoreError> {
        self.workers.read("look for what is not ours", foreign::read).await
    }

    async fn upkeep(&self) -> Result<bool, StoreError> {
        self.workers.write("keep the store in order", maintenance::upkeep).await
    }

    async fn optimize(&self) -> Result<Optimizing, StoreError> {
        self.workers.write("optimize the store", optimize::step).await
    }

    async fn rebuild_indexes(&self) -> Result<(), StoreError> {
        self.workers.write("begin to make the indexes anew", indexes::start_rebuild).await
    }

    async fn verify(&self) -> Result<Report, StoreError> {
        let path = self.path.clone();
        self.workers.read("verify the store", move |database| verify::run(database, &path)).await
    }

    async fn backup(&self, target: &Path) -> Result<BackupReport, StoreError> {
        let (path, target) = (self.path.clone(), target.to_owned());
        self.workers.read("back up the store", move |database| backup::run(database, &path, &target)).await
    }

    fn notices(&self) -> Vec<String> {
        self.notices.clone()
    }

    async fn statistics(&self) -> Result<Statistics, StoreError> {
        self.workers.read("count what there is", statistics::statistics).await
    }

    async fn insights(&self, request: &InsightsRequest) -> Result<Insights, StoreError> {
        let request = request.clone();
        self.workers.read("tell how it was used", move |database| insights::insights(database, &request)).await
    }

    async fn room(&self) -> Result<Room, StoreError> {
        let path = self.path.clone();
        self.workers.read("see where the room goes", move |database| statistics::room(database, &path)).await
    }

    async fn status(&self) -> Result<StoreStatus, StoreError> {
        let path = self.path.clone();
        self.workers.read("look at the store", move |database| maintenance::status(database, &path)).await
    }
}
