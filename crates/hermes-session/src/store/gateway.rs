//! Handoffs between surfaces, and the topics of chats.

use crate::gateway::{Claim, Claimed, Handoff, HandoffEnd, HandoffProgress, HandoffRequest};
use crate::live::Holder;
use crate::{
    ConversationStore, Request, SessionId, StoreError, Timestamp, TopicBinding, TopicChange, TopicMode, Topics,
    TopicsImported,
};
use async_trait::async_trait;
use std::time::Duration;

/// Handoffs between surfaces, and the topics of chats.
///
/// A handoff is stored in the agent's three columns (state, platform, error), so that an agent of any version sees it.
/// Data that they can't hold (when it was requested, who claimed it and until when) is stored beside them and counts
/// only as long as the columns have the same state.
#[async_trait]
pub trait GatewayStore: ConversationStore {
    /// Requests the handoff of a session to a platform. Returns `false` if it is pending, or running with a valid
    /// lease.
    ///
    /// # Errors
    /// [`Conflict::TurnOpen`](crate::Conflict::TurnOpen) if the conversation is in a turn.
    //  Cases: gateway::a_handoff_goes_its_way, gateway::one_on_its_way_is_not_asked_for_again, gateway::a_lost_worker_is_replaced,
    //         gateway::a_conversation_in_a_turn_is_not_handed_over
    async fn request_handoff(
        &self,
        id: &SessionId,
        what: &HandoffRequest,
        request: &Request,
    ) -> Result<bool, StoreError>;

    /// Claims a pending handoff, or one whose lease expired, for `lease`. Returns `None` if it can't be claimed. Of
    /// concurrent callers exactly one succeeds.
    ///
    /// A worker that names itself also gets the lease of the conversation, for the same time, from whoever has it; the
    /// result is `None` if its owner is in a turn. Agents name no holder, and leases stay as they are.
    //  Cases: gateway::a_handoff_goes_its_way, gateway::one_worker_wins, gateway::a_lost_worker_is_replaced,
    //         gateway::a_claim_moves_the_lease, gateway::a_request_expires
    async fn claim_handoff(
        &self,
        id: &SessionId,
        lease: Duration,
        who: Option<&Holder>,
        request: &Request,
    ) -> Result<Option<Claimed>, StoreError>;

    /// Records the progress of a claimed handoff and renews its lease. Returns `false` if the claim is not the current
    /// one. The lease of the conversation is renewed by [`LeaseStore::renew`](crate::LeaseStore::renew).
    //  Cases: gateway::progress_is_kept_for_the_next_worker
    async fn advance_handoff(
        &self,
        id: &SessionId,
        claim: Claim,
        progress: &HandoffProgress,
        request: &Request,
    ) -> Result<bool, StoreError>;

    /// Ends a handoff. Returns `false` if the caller may not end it. With a claim only its holder may: a worker that
    /// was replaced changes nothing. Without one, as agents and waiting clients do, a handoff that was ever requested
    /// can be completed, and one that is pending or running can fail, unless a worker that named itself holds it.
    ///
    /// One step together with the end: a session that [arrived](HandoffEnd::Arrived) is bound to its place and
    /// reopened. If a handoff fails, the messages of its synthetic turn are undone, the turn is closed, and its
    /// undelivered replies are dropped. Both release the lease of [`Request::fence`].
    //  Cases: gateway::a_handoff_goes_its_way, gateway::a_lost_worker_is_replaced, gateway::agents_end_handoffs_without_a_claim,
    //         gateway::a_waiting_client_ends_no_running_handoff, gateway::an_arrival_binds_the_place,
    //         gateway::a_failed_handoff_leaves_the_session_as_it_was
    async fn end_handoff(
        &self,
        id: &SessionId,
        claim: Option<Claim>,
        end: &HandoffEnd,
        request: &Request,
    ) -> Result<bool, StoreError>;

    /// Ends the handoffs that nobody claimed in time as failed. Returns their sessions, in order.
    //  Cases: gateway::a_request_expires
    async fn expire_handoffs(&self, now: Timestamp) -> Result<Vec<SessionId>, StoreError>;

    /// Returns the handoff of a session, whatever its state; `None` if the session does not exist.
    //  Cases: gateway::a_handoff_goes_its_way
    async fn handoff(&self, id: &SessionId) -> Result<Option<Handoff>, StoreError>;

    /// Returns the handoffs that could be claimed now, in the order of their requests. Those requested by an agent,
    /// without a time, are ordered by the start of their sessions; ties by id.
    //  Cases: gateway::waiting_in_the_order_of_requests, gateway::a_lost_worker_is_replaced
    async fn waiting_handoffs(&self, now: Timestamp) -> Result<Vec<Handoff>, StoreError>;

    /// Enables or disables topics in a chat, or links a topic to a session.
    ///
    /// # Errors
    /// `NotFound` if the session does not exist; a conflict if it is linked to another topic.
    //  Cases: gateway::topics_are_switched, gateway::topics_lead_to_sessions
    async fn change_topics(&self, change: &TopicChange, at: Timestamp) -> Result<(), StoreError>;

    /// Returns the topic settings of a chat.
    //  Cases: gateway::topics_are_switched
    async fn topic_mode(&self, chat_id: &str) -> Result<Option<TopicMode>, StoreError>;

    /// Returns the binding of a topic.
    //  Cases: gateway::topics_lead_to_sessions
    async fn topic(&self, chat_id: &str, thread_id: &str) -> Result<Option<TopicBinding>, StoreError>;

    /// Returns the topic that is linked to a session.
    //  Cases: gateway::topics_lead_to_sessions
    async fn topic_of(&self, session: &SessionId) -> Result<Option<TopicBinding>, StoreError>;

    /// Returns all data about topics of chats. Deleting a conversation also deletes the bindings of its sessions.
    //  Cases: topics::come_and_come_back, topics::go_with_their_sessions
    async fn topics(&self) -> Result<Topics, StoreError>;

    /// Imports topics in one step: each row for which [`topics::judge_mode`](crate::topics::judge_mode) or
    /// [`topics::judge_binding`](crate::topics::judge_binding) returns `Take`. Existing rows stay unchanged. Unreadable
    /// rows are ignored.
    //  Cases: topics::come_and_come_back, topics::topics_that_cannot_be_imported_are_reported
    async fn import_topics(&self, topics: &Topics) -> Result<TopicsImported, StoreError>;
}
