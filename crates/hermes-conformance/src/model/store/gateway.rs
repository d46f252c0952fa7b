//! Handoffs and topics.

use super::super::ModelStore;
use async_trait::async_trait;
use hermes_session::gateway::{Claim, Claimed, Handoff, HandoffEnd, HandoffProgress, HandoffRequest};
use hermes_session::live::Holder;
use hermes_session::live::lease::check_ttl;
use hermes_session::{
    GatewayStore, Request, SessionId, StoreError, Timestamp, TopicBinding, TopicChange, TopicMode, Topics,
    TopicsImported, change,
};
use std::time::Duration;

#[async_trait]
impl GatewayStore for ModelStore {
    async fn request_handoff(
        &self,
        id: &SessionId,
        what: &HandoffRequest,
        request: &Request,
    ) -> Result<bool, StoreError> {
        what.check()?;
        let print = change::request_handoff(id, what);
        self.once(request, print, id, |state| state.request_handoff(id, what, request.at))
    }

    async fn claim_handoff(
        &self,
        id: &SessionId,
        lease: Duration,
        who: Option<&Holder>,
        request: &Request,
    ) -> Result<Option<Claimed>, StoreError> {
        if let Some(who) = who {
            who.check()?;
            check_ttl(lease)?;
        }
        self.once(request, change::claim_handoff(id), id, |state| state.claim_handoff(id, lease, who, request.at))
    }

    async fn advance_handoff(
        &self,
        id: &SessionId,
        claim: Claim,
        progress: &HandoffProgress,
        request: &Request,
    ) -> Result<bool, StoreError> {
        progress.check()?;
        self.once(request, change::advance_handoff(id, claim, progress), id, |state| {
            Ok(state.step(id, |handoff| handoff.advanced(claim, progress, request.at))?.is_some())
        })
    }

    async fn expire_handoffs(&self, now: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        let mut state = self.state();
        let ids: Vec<SessionId> = state.sessions.keys().cloned().collect();
        let mut expired = Vec::new();
        for id in ids {
            if state.step(&id, |handoff| handoff.expired(now))?.is_some() {
                expired.push(id);
            }
        }
        Ok(expired)
    }

    async fn end_handoff(
        &self,
        id: &SessionId,
        claim: Option<Claim>,
        end: &HandoffEnd,
        request: &Request,
    ) -> Result<bool, StoreError> {
        let end = end.clone().checked()?;
        self.once(request, change::end_handoff(id, claim, &end), id, |state| {
            state.end_handoff(id, claim, &end, request)
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

    async fn topics(&self) -> Result<Topics, StoreError> {
        Ok(self.state().topics())
    }

    async fn import_topics(&self, topics: &Topics) -> Result<TopicsImported, StoreError> {
        Ok(self.state().import_topics(topics))
    }
}
