//! Handoffs and topics.

use super::SqliteStore;
use crate::calls::{handoffs, topics};
use crate::write::database::Database;
use async_trait::async_trait;
use hermes_session::gateway::{Claim, Handoff, HandoffEnd};
use hermes_session::{
    GatewayStore, Request, SessionId, StoreError, Timestamp, TopicBinding, TopicChange, TopicMode, Topics,
    TopicsImported,
};
use std::time::Duration;

#[async_trait]
impl GatewayStore for SqliteStore {
    async fn request_handoff(&self, id: &SessionId, platform: &str, request: &Request) -> Result<bool, StoreError> {
        let (id, platform, request) = (id.clone(), platform.to_owned(), request.clone());
        let work = move |database: &Database| handoffs::request(database, &id, &platform, &request);
        self.workers.write("request a handoff", work).await
    }

    async fn claim_handoff(
        &self,
        id: &SessionId,
        lease: Duration,
        request: &Request,
    ) -> Result<Option<Claim>, StoreError> {
        let (id, request) = (id.clone(), request.clone());
        let work = move |database: &Database| handoffs::claim(database, &id, lease, &request);
        self.workers.write("claim a handoff", work).await
    }

    async fn end_handoff(
        &self,
        id: &SessionId,
        claim: Option<Claim>,
        end: &HandoffEnd,
        request: &Request,
    ) -> Result<bool, StoreError> {
        let (id, end, request) = (id.clone(), end.clone(), request.clone());
        let work = move |database: &Database| handoffs::end(database, &id, claim, &end, &request);
        self.workers.write("finish a handoff", work).await
    }

    async fn handoff(&self, id: &SessionId) -> Result<Option<Handoff>, StoreError> {
        let id = id.clone();
        self.workers.read_short("read a handoff", move |database| handoffs::read(database, &id)).await
    }

    async fn waiting_handoffs(&self, now: Timestamp) -> Result<Vec<Handoff>, StoreError> {
        self.workers.read("list handoffs", move |database| handoffs::waiting(database, now)).await
    }

    async fn change_topics(&self, change: &TopicChange, at: Timestamp) -> Result<(), StoreError> {
        change.check()?;
        let change = change.clone();
        self.workers.write("change topics", move |database| topics::change(database, &change, at)).await
    }

    async fn topic_mode(&self, chat_id: &str) -> Result<Option<TopicMode>, StoreError> {
        let chat_id = chat_id.to_owned();
        self.workers.read_short("read topics", move |database| topics::mode_of(database, &chat_id)).await
    }

    async fn topic(&self, chat_id: &str, thread_id: &str) -> Result<Option<TopicBinding>, StoreError> {
        let (chat_id, thread_id) = (chat_id.to_owned(), thread_id.to_owned());
        let work = move |database: &Database| topics::binding_at(database, &chat_id, &thread_id);
        self.workers.read_short("read topics", work).await
    }

    async fn topic_of(&self, session: &SessionId) -> Result<Option<TopicBinding>, StoreError> {
        let session = session.clone();
        self.workers.read_short("read topics", move |database| topics::binding_of(database, &session)).await
    }

    async fn topics(&self) -> Result<Topics, StoreError> {
        self.workers.read("read topics", topics::read).await
    }

    async fn import_topics(&self, topics: &Topics) -> Result<TopicsImported, StoreError> {
        let topics = topics.clone();
        self.workers.write("import topics", move |database| topics::import(database, &topics)).await
    }
}
