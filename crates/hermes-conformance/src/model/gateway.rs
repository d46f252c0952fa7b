//! Handoffs, and changes of topics.

use super::State;
use hermes_session::gateway::{Beside, Handoff};
use hermes_session::{Conflict, SessionId, StoreError, Timestamp, TopicBinding, TopicChange, TopicMode};
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
        Ok(Some(next))
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
