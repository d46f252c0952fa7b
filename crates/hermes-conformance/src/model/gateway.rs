//! Handoffs, and changes of topics.

use super::State;
use hermes_session::gateway::{Beside, Claim, Claimed, Handoff, HandoffEnd, HandoffRequest};
use hermes_session::live::{Acquired, Holder, Kinds, Resource, Take, Terms};
use hermes_session::{Conflict, Request, SessionId, StoreError, Timestamp, TopicBinding, TopicChange, TopicMode};
use std::time::Duration;

impl State {
    pub(super) fn handoff(&self, id: &SessionId) -> Option<Handoff> {
        let session = self.sessions.get(id)?;
        Some(Handoff::from_stored(id.clone(), session.handoff.clone(), self.handoffs.get(id).cloned()))
    }

    /// Applies a step of a handoff. Returns the new state, or `None` if the step does not apply.
    pub(super) fn step(
        &mut self,
        id: &SessionId,
        step: impl FnOnce(Handoff) -> Option<Handoff>,
    ) -> Result<Option<Handoff>, StoreError> {
        let handoff = self.handoff(id).ok_or_else(|| StoreError::no_session(id))?;
        let Some(next) = step(handoff) else { return Ok(None) };
        let (columns, beside): (_, Beside) = next.to_stored();
        self.existing_mut(id)?.handoff = columns;
        self.handoffs.insert(id.clone(), beside);
        self.note(id, Kinds::SESSION);
        Ok(Some(next))
    }

    pub(super) fn request_handoff(
        &mut self,
        id: &SessionId,
        what: &HandoffRequest,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let handoff = self.handoff(id).ok_or_else(|| StoreError::no_session(id))?;
        let conversation = self.root_of(id)?;
        if let (Some(turn), Some(_)) = (self.turn_of(&conversation), handoff.requested(what, at)) {
            return Err(Conflict::TurnOpen { session: id.clone(), turn: turn.id }.into());
        }
        Ok(self.step(id, |handoff| handoff.requested(what, at))?.is_some())
    }

    pub(super) fn claim_handoff(
        &mut self,
        id: &SessionId,
        lease: Duration,
        who: Option<&Holder>,
        at: Timestamp,
    ) -> Result<Option<Claimed>, StoreError> {
        let handoff = self.handoff(id).ok_or_else(|| StoreError::no_session(id))?;
        if !handoff.is_waiting(at) {
            return Ok(None);
        }
        let mut fence = None;
        if let Some(who) = who {
            let terms = Terms { ttl: lease, take: Take::Idle };
            match self.acquire(&Resource::Conversation(id.clone()), who, terms, at)? {
                Acquired::Got(grant) => fence = Some(grant.lease.fence),
                Acquired::Held(_) => return Ok(None),
            }
        }
        let taken = self.step(id, |handoff| handoff.claimed(lease, who, at))?;
        Ok(taken.map(|taken| Claimed { claim: Claim(taken.claims), fence }))
    }

    pub(super) fn end_handoff(
        &mut self,
        id: &SessionId,
        claim: Option<Claim>,
        end: &HandoffEnd,
        request: &Request,
    ) -> Result<bool, StoreError> {
        let handoff = self.handoff(id).ok_or_else(|| StoreError::no_session(id))?;
        if handoff.clone().ended(claim, end, request.at).is_none() {
            return Ok(false);
        }
        match end {
            HandoffEnd::Completed => {}
            HandoffEnd::Arrived(switch) => _ = self.lead_to(switch, request.at)?,
            HandoffEnd::Failed(_) => self.take_back(&handoff, request.at)?,
        }
        if let Some(fence) = request.fence {
            self.leases.retain(|_, lease| lease.fence != fence);
            self.note_owner(id);
        }
        self.step(id, |handoff| handoff.ended(claim, end, request.at))?;
        Ok(true)
    }

    /// Undoes what a handoff said: messages, turn and replies.
    fn take_back(&mut self, handoff: &Handoff, at: Timestamp) -> Result<(), StoreError> {
        if let Some(turn) = handoff.turn {
            self.drop_replies(turn);
            self.settle_rows(turn, at);
            self.turns.remove(&turn);
        }
        let said = self.transcripts.get(&handoff.session).into_iter().flatten();
        let mut active = said.filter(|message| message.state.is_active()).map(|message| message.id);
        match handoff.synthetic_from.filter(|from| active.any(|id| id == *from)) {
            Some(from) => self.undo(&handoff.session, from, at).map(|_| ()),
            None => Ok(()),
        }
    }

    pub(super) fn waiting_handoffs(&self, now: Timestamp) -> Vec<Handoff> {
        let all = self.sessions.values().filter_map(|session| Some((session.started_at, self.handoff(&session.id)?)));
        let mut waiting: Vec<(Timestamp, Handoff)> = all
            .filter(|(_, handoff)| handoff.is_waiting(now))
            .map(|(started, handoff)| (handoff.requested_at.unwrap_or(started), handoff))
            .collect();
        // The sort is stable, and the map was in the order of ids.
        waiting.sort_by_key(|(since, _)| *since);
        waiting.into_iter().map(|(_, handoff)| handoff).collect()
    }

    pub(super) fn change_topics(&mut self, change: &TopicChange, at: Timestamp) -> Result<(), StoreError> {
        match change {
            TopicChange::Prepare => {}
            TopicChange::On { chat_id, user_id, has_topics_enabled, allows_users_to_create_topics } => {
                let capabilities = (*has_topics_enabled, *allows_users_to_create_topics);
                let mode = TopicMode::on(self.modes.remove(chat_id), chat_id, user_id, capabilities, at);
                self.modes.insert(chat_id.clone(), mode);
            }
            TopicChange::Off { chat_id, clears } => {
                if let Some(mode) = self.modes.remove(chat_id) {
                    self.modes.insert(chat_id.clone(), mode.off(at));
                }
                self.bindings.retain(|(chat, _), _| !clears || chat != chat_id);
            }
            TopicChange::Bind { chat_id, thread_id, user_id, session_key, session_id, managed_mode } => {
                self.existing(session_id)?;
                let key = (chat_id.clone(), thread_id.clone());
                if let Some(other) = self.topic_of(session_id).filter(|other| other.key() != key) {
                    let (chat_id, thread_id) = other.key();
                    return Err(Conflict::TopicTaken { session: session_id.clone(), chat_id, thread_id }.into());
                }
                let binding = TopicBinding {
                    chat_id: chat_id.clone(),
                    thread_id: thread_id.clone(),
                    user_id: user_id.clone(),
                    session_key: session_key.clone(),
                    session_id: session_id.clone(),
                    managed_mode: managed_mode.clone(),
                    linked_at: self.bindings.get(&key).map_or(at, |there| there.linked_at),
                    updated_at: at,
                };
                self.bindings.insert(key, binding);
            }
        }
        Ok(())
    }

    pub(super) fn topic_of(&self, session: &SessionId) -> Option<TopicBinding> {
        self.bindings.values().find(|binding| binding.session_id == *session).cloned()
    }
}

trait Key {
    fn key(&self) -> (String, String);
}

impl Key for TopicBinding {
    fn key(&self) -> (String, String) {
        (self.chat_id.clone(), self.thread_id.clone())
    }
}
