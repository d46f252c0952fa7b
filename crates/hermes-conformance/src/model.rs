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
use hermes_session::gateway::Beside;
use hermes_session::search::{SearchAnswer, SearchRequest, SearchStore};
use hermes_session::{
    Conflict, Counts, EndReason, Ensured, Lineage, ListRequest, Listing, Marks, Message, MessageId, MessageRequest,
    NewChild, NewMessage, NewSession, Request, RequestKey, Session, SessionFilter, SessionId, SessionPatch,
    SessionStore, StoreError, Title, Titled, TopicBinding, TopicMode, UsageUpdate, change, checked_meta_key,
    checked_prefix,
};
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
