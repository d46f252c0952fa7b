//! The feed of changes.

use super::State;
use hermes_session::SessionId;
use hermes_session::live::{ChangeMark, Changed, Changes, Kinds, Lease, Resource};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// Every change since the store was made.
#[derive(Debug)]
pub(super) struct Log {
    /// Number of the store in this process. Its marks begin with it, so that marks of other stores are recognised.
    store: u64,
    entries: Vec<(SessionId, Kinds)>,
}

impl Default for Log {
    fn default() -> Self {
        static STORES: AtomicU64 = AtomicU64::new(0);
        Self { store: STORES.fetch_add(1, Ordering::Relaxed), entries: Vec::new() }
    }
}

impl Log {
    pub(super) fn note(&mut self, session: &SessionId, kinds: Kinds) {
        self.entries.push((session.clone(), kinds));
    }

    fn mark(&self) -> ChangeMark {
        ChangeMark(format!("{}:{}", self.store, self.entries.len()))
    }

    /// Returns the entries after a mark; `None` if it is not a mark of this log.
    fn after(&self, mark: &ChangeMark) -> Option<&[(SessionId, Kinds)]> {
        let (store, number) = mark.0.split_once(':')?;
        let is_ours = store.parse() == Ok(self.store);
        self.entries.get(number.parse().ok().filter(|_| is_ours)?..)
    }
}

impl State {
    pub(super) fn note(&mut self, session: &SessionId, kinds: Kinds) {
        self.changes.note(session, kinds);
    }

    /// Notes that the owner or the turn of a session's conversation changed.
    pub(super) fn note_owner(&mut self, session: &SessionId) {
        self.note(&self.links().conversation_root(session), Kinds::OWNER);
    }

    /// Notes that a lease was granted or released.
    pub(super) fn note_lease(&mut self, lease: &Lease) {
        if let Resource::Conversation(root) = &lease.resource {
            self.note(root, Kinds::OWNER);
        }
    }

    pub(super) fn changes_after(&self, mark: Option<&ChangeMark>) -> Changes {
        let next = self.changes.mark();
        let Some(mark) = mark else { return Changes { changed: Vec::new(), is_reset: false, next } };
        let Some(entries) = self.changes.after(mark) else {
            return Changes { changed: Vec::new(), is_reset: true, next };
        };
        let mut kinds: BTreeMap<&SessionId, Kinds> = BTreeMap::new();
        for (session, kind) in entries {
            let known = kinds.entry(session).or_default();
            *known = known.and(*kind);
        }
        let links = self.links();
        let changed = kinds.into_iter().map(|(session, kinds)| Changed {
            session: session.clone(),
            conversation: self.sessions.contains_key(session).then(|| links.conversation_root(session)),
            kinds,
        });
        Changes { changed: changed.collect(), is_reset: false, next }
    }
}
