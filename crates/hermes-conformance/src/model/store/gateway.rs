//! Handoffs and topics.

use super::super::ModelStore;
use async_trait::async_trait;
use hermes_session::gateway::{Claim, Handoff, HandoffEnd};
use hermes_session::{
    GatewayStore, Request, SessionId, StoreError, Timestamp, TopicBinding, TopicChange, TopicMode, Topics,
    TopicsImported, change,
};
use std::time::Duration;

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

    async fn topics(&self) -> Result<Topics, StoreError> {
        Ok(self.state().topics())
    }

    async fn import_topics(&self, topics: &Topics) -> Result<TopicsImported, StoreError> {
        Ok(self.state().import_topics(topics))
    }
}
