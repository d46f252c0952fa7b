//! Sessions, their messages, and values stored beside them.

use crate::{
    EndReason, Ensured, Message, MessageId, MessageRequest, NewChild, NewMessage, NewSession, Request, Session,
    SessionId, SessionPatch, StoreError, Title, UsageUpdate,
};
use async_trait::async_trait;

/// Sessions, their messages, and values stored beside them.
///
/// For every method of the contract that changes something:
/// * It happens wholly or not at all, even when its future is dropped, and returns only once it is on disk.
/// * A [`Request`] with a key is applied once; a retry returns the same result. The same key with other content is
///   [`Conflict::KeyReused`](crate::Conflict::KeyReused). A key lives as long as the session, or the messages, it was
///   used for. The request's time does not count as content.
/// * For an unknown session the result is [`StoreError::NotFound`] and nothing is written.
//  Cases: requests::*, concurrency::a_dropped_future_is_whole_or_nothing, sessions::unknown_session
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Creates a session, stamped with its relation to its parent.
    ///
    /// # Errors
    /// [`Conflict::Exists`](crate::Conflict::Exists) if the id is taken; `NotFound` if the parent does not exist;
    /// `Invalid` if it would be its own parent; [`Conflict::AlreadySplit`](crate::Conflict::AlreadySplit) if it should
    /// continue a session that has a continuation already.
    //  Cases: sessions::create_then_read, sessions::a_taken_id_is_a_conflict, sessions::the_parent_must_exist,
    //         sessions::nobody_is_their_own_parent, lineage::one_continuation_only
    async fn create(&self, session: &NewSession, request: &Request) -> Result<(), StoreError>;

    /// Creates a session unless it exists.
    ///
    /// A placeholder (source `unknown`) gets the source, and the given values where it has none. Any other session is
    /// left unchanged.
    //  Cases: sessions::ensure_makes_fills_or_leaves
    async fn ensure(&self, session: &NewSession, request: &Request) -> Result<Ensured, StoreError>;

    /// Returns the session with exactly this id, byte by byte; `None` if there is none.
    //  Cases: sessions::ids_are_exact
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError>;

    /// Returns those of these sessions that exist, in the order of the ids, from one snapshot of the store.
    //  Cases: sessions::several_at_once
    async fn sessions(&self, ids: &[SessionId]) -> Result<Vec<Session>, StoreError>;

    /// Returns up to `limit` ids that start with `prefix`, byte by byte, in order.
    ///
    /// # Errors
    /// `Invalid` if the prefix is empty.
    //  Cases: sessions::prefixes_are_literal
    async fn ids_with_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<SessionId>, StoreError>;

    /// Changes only the values that the patch gives.
    //  Cases: sessions::a_patch_changes_only_what_it_names
    async fn update(&self, id: &SessionId, patch: &SessionPatch, request: &Request) -> Result<(), StoreError>;

    /// Ends a session. The first reason wins: returns `false` if it had ended before, and nothing changes.
    //  Cases: sessions::the_first_end_wins
    async fn end(&self, id: &SessionId, reason: &EndReason, request: &Request) -> Result<bool, StoreError>;

    /// Makes an ended session active again. Returns `false` if it was active. Its relations to other sessions stay.
    //  Cases: sessions::reopening_keeps_the_lineage
    async fn reopen(&self, id: &SessionId, request: &Request) -> Result<bool, StoreError>;

    /// Continues a session in a new one, as context compression does: ends it with `compression` (whatever it had ended
    /// with), creates the child with `messages` as its transcript, and titles it (the requested title, or the next in
    /// the parent's lineage). The child inherits source, user, model, settings
    /// ([`crate::lineage::settings_of_continuation`]) and instructions, and never starts before the parent's end.
    /// Returns the child's title.
    ///
    /// # Errors
    /// [`Conflict::AlreadySplit`](crate::Conflict::AlreadySplit) if it has a continuation already: of concurrent
    /// callers exactly one succeeds.
    //  Cases: lineage::a_split_is_one_step, lineage::one_continuation_only, lineage::two_splits_one_winner
    async fn split(
        &self,
        parent: &SessionId,
        child: &NewChild,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Option<Title>, StoreError>;

    /// Starts a new conversation from a copy of a session: messages with their times, and the values that a child
    /// inherits (its settings say that it is a branch: [`crate::lineage::settings_of_branch`]). Ends the parent with
    /// `branched` if it is active. The title is chosen as in [`SessionStore::split`]. Returns the child's title.
    //  Cases: lineage::a_branch_copies_and_stands_alone
    async fn branch(
        &self,
        parent: &SessionId,
        child: &NewChild,
        request: &Request,
    ) -> Result<Option<Title>, StoreError>;

    /// Appends messages and returns their ids, ascending.
    ///
    /// A batch is stored completely or not at all. The messages of a session keep the order in which `append` returned,
    /// in whichever process, whatever their times are. The session's counters are updated in the same step. Ended
    /// sessions accept messages too.
    //  Cases: messages::keep_order, messages::counters_move_together, messages::a_batch_is_all_or_nothing,
    //         messages::every_field_comes_back, text::*
    async fn append(
        &self,
        id: &SessionId,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError>;

    /// Replaces all messages of a session and sets its counters; usage stays. An empty list clears it.
    //  Cases: messages::replace_is_all_or_nothing, messages::replace_with_nothing_clears
    async fn replace(
        &self,
        id: &SessionId,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError>;

    /// Returns a range of a session's messages, oldest first.
    ///
    /// A column that can't be read is reported in [`Message::faults`] and hides nothing else. A request for messages
    /// [as said](MessageRequest::as_said) returns every message that a search finds.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: messages::pages_neither_skip_nor_repeat, messages::the_last_page_first, messages::as_said_is_the_transcript,
    //         states::a_request_says_which_states,
    //         sessions::unknown_session
    async fn messages(&self, id: &SessionId, request: &MessageRequest) -> Result<Vec<Message>, StoreError>;

    /// Returns the neighbourhood of each position, in the order given: the last message before it and up to two from it
    /// on, so that an existing message comes with its neighbours. For a session that does not exist it is empty.
    //  Cases: messages::around_places
    async fn around(&self, places: &[(SessionId, MessageId)]) -> Result<Vec<Vec<Message>>, StoreError>;

    /// Updates the counters of a session with [`Usage::after`](crate::Usage::after). A model in the update is stored if
    /// the session has none.
    //  Cases: usage::adds_up, usage::sets_only_what_is_given, usage::the_model_is_filled_once
    async fn record_usage(&self, id: &SessionId, update: &UsageUpdate, request: &Request) -> Result<(), StoreError>;

    /// Returns a value stored beside the sessions; `None` if there is none.
    //  Cases: meta::kept_and_overwritten
    async fn meta(&self, key: &str) -> Result<Option<String>, StoreError>;

    /// Stores a value beside the sessions, or removes it.
    ///
    /// # Errors
    /// `Invalid` if the key is empty or over-long.
    //  Cases: meta::kept_and_overwritten, meta::keys_are_checked
    async fn set_meta(&self, key: &str, value: Option<&str>) -> Result<(), StoreError>;

    /// Stores or removes a value if the current one is `expected` (compare-and-set). Returns whether it was. Of
    /// concurrent callers with the same expectation exactly one succeeds.
    //  Cases: meta::of_two_that_expect_the_same_one_wins
    async fn swap_meta(&self, key: &str, expected: Option<&str>, value: Option<&str>) -> Result<bool, StoreError>;
}
