//! Handoffs between surfaces, and the topics of chats.

use crate::gateway::{Claim, Handoff, HandoffEnd};
use crate::{
    ConversationStore, Request, SessionId, StoreError, Timestamp, TopicBinding, TopicChange, TopicMode, Topics,
    TopicsImported,
};
use async_trait::async_trait;
use std::time::Duration;

/// Handoffs between surfaces, and the topics of chats.
///
/// A handoff is stored in the agent's three columns (state, platform, error), so that an agent of any version sees it. What those can't hold (when it
/// was requested, who claimed it and until when) is stored beside them and counts only as long as the columns say the same.
#[async_trait]
pub trait GatewayStore: ConversationStore {
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

    /// All that is known of topics of chats. Deleting a conversation takes the bindings of its sessions with it.
    //  Cases: topics::come_and_come_back, topics::go_with_their_sessions
    async fn topics(&self) -> Result<Topics, StoreError>;

    /// Takes topics from outside, in one step: each row that [`topics::judge_mode`](crate::topics::judge_mode) and
    /// [`topics::judge_binding`](crate::topics::judge_binding) say should be put in. What is there stays as it is. Rows that can't be read
    /// are not looked at.
    //  Cases: topics::come_and_come_back, topics::what_cannot_be_taken_is_told
    async fn import_topics(&self, topics: &Topics) -> Result<TopicsImported, StoreError>;
}
