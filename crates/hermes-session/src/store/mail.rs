//! Mail: messages received from platforms, and replies to deliver.

use crate::live::{Account, Holder, Inbound, InboxId, InboxItem, NewOutbound, Outbound, OutboundId, Received, Settled};
use crate::{ConversationStore, Request, StoreError, Timestamp};
use async_trait::async_trait;

/// Mail: messages received from platforms, and replies to deliver.
///
/// The calls of this trait take no request key: a repetition is recognised by the ids of the platform and by the number
/// of the attempt. Times are judged by [`Request::at`] on every store.
///
/// Deleting a session dismisses the messages that it was to get and that its turn has: they are done, without their
/// session, and known if they are delivered again. The parts of its replies are deleted.
//  Cases: mail::gone_with_the_conversation
#[async_trait]
pub trait MailStore: ConversationStore {
    /// Stores received messages, each once, and the cursor from which the platform continues, in one step. Returns the
    /// answer for each message. A message that was stored before stays as it is. Without a cursor the stored one stays.
    ///
    /// # Errors
    /// `Invalid` for an unusable id or cursor, or an over-long payload; `NotFound` if a message is meant for a session
    /// that does not exist. Nothing is stored then.
    //  Cases: mail::received_once, mail::the_cursor_moves_with_the_batch, mail::a_large_message_is_received,
    //         mail::unusable_values_are_refused
    async fn receive(
        &self,
        account: &Account,
        batch: &[Inbound],
        cursor: Option<&str>,
        request: &Request,
    ) -> Result<Vec<Received>, StoreError>;

    /// Returns the cursor of an account.
    //  Cases: mail::the_cursor_moves_with_the_batch
    async fn cursor(&self, account: &Account) -> Result<Option<String>, StoreError>;

    /// Returns up to `limit` messages that wait for a turn, after a message, in the order of their ids.
    //  Cases: mail::received_once, mail::gone_with_the_conversation
    async fn waiting(&self, after: Option<InboxId>, limit: u32) -> Result<Vec<InboxItem>, StoreError>;

    /// Returns a received message; `None` if there is none of that id.
    //  Cases: mail::received_once
    async fn inbox_item(&self, id: InboxId) -> Result<Option<InboxItem>, StoreError>;

    /// Queues replies without a turn, and marks the received messages that they answer as done, in one step. Returns
    /// the ids of the parts.
    ///
    /// # Errors
    /// [`Conflict::InboxSettled`](crate::Conflict::InboxSettled) if a received message does not wait.
    //  Cases: mail::posted_without_a_turn, mail::posting_answers_a_message_once,
    //         mail::unusable_values_are_refused
    async fn post(
        &self,
        answered: &[InboxId],
        replies: &[NewOutbound],
        request: &Request,
    ) -> Result<Vec<OutboundId>, StoreError>;

    /// Takes up to `limit` parts that are due for a deliverer, the oldest first, and counts the attempt. Only the first
    /// unsettled part of a destination is taken, so that parts for one destination are delivered in order. A part that
    /// another deliverer had is [doubtful](Outbound::doubtful).
    //  Cases: mail::parts_go_in_order, mail::a_lost_deliverer_leaves_a_doubtful_part, mail::two_deliverers_share_nothing,
    //         mail::a_part_waits_until_its_time
    async fn take_outbound(
        &self,
        account: &Account,
        who: &Holder,
        limit: u32,
        request: &Request,
    ) -> Result<Vec<Outbound>, StoreError>;

    /// Records the result of an attempt. Returns `false` if that attempt is not the current one, and changes nothing.
    //  Cases: mail::parts_go_in_order, mail::an_old_attempt_settles_nothing, mail::a_refused_part_is_final,
    //         mail::two_deliverers_share_nothing
    async fn settle_outbound(
        &self,
        id: OutboundId,
        attempt: u32,
        how: &Settled,
        request: &Request,
    ) -> Result<bool, StoreError>;

    /// Returns up to `limit` parts of replies after a part, in any state, in the order of their ids.
    //  Cases: mail::parts_go_in_order
    async fn outbound(&self, after: Option<OutboundId>, limit: u32) -> Result<Vec<Outbound>, StoreError>;

    /// Deletes received messages that were done, and parts that were settled, before a time. Returns how many; at most
    /// `limit` of each. A message that is delivered again after that is new.
    //  Cases: mail::old_mail_is_forgotten
    async fn forget_mail(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
