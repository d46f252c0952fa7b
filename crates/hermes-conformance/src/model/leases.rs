//! Leases, and the state that a change relies on.

use super::State;
use hermes_session::live::{Acquired, Fence, Grant, Holder, Lease, Renewed, Resource, Terms};
use hermes_session::{Conflict, MessageId, MessageRequest, Request, SessionId, StoreError, Timestamp};
use std::collections::BTreeSet;
use std::time::Duration;

impl State {
    /// Checks that the caller owns the conversation of a session, and knows the newest message of its transcript, if
    /// the request says so. A session that does not exist has no owner.
    pub(super) fn relies_on(&self, session: &SessionId, request: &Request) -> Result<(), StoreError> {
        if !self.sessions.contains_key(session) {
            return Ok(());
        }
        let owner = self.leases.get(&self.conversation_of(session).key()).map(|lease| lease.fence);
        if request.fence.is_some_and(|fence| owner != Some(fence)) {
            return Err(Conflict::Fenced(session.clone()).into());
        }
        let newest = self.newest(session)?;
        if request.after.is_some_and(|known| known != newest.unwrap_or(MessageId(0))) {
            return Err(Conflict::Moved { session: session.clone(), newest }.into());
        }
        Ok(())
    }

    pub(super) fn acquire(
        &mut self,
        what: &Resource,
        who: &Holder,
        terms: Terms,
        now: Timestamp,
    ) -> Result<Acquired, StoreError> {
        let root = what.session().map(|session| self.root_of(session)).transpose()?;
        let resource = root.iter().fold(what.clone(), |resource, root| resource.rooted(root.clone()));
        if let Some(lease) = self.leases.get(&resource.key())
            && !lease.yields(terms.take, self.is_in_turn(lease), now)
        {
            return Ok(Acquired::Held(lease.clone()));
        }
        self.last_fence += 1;
        let lease = Lease {
            fence: Fence(self.last_fence),
            holder: who.clone(),
            busy: false,
            taken_at: now,
            until: Lease::expiry(now, terms.ttl),
            resource,
        };
        self.leases.insert(lease.resource.key(), lease.clone());
        self.note_lease(&lease);
        let tip = root.map(|root| self.links().tip(&root));
        let newest = tip.as_ref().map_or(Ok(None), |tip| self.newest(tip))?;
        Ok(Acquired::Got(Grant { lease, tip, newest }))
    }

    pub(super) fn renew(&mut self, lease: &Lease, ttl: Duration, busy: bool, now: Timestamp) -> Renewed {
        match self.leases.get_mut(&lease.resource.key()) {
            Some(current) if current.fence == lease.fence => {
                current.busy = busy;
                current.until = Lease::expiry(now, ttl);
                Renewed::Kept(current.clone())
            }
            other => Renewed::Lost(other.cloned()),
        }
    }

    pub(super) fn release(&mut self, lease: &Lease) -> bool {
        let key = lease.resource.key();
        let is_owner = self.leases.get(&key).is_some_and(|current| current.fence == lease.fence);
        is_owner && self.leases.remove(&key).inspect(|lease| self.note_lease(lease)).is_some()
    }

    pub(super) fn forget_leases(&mut self, gone: &BTreeSet<SessionId>) {
        self.leases.retain(|_, lease| lease.resource.session().is_none_or(|root| !gone.contains(root)));
    }

    /// Returns the first session of the conversation of a session.
    pub(super) fn root_of(&self, session: &SessionId) -> Result<SessionId, StoreError> {
        self.existing(session)?;
        Ok(self.links().conversation_root(session))
    }

    fn conversation_of(&self, session: &SessionId) -> Resource {
        Resource::Conversation(self.links().conversation_root(session))
    }

    fn is_in_turn(&self, lease: &Lease) -> bool {
        let Resource::Conversation(root) = &lease.resource else { return false };
        self.open_turns().any(|turn| turn.conversation == *root && turn.fence == Some(lease.fence))
    }

    fn newest(&self, session: &SessionId) -> Result<Option<MessageId>, StoreError> {
        Ok(self.messages(session, &MessageRequest::last(1))?.first().map(|message| message.id))
    }
}
