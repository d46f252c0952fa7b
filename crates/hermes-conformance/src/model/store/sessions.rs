//! Sessions and their messages.

use super::super::{Life, ModelStore, life_of};
use async_trait::async_trait;
use hermes_session::{
    EndReason, Ensured, Message, MessageId, MessageRequest, NewChild, NewMessage, NewSession, Request, Session,
    SessionId, SessionPatch, SessionStore, StoreError, Title, UsageUpdate, change, checked_meta_key, checked_prefix,
};

#[async_trait]
impl SessionStore for ModelStore {
    async fn create(&self, session: &NewSession, request: &Request) -> Result<(), StoreError> {
        let session = session.clone().checked()?;
        self.once_for(
            request,
            change::create(&session),
            |_| Ok(judge_of(&session)),
            |state| state.create(&session, request.at),
            |()| Life::Session(session.id.clone()),
        )
    }

    async fn ensure(&self, session: &NewSession, request: &Request) -> Result<Ensured, StoreError> {
        let session = session.clone().checked()?;
        self.once_for(
            request,
            change::ensure(&session),
            |_| Ok(judge_of(&session)),
            |state| state.ensure(&session, request.at),
            |_| Life::Session(session.id.clone()),
        )
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        Ok(self.state().sessions.get(id).cloned())
    }

    async fn sessions(&self, ids: &[SessionId]) -> Result<Vec<Session>, StoreError> {
        let state = self.state();
        Ok(ids.iter().filter_map(|id| state.sessions.get(id).cloned()).collect())
    }

    async fn ids_with_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let prefix = checked_prefix(prefix)?;
        let state = self.state();
        let found = state.sessions.keys().filter(|id| id.as_str().starts_with(&prefix));
        Ok(found.take(limit as usize).cloned().collect())
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

    async fn split(
        &self,
        parent: &SessionId,
        child: &NewChild,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Option<Title>, StoreError> {
        let messages = NewMessage::checked_all(messages)?;
        self.once_for(
            request,
            change::split(parent, child, &messages),
            |_| Ok(parent.clone()),
            |state| state.split(parent, child, &messages, request.at),
            |_| Life::Session(child.id.clone()),
        )
    }

    async fn branch(
        &self,
        parent: &SessionId,
        child: &NewChild,
        request: &Request,
    ) -> Result<Option<Title>, StoreError> {
        self.once_for(
            request,
            change::branch(parent, child),
            |_| Ok(parent.clone()),
            |state| state.branch(parent, child, request.at),
            |_| Life::Session(child.id.clone()),
        )
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
            |_| Ok(id.clone()),
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
            |_| Ok(id.clone()),
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
}

/// Returns the session by whose owner a new session is judged.
fn judge_of(new: &NewSession) -> SessionId {
    new.parent_session_id.clone().unwrap_or_else(|| new.id.clone())
}
