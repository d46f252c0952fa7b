//! The contract as plain maps: what every provider is compared with.
//!
//! Nothing here is quick or clever. Each rule is said once, in the order in which the contract says it:
//! what was given is checked, then the request's key is looked up, then what is missing is told, then what is in the way,
//! and only then is anything changed.

mod arrivals;
mod gateway;
mod insights;
mod kin;
mod listing;
mod marks;
mod messages;
mod search;
mod sessions;
mod titles;
mod topics;
mod trash;
mod upkeep;

use async_trait::async_trait;
use hermes_session::gateway::{Beside, Claim, GatewayStore, Handoff, HandoffEnd};
use hermes_session::import::{ImportPiece, Imported, checked_link};
use hermes_session::retention::{Pruned, RetentionPolicy};
use hermes_session::search::{SearchAnswer, SearchRequest, SearchStore};
use hermes_session::{
    BackupReport, Conflict, Counts, Deleted, EndReason, Ensured, Foreign, IndexHealth, Insights, InsightsRequest,
    Lineage, ListRequest, Listing, Maintenance, Marks, Message, MessageId, MessageRequest, NewChild, NewMessage,
    NewSession, Optimizing, Relation, Report, Request, RequestKey, Room, Session, SessionFilter, SessionId,
    SessionPatch, SessionStore, Statistics, StoreError, StoreStatus, Timestamp, Title, Titled, TopicBinding,
    TopicChange, TopicMode, Topics, TopicsImported, UsageUpdate, change, checked_meta_key, checked_prefix,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A store in memory. A clone is another handle on the same data.
#[derive(Debug, Clone, Default)]
pub struct ModelStore {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    sessions: BTreeMap<SessionId, Session>,
    /// The messages of each session that has any, oldest first.
    transcripts: BTreeMap<SessionId, Vec<Message>>,
    /// The messages of sessions that are imported and not whole yet.
    coming: BTreeMap<SessionId, Vec<Message>>,
    requests: BTreeMap<RequestKey, Applied>,
    meta: BTreeMap<String, String>,
    modes: BTreeMap<String, TopicMode>,
    bindings: BTreeMap<(String, String), TopicBinding>,
    /// What stands beside the columns of handoffs.
    handoffs: BTreeMap<SessionId, Beside>,
    /// Pins and tags, by the session that each is kept with.
    marks: BTreeMap<SessionId, Marks>,
    last_message_id: i64,
    /// What was deleted and can come back, the oldest first.
    trash: Vec<trash::Kept>,
    last_trash_number: i64,
}

/// A change that was made under a key.
struct Applied {
    fingerprint: String,
    /// Its type follows from the method, which is part of the fingerprint.
    answer: Box<dyn Any + Send + Sync>,
    lives: Life,
}

/// What a key lives as long as. That of a deletion comes after what it deleted, and goes when another session of
/// that id is deleted.
#[derive(Debug, Clone)]
enum Life {
    Session(SessionId),
    Messages { session: SessionId, first: MessageId },
}

impl fmt::Debug for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} for {:?}", self.fingerprint, self.lives)
    }
}

impl ModelStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a change that is for a session, once for each key.
    fn once<T: Clone + Send + Sync + 'static>(
        &self,
        request: &Request,
        fingerprint: String,
        session: &SessionId,
        change: impl FnOnce(&mut State) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.once_for(request, fingerprint, change, |_| Life::Session(session.clone()))
    }

    fn once_for<T: Clone + Send + Sync + 'static>(
        &self,
        request: &Request,
        fingerprint: String,
        change: impl FnOnce(&mut State) -> Result<T, StoreError>,
        lives: impl FnOnce(&T) -> Life,
    ) -> Result<T, StoreError> {
        let mut state = self.state();
        let Some(key) = &request.key else { return change(&mut state) };
        if let Some(applied) = state.requests.get(key) {
            return if applied.fingerprint == fingerprint {
                Ok(applied.answer.downcast_ref::<T>().expect("the fingerprint tells the method").clone())
            } else {
                Err(Conflict::KeyReused(key.clone()).into())
            };
        }
        let answer = change(&mut state)?;
        let applied = Applied { fingerprint, lives: lives(&answer), answer: Box::new(answer.clone()) };
        state.requests.insert(key.clone(), applied);
        Ok(answer)
    }
}

impl State {
    fn existing(&self, id: &SessionId) -> Result<&Session, StoreError> {
        self.sessions.get(id).ok_or_else(|| StoreError::no_session(id))
    }

    fn existing_mut(&mut self, id: &SessionId) -> Result<&mut Session, StoreError> {
        self.sessions.get_mut(id).ok_or_else(|| StoreError::no_session(id))
    }

    /// Forgets the keys for which `is_gone` says that what they were for went just now.
    fn forget_requests(&mut self, is_gone: impl Fn(&Life) -> bool) {
        self.requests.retain(|_, applied| !is_gone(&applied.lives));
    }
}

fn life_of(session: &SessionId, ids: &[MessageId]) -> Life {
    match ids.first() {
        Some(first) => Life::Messages { session: session.clone(), first: *first },
        None => Life::Session(session.clone()),
    }
}

#[async_trait]
impl SessionStore for ModelStore {
    async fn create(&self, session: &NewSession, request: &Request) -> Result<(), StoreError> {
        let session = session.clone().checked()?;
        self.once(request, change::create(&session), &session.id, |state| state.create(&session, request.at))
    }

    async fn ensure(&self, session: &NewSession, request: &Request) -> Result<Ensured, StoreError> {
        let session = session.clone().checked()?;
        self.once(request, change::ensure(&session), &session.id, |state| state.ensure(&session, request.at))
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        Ok(self.state().sessions.get(id).cloned())
    }

    async fn sessions(&self, ids: &[SessionId]) -> Result<Vec<Session>, StoreError> {
        let state = self.state();
        Ok(ids.iter().filter_map(|id| state.sessions.get(id).cloned()).collect())
    }

    async fn update(&self, id: &SessionId, patch: &SessionPatch, request: &Request) -> Result<(), StoreError> {
        self.once(request, change::update(id, patch), id, |state| state.update(id, patch))
    }

    async fn end(&self, id: &SessionId, reason: &EndReason, request: &Request) -> Result<bool, StoreError> {
        self.once(request, change::end(id, reason), id, |state| state.end(id, reason, request.at))
    }

    async fn reopen(&self, id: &SessionId, request: &Request) -> Result<bool, StoreError> {
        self.once(request, change::reopen(id), id, |state| state.reopen(id))
    }

    async fn set_title(&self, id: &SessionId, title: Option<&Title>, request: &Request) -> Result<(), StoreError> {
        self.once(request, change::set_title(id, title), id, |state| state.set_title(id, title))
    }

    async fn allocate_title(&self, id: &SessionId, base: &Title, request: &Request) -> Result<Title, StoreError> {
        self.once(request, change::allocate_title(id, base), id, |state| state.allocate_title(id, base))
    }

    async fn split(
        &self,
        parent: &SessionId,
        child: &NewChild,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Option<Title>, StoreError> {
        let messages = NewMessage::checked_all(messages)?;
        self.once(request, change::split(parent, child, &messages), &child.id, |state| {
            state.split(parent, child, &messages, request.at)
        })
    }

    async fn branch(
        &self,
        parent: &SessionId,
        child: &NewChild,
        request: &Request,
    ) -> Result<Option<Title>, StoreError> {
        self.once(request, change::branch(parent, child), &child.id, |state| state.branch(parent, child, request.at))
    }

    async fn append(
        &self,
        id: &SessionId,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError> {
        let messages = NewMessage::checked_all(messages)?;
        self.once_for(
            request,
            change::append(id, &messages),
            |state| state.append(id, &messages, request.at),
            |ids| life_of(id, ids),
        )
    }

    async fn replace(
        &self,
        id: &SessionId,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError> {
        let messages = NewMessage::checked_all(messages)?;
        self.once_for(
            request,
            change::replace(id, &messages),
            |state| state.replace(id, &messages, request.at),
            |ids| life_of(id, ids),
        )
    }

    async fn messages(&self, id: &SessionId, request: &MessageRequest) -> Result<Vec<Message>, StoreError> {
        self.state().messages(id, request)
    }

    async fn around(&self, places: &[(SessionId, MessageId)]) -> Result<Vec<Vec<Message>>, StoreError> {
        let state = self.state();
        let around = |(session, place): &(SessionId, MessageId)| {
            let all = state.messages(session, &MessageRequest::first(u32::MAX)).unwrap_or_default();
            let at = all.iter().take_while(|message| message.id < *place).count();
            all.into_iter().skip(at.saturating_sub(1)).take(if at > 0 { 3 } else { 2 }).collect()
        };
        Ok(places.iter().map(around).collect())
    }

    async fn record_usage(&self, id: &SessionId, update: &UsageUpdate, request: &Request) -> Result<(), StoreError> {
        self.once(request, change::record_usage(id, update), id, |state| state.record_usage(id, update))
    }

    async fn list(&self, request: &ListRequest) -> Result<Listing, StoreError> {
        Ok(self.state().list(request))
    }

    async fn counts(&self, filter: &SessionFilter) -> Result<Counts, StoreError> {
        Ok(self.state().counts(filter))
    }

    async fn lineage(&self, id: &SessionId) -> Result<Lineage, StoreError> {
        self.state().lineage(id)
    }

    async fn ids_with_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let prefix = checked_prefix(prefix)?;
        let state = self.state();
        let found = state.sessions.keys().filter(|id| id.as_str().starts_with(&prefix));
        Ok(found.take(limit as usize).cloned().collect())
    }

    async fn titled(&self, title: &str) -> Result<Vec<Titled>, StoreError> {
        Ok(self.state().titled(title))
    }

    async fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        Ok(self.state().meta.get(key).cloned())
    }

    async fn set_meta(&self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        let key = checked_meta_key(key)?;
        let mut state = self.state();
        match value {
            Some(value) => state.meta.insert(key, value.to_owned()),
            None => state.meta.remove(&key),
        };
        Ok(())
    }
}

#[async_trait]
impl SearchStore for ModelStore {
    async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, StoreError> {
        Ok(self.state().search(request))
    }
}

#[async_trait]
impl GatewayStore for ModelStore {
    async fn request_handoff(&self, id: &SessionId, platform: &str, request: &Request) -> Result<bool, StoreError> {
        self.once(request, change::request_handoff(id, platform), id, |state| {
            Ok(state.step(id, |handoff| handoff.requested(platform, request.at))?.is_some())
        })
    }

    async fn claim_handoff(
        &self,
        id: &SessionId,
        lease: Duration,
        request: &Request,
    ) -> Result<Option<Claim>, StoreError> {
        self.once(request, change::claim_handoff(id), id, |state| {
            let taken = state.step(id, |handoff| handoff.claimed(lease, request.at))?;
            Ok(taken.map(|taken| Claim(taken.claims)))
        })
    }

    async fn end_handoff(
        &self,
        id: &SessionId,
        claim: Option<Claim>,
        end: &HandoffEnd,
        request: &Request,
    ) -> Result<bool, StoreError> {
        self.once(request, change::end_handoff(id, claim, end), id, |state| {
            Ok(state.step(id, |handoff| handoff.ended(claim, end))?.is_some())
        })
    }

    async fn handoff(&self, id: &SessionId) -> Result<Option<Handoff>, StoreError> {
        Ok(self.state().handoff(id))
    }

    async fn waiting_handoffs(&self, now: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        Ok(self.state().waiting_handoffs(now))
    }

    async fn change_topics(&self, change: &TopicChange, at: Timestamp) -> Result<(), StoreError> {
        change.check()?;
        self.state().change_topics(change, at)
    }

    async fn topic_mode(&self, chat_id: &str) -> Result<Option<TopicMode>, StoreError> {
        Ok(self.state().modes.get(chat_id).cloned())
    }

    async fn topic(&self, chat_id: &str, thread_id: &str) -> Result<Option<TopicBinding>, StoreError> {
        Ok(self.state().bindings.get(&(chat_id.to_owned(), thread_id.to_owned())).cloned())
    }

    async fn topic_of(&self, session: &SessionId) -> Result<Option<TopicBinding>, StoreError> {
        Ok(self.state().topic_of(session))
    }
}

#[async_trait]
impl Maintenance for ModelStore {
    async fn delete_conversation(&self, id: &SessionId, request: &Request) -> Result<Deleted, StoreError> {
        self.once(request, change::delete_conversation(id), id, |state| state.delete_conversation(id))
    }

    async fn delete_chain(&self, id: &SessionId, request: &Request) -> Result<Deleted, StoreError> {
        self.once(request, change::delete_chain(id), id, |state| state.delete_chain(id))
    }

    async fn prune(
        &self,
        conversations: &[SessionId],
        policy: &RetentionPolicy,
        now: Timestamp,
    ) -> Result<Pruned, StoreError> {
        self.state().prune(conversations, policy, now)
    }

    async fn import(&self, pieces: &[ImportPiece]) -> Result<Vec<Imported>, StoreError> {
        let mut state = self.state();
        Ok(pieces.iter().map(|piece| state.import(piece)).collect())
    }

    async fn link(&self, child: &SessionId, parent: &SessionId, relation: Relation) -> Result<bool, StoreError> {
        let (child, parent) = checked_link(child, parent, relation)?;
        self.state().link(&child, &parent, relation)
    }

    async fn recount(&self, id: &SessionId) -> Result<bool, StoreError> {
        self.state().recount(id)
    }

    async fn meta_page(&self, after: Option<&str>, limit: u32) -> Result<Vec<(String, String)>, StoreError> {
        let state = self.state();
        let behind = state.meta.iter().filter(|(key, _)| after.is_none_or(|after| key.as_str() > after));
        Ok(behind.take(limit as usize).map(|(key, value)| (key.clone(), value.clone())).collect())
    }

    async fn swap_meta(&self, key: &str, expected: Option<&str>, value: Option<&str>) -> Result<bool, StoreError> {
        let key = checked_meta_key(key)?;
        let mut state = self.state();
        if state.meta.get(&key).map(String::as_str) != expected {
            return Ok(false);
        }
        match value {
            Some(value) => _ = state.meta.insert(key, value.to_owned()),
            None => _ = state.meta.remove(&key),
        }
        Ok(true)
    }

    async fn topics(&self) -> Result<Topics, StoreError> {
        Ok(self.state().topics())
    }

    async fn import_topics(&self, topics: &Topics) -> Result<TopicsImported, StoreError> {
        Ok(self.state().import_topics(topics))
    }

    async fn foreign(&self) -> Result<Vec<Foreign>, StoreError> {
        Ok(Vec::new())
    }

    async fn upkeep(&self) -> Result<bool, StoreError> {
        Ok(false)
    }

    async fn verify(&self) -> Result<Report, StoreError> {
        Ok(self.state().verify())
    }

    async fn backup(&self, target: &Path) -> Result<BackupReport, StoreError> {
        self.export_to(target).await
    }

    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    async fn optimize(&self) -> Result<Optimizing, StoreError> {
        Ok(Optimizing::Done)
    }

    async fn rebuild_indexes(&self) -> Result<(), StoreError> {
        Ok(())
    }

    async fn statistics(&self) -> Result<Statistics, StoreError> {
        Ok(self.state().statistics())
    }

    async fn insights(&self, request: &InsightsRequest) -> Result<Insights, StoreError> {
        Ok(self.state().insights(request))
    }

    async fn room(&self) -> Result<Room, StoreError> {
        Ok(Room::default())
    }

    async fn status(&self) -> Result<StoreStatus, StoreError> {
        Ok(StoreStatus {
            provider: "model",
            version: env!("CARGO_PKG_VERSION").to_owned(),
            location: "memory".to_owned(),
            schema_version: 11,
            schema: None,
            bytes: 0,
            free_bytes: 0,
            indexes: IndexHealth::Whole,
            pool: None,
        })
    }
}
