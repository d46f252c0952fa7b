//! Handoffs and topics.

use super::SqliteStore;
use crate::calls::{handoffs, topics};
use crate::write::database::Database;
use async_trait::async_trait;
use hermes_session::gateway::{Claim, Claimed, Handoff, HandoffEnd, HandoffProgress, HandoffRequest};
use hermes_session::live::{Holder, SwitchTo};
use hermes_session::{
    GatewayStore, Request, SessionId, StoreError, Timestamp, TopicBinding, TopicChange, TopicMode, Topics,
    TopicsImported,
};
use std::time::Duration;

#[async_trait]
impl GatewayStore for SqliteStore {
    async fn request_handoff(
        &self,
        id: &SessionId,
        what: &HandoffRequest,
        request: &Request,
    ) -> Result<bool, StoreError> {
        what.check()?;
        let (id, what, request) = (id.clone(), what.clone(), request.clone());
        let work = move |database: &Database| handoffs::request(database, &id, &what, &request);
        self.workers.write("request a handoff", work).await
    }

    async fn claim_handoff(
        &self,
        id: &SessionId,
        lease: Duration,
        who: Option<&Holder>,
        request: &Request,
    ) -> Result<Option<Claimed>, StoreError> {
        who.map_or(Ok(()), Holder::check)?;
        let (id, who, request) = (id.clone(), who.cloned(), request.clone());
        let work = move |database: &Database| handoffs::claim(database, &id, lease, who.as_ref(), &request);
        self.workers.write("claim a handoff", work).await
    }

    async fn advance_handoff(
        &self,
        id: &SessionId,
        claim: Claim,
        progress: &HandoffProgress,
        request: &Request,
    ) -> Result<bool, StoreError> {
        progress.check()?;
        let (id, progress, request) = (id.clone(), progress.clone(), request.clone());
        let work = move |database: &Database| handoffs::advance(database, &id, claim, &progress, &request);
        self.workers.write("continue a handoff", work).await
    }

    async fn expire_handoffs(&self, now: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        self.workers.write("end handoffs that expired", move |database| handoffs::expire(database, now)).await
    }

    async fn end_handoff(
        &self,
        id: &SessionId,
        claim: Option<Claim>,
        end: &HandoffEnd,
        request: &Request,
    ) -> Result<bool, StoreError> {
        const OP: &str = "finish a handoff";
        let (id, end, request) = (id.clone(), end.clone().checked()?, request.clone());
        let made = match &end {
            HandoffEnd::Arrived(switch) => match &switch.to {
                SwitchTo::New(new) => Some(new.id.clone()),
                SwitchTo::Existing(_) => None,
            },
            HandoffEnd::Completed | HandoffEnd::Failed(_) => None,
        };
        let work = move |database: &Database| handoffs::end(database, &id, claim, &end, &request);
        match made {
            Some(new) => self.make(OP, new, work).await,
            None => self.workers.write(OP, work).await,
        }
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
