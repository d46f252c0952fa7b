//! The contract implemented with plain maps: the reference for every provider.
//!
//! It is neither fast nor clever. Each rule is written once, in the order of the contract: arguments are checked, then
//! the idempotency key is looked up, then missing objects are reported, then conflicts, and only then anything is
//! changed.

mod arrivals;
mod carry;
mod changes;
mod gateway;
mod insights;
mod kin;
mod leases;
mod listing;
mod mail;
mod messages;
mod pins_and_tags;
mod routes;
mod search;
mod sessions;
mod store;
mod titles;
mod topics;
mod trash;
mod turns;
mod undo;
mod upkeep;

use hermes_session::gateway::Beside;
use hermes_session::live::{Account, InboxId, InboxItem, Lease, Outbound, OutboundId, ResetCause, Route, Turn, TurnId};
use hermes_session::{
    Conflict, Message, MessageId, PinAndTags, Request, RequestKey, Session, SessionId, StoreError, TopicBinding,
    TopicMode,
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
    /// The messages of sessions whose import is not complete yet.
    coming: BTreeMap<SessionId, Vec<Message>>,
    requests: BTreeMap<RequestKey, Applied>,
    meta: BTreeMap<String, String>,
    modes: BTreeMap<String, TopicMode>,
    bindings: BTreeMap<(String, String), TopicBinding>,
    /// Data of handoffs that is kept beside the agent's columns.
    handoffs: BTreeMap<SessionId, Beside>,
    /// Pins and tags, by the session they are stored with.
    pins_and_tags: BTreeMap<SessionId, PinAndTags>,
    last_message_id: i64,
    /// Deleted conversations that can be restored, oldest first.
    trash: Vec<trash::Kept>,
    last_trash_number: i64,
    /// The leases, by the stored keys of their resources.
    leases: BTreeMap<String, Lease>,
    last_fence: i64,
    /// The open turns.
    turns: BTreeMap<TurnId, Turn>,
    last_turn: i64,
    /// The batches of the messages that were undone here.
    undone: BTreeMap<MessageId, undo::Batch>,
    last_batch: i64,
    inbox: BTreeMap<InboxId, InboxItem>,
    last_inbox_id: i64,
    /// The position up to which each account has received.
    cursors: BTreeMap<Account, String>,
    outbox: BTreeMap<OutboundId, Outbound>,
    last_outbound_id: i64,
    /// The routes, by the stored forms of their keys.
    routes: BTreeMap<String, Route>,
    /// Earlier stored keys of routes, each with the present one.
    aliases: BTreeMap<String, String>,
    changes: changes::Log,
    /// The causes of the resets that ended sessions.
    causes: BTreeMap<SessionId, ResetCause>,
}

/// A change that was made with an idempotency key.
struct Applied {
    fingerprint: String,
    /// Its type follows from the method, which is part of the fingerprint.
    answer: Box<dyn Any + Send + Sync>,
    lives: Life,
}

/// Lifetime of a key: as long as its session or its messages. The key of a deletion is created after its session is
/// gone, and ends when another session of that id is deleted.
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
    /// Returns an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a change to a session, once for each key.
    fn once<T: Clone + Send + Sync + 'static>(
        &self,
        request: &Request,
        fingerprint: String,
        session: &SessionId,
        change: impl FnOnce(&mut State) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let lives = |_: &T| Life::Session(session.clone());
        self.once_for(request, fingerprint, |_| Ok(session.clone()), change, lives)
    }

    /// Makes a change, once for each key. `whose` names the session whose owner and transcript the request relies on.
    fn once_for<T: Clone + Send + Sync + 'static>(
        &self,
        request: &Request,
        fingerprint: String,
        whose: impl FnOnce(&State) -> Result<SessionId, StoreError>,
        change: impl FnOnce(&mut State) -> Result<T, StoreError>,
        lives: impl FnOnce(&T) -> Life,
    ) -> Result<T, StoreError> {
        let whose = |state: &State| whose(state).map(Some);
        self.once_if(request, fingerprint, whose, change, |_, answer| Some(lives(answer)))
    }

    /// Makes a change, once for each key, that may concern no session and may change nothing. An answer without a life
    /// uses no key.
    fn once_if<T: Clone + Send + Sync + 'static>(
        &self,
        request: &Request,
        fingerprint: String,
        whose: impl FnOnce(&State) -> Result<Option<SessionId>, StoreError>,
        change: impl FnOnce(&mut State) -> Result<T, StoreError>,
        lives: impl FnOnce(&State, &T) -> Option<Life>,
    ) -> Result<T, StoreError> {
        let mut state = self.state();
        let change = |state: &mut State| {
            if let Some(session) = whose(state)? {
                state.relies_on(&session, request)?;
            }
            change(state)
        };
        let Some(key) = &request.key else { return change(&mut state) };
        if let Some(applied) = state.requests.get(key) {
            return if applied.fingerprint == fingerprint {
                Ok(applied.answer.downcast_ref::<T>().expect("the fingerprint tells the method").clone())
            } else {
                Err(Conflict::KeyReused(key.clone()).into())
            };
        }
        let answer = change(&mut state)?;
        if let Some(lives) = lives(&state, &answer) {
            let applied = Applied { fingerprint, lives, answer: Box::new(answer.clone()) };
            state.requests.insert(key.clone(), applied);
        }
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

    /// Removes the keys whose session or messages were just deleted, according to `is_gone`.
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
