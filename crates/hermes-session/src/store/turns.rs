//! Turns, and undone messages.

use crate::live::{NewTurn, OpenedTurn, Turn, TurnClose, TurnId, Undone, UndoneMessage};
use crate::{ConversationStore, MessageId, Request, SessionId, StoreError};
use async_trait::async_trait;

/// Turns, and undone messages.
///
/// The promises of [`SessionStore`](crate::SessionStore) about changes hold here too. A turn belongs to the conversation
/// that its session is part of at the moment, and ends when its session is deleted.
//  Cases: turns::a_turn_belongs_where_its_session_does, turns::gone_with_the_conversation
#[async_trait]
pub trait TurnStore: ConversationStore {
    /// Opens a turn: appends its messages, marks their inbox rows as taken, and takes the notice of its route, in one
    /// step.
    ///
    /// A conversation has at most one open turn; if two conversations with open turns were linked, the older one counts.
    /// A caller with a fence closes one that was opened under another fence, or
    /// under none, as interrupted: its inbox rows are done, and its messages stay.
    ///
    /// # Errors
    /// [`Conflict::TurnOpen`](crate::Conflict::TurnOpen) if a turn is open under the same fence, or if the caller has none;
    /// [`Conflict::InboxSettled`](crate::Conflict::InboxSettled) if a row of the inbox does not wait.
    //  Cases: turns::opened_and_closed, turns::one_turn_at_a_time, turns::a_lost_owner_is_interrupted,
    //         turns::inbox_rows_are_taken_once, turns::an_open_turn_repeats_under_its_key, turns::a_foreign_message_is_met_as_moved,
    //         turns::the_notice_of_a_route_is_delivered_once, turns::a_fence_is_needed_to_stay_the_owner,
    //         turns::of_many_turns_one_is_opened, turns::unusable_turns_are_refused
    async fn open_turn(&self, turn: &NewTurn, request: &Request) -> Result<OpenedTurn, StoreError>;

    /// Makes the caller the owner of an open turn that another process left, and counts the attempt. The turn has the
    /// fence of the request from now on.
    ///
    /// # Errors
    /// [`Conflict::TurnClosed`](crate::Conflict::TurnClosed) if the turn is not open.
    //  Cases: turns::resumed_by_the_next_owner
    async fn resume_turn(&self, turn: TurnId, request: &Request) -> Result<Turn, StoreError>;

    /// Closes a turn: appends its last messages, updates usage, queues its replies, and marks its inbox rows as done, in
    /// one step. Returns the ids of the messages.
    ///
    /// # Errors
    /// [`Conflict::TurnClosed`](crate::Conflict::TurnClosed) if the turn is not open.
    //  Cases: turns::opened_and_closed, turns::closed_once, turns::closing_repeats_under_its_key,
    //         turns::a_split_carries_the_turn, turns::replies_are_queued_with_the_answer
    async fn close_turn(
        &self,
        turn: TurnId,
        close: &TurnClose,
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError>;

    /// Returns up to `limit` open turns after a turn, in the order of their ids.
    //  Cases: turns::opened_and_closed, turns::gone_with_the_conversation
    async fn open_turns(&self, after: Option<TurnId>, limit: u32) -> Result<Vec<Turn>, StoreError>;

    /// Undoes the transcript of a session from a message on: the messages are no longer replayed or found, and kept.
    /// Counters and preview follow; the time of the last activity stays. Request keys of these messages are no longer
    /// valid.
    ///
    /// # Errors
    /// `Invalid` ([`not_in_transcript`](crate::live::undo::not_in_transcript)) if the message is not part of the
    /// session's transcript.
    //  Cases: undo::what_was_undone_is_kept, undo::counters_and_preview_follow, undo::not_found_by_a_search,
    //         undo::only_the_transcript_can_be_undone, undo::repeats_under_its_key, undo::exported_and_transferred,
    //         undo::it_survives_the_trash
    async fn undo(&self, id: &SessionId, from: MessageId, request: &Request) -> Result<Undone, StoreError>;

    /// Returns the undone messages of a session in the order of their ids.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: undo::what_was_undone_is_kept
    async fn undone(&self, id: &SessionId) -> Result<Vec<UndoneMessage>, StoreError>;
}
