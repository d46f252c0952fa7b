//! What a gateway keeps in a store: sessions on their way from one surface to another, and the topics of chats.

mod handoff;

pub use handoff::{Beside, Claim, Handoff, HandoffEnd, HandoffState, MAX_HANDOFF_ERROR};

use crate::topics::TopicChange;
use crate::{
    ListRequest, Order, PageRequest, Request, SessionFilter, SessionId, SessionStore, SessionSummary, Source,
    StoreError, Timestamp, TopicBinding, TopicMode, View,
};
use async_trait::async_trait;
use std::time::Duration;

/// What a gateway keeps in a store.
///
/// A handoff is told in the agent's three columns (state, platform, error), so that an agent of any version sees it; what those can't tell (when it was asked
/// for, who has it and until when) stands beside them and counts only as long as the columns say the same.
#[async_trait]
pub trait GatewayStore: SessionStore {
    /// Asks for a session to be handed over to a platform; `false` if it is on its way already. One whose worker did not end it in time is not.
    //  Cases: gateway::a_handoff_goes_its_way, gateway::one_on_its_way_is_not_asked_for_again, gateway::a_lost_worker_is_replaced
    async fn request_handoff(&self, id: &SessionId, platform: &str, request: &Request) -> Result<bool, StoreError>;

    /// Takes a handoff that waits, or whose worker did not end it in time, for so long; nothing if there is none to be taken. Of several
    /// that ask at once one gets it.
    //  Cases: gateway::a_handoff_goes_its_way, gateway::one_worker_wins, gateway::a_lost_worker_is_replaced
    async fn claim_handoff(
        &self,
        id: &SessionId,
        lease: Duration,
        request: &Request,
    ) -> Result<Option<Claim>, StoreError>;

    /// Ends a handoff; whether it was this one's to end. With a claim only who has it can: a worker that was replaced changes nothing. Without
    /// one, as agents do, it is completed whenever it was asked for, and failed only as long as it is on its way.
    //  Cases: gateway::a_handoff_goes_its_way, gateway::a_lost_worker_is_replaced, gateway::agents_end_handoffs_without_a_claim
    async fn end_handoff(
        &self,
        id: &SessionId,
        claim: Option<Claim>,
        end: &HandoffEnd,
        request: &Request,
    ) -> Result<bool, StoreError>;

    /// The handoff of a session, whatever its state; nothing if the session is not there.
    //  Cases: gateway::a_handoff_goes_its_way
    async fn handoff(&self, id: &SessionId) -> Result<Option<Handoff>, StoreError>;

    /// The handoffs that could be claimed now, the first asked for first; those of unknown age (an agent asked) by the start of their
    /// sessions; then by id.
    //  Cases: gateway::waiting_in_the_order_of_requests, gateway::a_lost_worker_is_replaced
    async fn waiting_handoffs(&self, now: Timestamp) -> Result<Vec<Handoff>, StoreError>;

    /// Switches topics on or off in a chat, or leads one to a session.
    ///
    /// # Errors
    /// `NotFound` if the session is not there; a conflict if it has another topic.
    //  Cases: gateway::topics_are_switched, gateway::topics_lead_to_sessions
    async fn change_topics(&self, change: &TopicChange, at: Timestamp) -> Result<(), StoreError>;

    /// How topics are set in a chat.
    //  Cases: gateway::topics_are_switched
    async fn topic_mode(&self, chat_id: &str) -> Result<Option<TopicMode>, StoreError>;

    /// Where a topic leads.
    //  Cases: gateway::topics_lead_to_sessions
    async fn topic(&self, chat_id: &str, thread_id: &str) -> Result<Option<TopicBinding>, StoreError>;

    /// The topic that leads to a session.
    //  Cases: gateway::topics_lead_to_sessions
    async fn topic_of(&self, session: &SessionId) -> Result<Option<TopicBinding>, StoreError>;
}

/// The sessions of a person on a platform that no topic leads to, the last active first; so many at most.
///
/// # Errors
/// If the store fails.
pub async fn unlinked_sessions(
    store: &dyn GatewayStore,
    source: &Source,
    user_id: &str,
    limit: usize,
) -> Result<Vec<SessionSummary>, StoreError> {
    const PAGE: u32 = 100;
    let filter = SessionFilter {
        sources: Some(vec![source.clone()]),
        user_id: Some(user_id.to_owned()),
        ..SessionFilter::default()
    };
    let page = PageRequest::first(PAGE);
    let mut request = ListRequest { view: View::Sessions, order: Order::Active, filter, page, after: None };
    let mut unlinked = Vec::new();
    loop {
        let found = store.list(&request).await?;
        for row in found.rows {
            if unlinked.len() >= limit {
                return Ok(unlinked);
            }
            if store.topic_of(&row.id).await?.is_none() {
                unlinked.push(row);
            }
        }
        match found.next {
            Some(next) => request.after = Some(next),
            None => return Ok(unlinked),
        }
    }
}
