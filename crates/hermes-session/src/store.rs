//! The contract: what every store promises, whatever is underneath.
//!
//! A provider answers literally; what can be composed of these calls is a function
//! of this crate, written once. Each promise below has a case in `hermes-conformance`.

use crate::extra::Table;
use crate::import::{ImportPiece, Imported};
use crate::retention::{Pruned, RetentionPolicy};
use crate::{
    BackupReport, Counts, EndReason, Ensured, Foreign, Insights, InsightsRequest, Lineage, ListRequest, Listing,
    MarkStore, Message, MessageId, MessageState, NewChild, NewMessage, NewSession, Relation, Report, Request, Room,
    Session, SessionId, SessionPatch, Statistics, StoreError, StoreStatus, Timestamp, Title, Topics, TopicsImported,
    TrashStore, UsageUpdate,
};
use async_trait::async_trait;
use std::path::Path;

/// Sessions, messages, titles and lineage.
///
/// For every method that changes something:
/// * It happens wholly or not at all, also when its future is dropped, and is answered only once it is on disk.
/// * A [`Request`] with a key is applied once; sent again it answers the same. The same key with other content is
///   [`Conflict::KeyReused`](crate::Conflict::KeyReused). A key lives as long as the session, or the messages, it
///   was for. The request's time does not count as content.
/// * An unknown session is [`StoreError::NotFound`] and nothing is written.
//  Cases: requests::*, concurrency::a_dropped_future_is_whole_or_nothing, sessions::unknown_session
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Makes a session, stamped with what it is to its parent.
    ///
    /// # Errors
    /// [`Conflict::Exists`](crate::Conflict::Exists) if the id is taken; `NotFound` if the parent is not there;
    /// `Invalid` if it would be its own parent; [`Conflict::AlreadySplit`](crate::Conflict::AlreadySplit) if it
    /// should carry on a session that is carried on already.
    //  Cases: sessions::create_then_read, sessions::a_taken_id_is_a_conflict, sessions::the_parent_must_exist,
    //         sessions::nobody_is_their_own_parent, lineage::one_continuation_only
    async fn create(&self, session: &NewSession, request: &Request) -> Result<(), StoreError>;

    /// Makes a session unless it is there.
    ///
    /// One that was only heard of (source `unknown`) gets the source, and what was given where it has nothing. Any other is left
    /// as it is.
    //  Cases: sessions::ensure_makes_fills_or_leaves
    async fn ensure(&self, session: &NewSession, request: &Request) -> Result<Ensured, StoreError>;

    /// The session with exactly this id, byte by byte; `None` if there is none.
    //  Cases: sessions::ids_are_exact
    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError>;

    /// The sessions of these ids that are there, in the order of the ids, in one state of the store.
    //  Cases: sessions::several_at_once
    async fn sessions(&self, ids: &[SessionId]) -> Result<Vec<Session>, StoreError>;

    /// Changes what the patch names and nothing else.
    //  Cases: sessions::a_patch_changes_only_what_it_names
    async fn update(&self, id: &SessionId, patch: &SessionPatch, request: &Request) -> Result<(), StoreError>;

    /// Ends a session. The first reason wins: `false` if it had ended before, and nothing changes.
    //  Cases: sessions::the_first_end_wins
    async fn end(&self, id: &SessionId, reason: &EndReason, request: &Request) -> Result<bool, StoreError>;

    /// Makes an ended session active again; `false` if it was active. What it is to other sessions stays.
    //  Cases: sessions::reopening_keeps_the_lineage
    async fn reopen(&self, id: &SessionId, request: &Request) -> Result<bool, StoreError>;

    /// Gives a session its title, or takes it away. Its own title again is fine.
    ///
    /// # Errors
    /// [`Conflict::TitleTaken`](crate::Conflict::TitleTaken) names the session that has it.
    //  Cases: titles::unique_and_case_sensitive, titles::own_title_again, titles::cleared
    async fn set_title(&self, id: &SessionId, title: Option<&Title>, request: &Request) -> Result<(), StoreError>;

    /// Gives a session the next free title in the lineage of `base` ([`Title::next`], its own title not counted) and tells it.
    /// Any number of callers at once get different titles.
    //  Cases: titles::numbers_are_allocated_once, titles::a_long_title_keeps_its_number
    async fn allocate_title(&self, id: &SessionId, base: &Title, request: &Request) -> Result<Title, StoreError>;

    /// Carries a session on in a new one, as context compression does: ends it with `compression` (whatever it had ended with),
    /// makes the child with `messages` as its transcript, and titles it (the title asked for, or the next in the parent's lineage).
    /// The child inherits source, user, model, settings ([`crate::lineage::settings_of_continuation`]) and instructions, and never
    /// starts before the parent's end. Answers the child's title.
    ///
    /// # Errors
    /// [`Conflict::AlreadySplit`](crate::Conflict::AlreadySplit) if it is carried on already: of any number of callers one wins.
    //  Cases: lineage::a_split_is_one_step, lineage::one_continuation_only, lineage::two_splits_one_winner
    async fn split(
        &self,
        parent: &SessionId,
        child: &NewChild,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Option<Title>, StoreError>;

    /// Starts a conversation of its own from a copy of a session: messages with their times, and what a child inherits (its settings say
    /// that it is a branch: [`crate::lineage::settings_of_branch`]). Ends the parent with `branched` if it is active. The title as with [`SessionStore::split`]. Answers the child's title.
    //  Cases: lineage::a_branch_copies_and_stands_alone
    async fn branch(
        &self,
        parent: &SessionId,
        child: &NewChild,
        request: &Request,
    ) -> Result<Option<Title>, StoreError>;

    /// Appends messages and answers their ids, ascending.
    ///
    /// All or none of a batch. The messages of a session keep the order in which `append` returned, whichever process called it,
    /// and whatever their times say. The session's counters move in the same step. Ended sessions take messages too.
    //  Cases: messages::keep_order, messages::counters_move_together, messages::a_batch_is_all_or_nothing,
    //         messages::every_field_comes_back, text::*
    async fn append(
        &self,
        id: &SessionId,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError>;

    /// Puts other messages in place of all that a session has, and sets its counters; usage stays. An empty list clears it.
    //  Cases: messages::replace_is_all_or_nothing, messages::replace_with_nothing_clears
    async fn replace(
        &self,
        id: &SessionId,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError>;

    /// A stretch of a session's messages, oldest first.
    ///
    /// A column that can't be read is told in [`Message::faults`] and hides nothing else. What is asked for
    /// [as it was said](MessageRequest::as_said) has every message that a search finds.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: messages::pages_neither_skip_nor_repeat, messages::the_last_page_first, messages::as_said_is_the_transcript,
    //         states::a_request_says_which_states,
    //         sessions::unknown_session
    async fn messages(&self, id: &SessionId, request: &MessageRequest) -> Result<Vec<Message>, StoreError>;

    /// What stands around each of these places of sessions, in their order: the last message before it and up to two from it on, so a message
    /// that is there comes with its neighbours. Around a place of no session stands nothing.
    //  Cases: messages::around_places
    async fn around(&self, places: &[(SessionId, MessageId)]) -> Result<Vec<Vec<Message>>, StoreError>;

    /// Moves the counters of a session as [`Usage::after`](crate::Usage::after) says; a model given here counts if the session has none.
    //  Cases: usage::adds_up, usage::sets_only_what_is_given, usage::the_model_is_filled_once
    async fn record_usage(&self, id: &SessionId, update: &UsageUpdate, request: &Request) -> Result<(), StoreError>;

    /// A page of sessions or conversations, without system prompts.
    ///
    /// A compressed chain is one row. Branches are rows of their own, whatever became of the session they came from; so is a
    /// session whose parent is gone. A row that can't be read is told apart.
    //  Cases: listing::*, ordering::*, scope::lists_and_counts_stay_within, scope::a_conversation_by_any_of_its_sessions
    async fn list(&self, request: &ListRequest) -> Result<Listing, StoreError>;

    /// How many conversations, sessions and messages the filter admits.
    //  Cases: listing::counts_match_the_list, scope::lists_and_counts_stay_within
    async fn counts(&self, filter: &crate::SessionFilter) -> Result<Counts, StoreError>;

    /// Every session that is linked to this one by parents, in either direction, over any distance.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: lineage::any_length, lineage::branches_and_delegates
    async fn lineage(&self, id: &SessionId) -> Result<Lineage, StoreError>;

    /// Up to `limit` ids that start with `prefix`, byte by byte, in order.
    ///
    /// # Errors
    /// `Invalid` if the prefix is empty.
    //  Cases: sessions::prefixes_are_literal
    async fn ids_with_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<SessionId>, StoreError>;

    /// The sessions titled exactly `title`, or `title` and a number, in no order.
    //  Cases: titles::a_lineage_is_found_by_its_base
    async fn titled(&self, title: &str) -> Result<Vec<Titled>, StoreError>;

    /// A value kept beside the sessions; `None` if there is none.
    //  Cases: meta::kept_and_overwritten
    async fn meta(&self, key: &str) -> Result<Option<String>, StoreError>;

    /// Keeps a value beside the sessions, or removes it.
    ///
    /// # Errors
    /// `Invalid` if the key is empty or over-long.
    //  Cases: meta::kept_and_overwritten, meta::keys_are_checked
    async fn set_meta(&self, key: &str, value: Option<&str>) -> Result<(), StoreError>;
}

/// What keeps a store in order.
#[async_trait]
pub trait Maintenance: MarkStore + TrashStore {
    /// Deletes the conversation that a session is part of: its chain and its delegates, with their messages and what
    /// hangs on them. Branches from it stay, as conversations without a parent.
    ///
    /// However large it is, others can write in between: it is gone for every reader at once, its rows follow in short steps. If the
    /// process dies meanwhile it stays deleted, and [`Maintenance::upkeep`] takes away the rest. Its ids can be used again at once.
    //  Cases: maintenance::a_conversation_goes_as_a_whole, maintenance::branches_stay, maintenance::a_branch_goes_alone,
    //         maintenance::what_is_gone_can_be_made_again, deletion::a_large_conversation_goes_as_a_whole,
    //         deletion::others_write_while_much_goes, deletion::a_dropped_deletion_is_whole_or_nothing
    async fn delete_conversation(&self, id: &SessionId, request: &Request) -> Result<Deleted, StoreError>;

    /// Deletes what a session stands for: the chain it is part of, with the delegates of that chain ([`Lineage::chain`]). A session of the
    /// conversation's own chain stands for the conversation, and that goes as [`Maintenance::delete_conversation`] says. A delegate stands
    /// for itself: the conversation it was sent from stays, as if it had never been sent, and its last activity is told anew at once.
    /// No chain is ever cut: who names a session in its middle or its tip means all of it.
    //  Cases: maintenance::a_delegate_goes_alone, maintenance::a_chain_is_never_cut, deletion::a_large_delegate_goes_while_others_write,
    //         deletion::a_dropped_deletion_of_a_delegate_is_whole_or_nothing, requests::delete_of_a_chain_repeats
    async fn delete_chain(&self, id: &SessionId, request: &Request) -> Result<Deleted, StoreError>;

    /// Deletes one session alone, with its messages and what hangs on it. Each session that comes from it, whatever its relation, stays as a
    /// conversation without a parent, together with what comes from that one. What is left of the conversation it was part of stays one.
    ///
    /// This is how the agent deletes; it is for programs that call us as they call the agent.
    //  Cases: maintenance::a_session_goes_alone, maintenance::what_is_left_of_a_conversation_stays_one, requests::delete_of_a_session_repeats
    async fn delete_session(&self, id: &SessionId, request: &Request) -> Result<Deleted, StoreError>;

    /// Deletes conversations, each as [`Maintenance::delete_conversation`] does, that may still go: `policy` is asked again in the step
    /// that deletes, so that one in which something happened since it was selected is kept. So is one that is pinned, whenever that was.
    ///
    /// A conversation is named by the session it starts with. The first ones of the list are looked at, at least one of them and as many
    /// as a short step allows; the answer tells how many. [`retention::prune`](crate::retention::prune) goes through all.
    ///
    /// If the policy [takes each session by itself](RetentionPolicy::each_session), sessions are named instead, each is judged alone and goes as
    /// [`Maintenance::delete_session`] says.
    //  Cases: deletion::prune_takes_what_was_planned, deletion::prune_keeps_what_came_alive, deletion::prune_of_many,
    //         deletion::prune_may_take_each_session_by_itself,
    //         marks::pruning_keeps_what_is_pinned
    async fn prune(
        &self,
        conversations: &[SessionId],
        policy: &RetentionPolicy,
        now: Timestamp,
    ) -> Result<Pruned, StoreError>;

    /// Takes pieces of different sessions, from outside, as they are: times, counters, relations, bytes, and the ids of messages where they
    /// are free, rise along the session, and are no larger than [`MAX_KEPT_ID`](crate::import::MAX_KEPT_ID); in an empty store all are.
    ///
    /// A session is seen by nobody before its last piece is taken, and by all afterwards. Its first piece takes the place of what an import
    /// left that did not end. Its title gives way if another session has it ([`Title::next`]); a parent that is not there is left out, and
    /// the session is a root then. The first pieces of the list are taken, at least a part of one and as many as a short step allows; the
    /// answer tells what became of each of these. [`import::import`](crate::import::import) goes through a whole export.
    //  Cases: pieces::a_large_session_comes_as_a_whole, pieces::half_an_import_is_in_nobodys_way, pieces::made_while_it_comes,
    //         pieces::ids_of_messages_are_kept_if_free, pieces::an_id_that_comes_back_revives_no_key,
    //         pieces::two_continuations_may_come, import::*
    async fn import(&self, pieces: &[ImportPiece]) -> Result<Vec<Imported>, StoreError>;

    /// Returns those of these columns that this store can't keep in [`Session::extra`] and [`Message::extra`]. An import leaves them out.
    //  Cases: states::further_columns_come_back
    async fn lacking(&self, columns: &[(Table, String)]) -> Result<Vec<(Table, String)>, StoreError>;

    /// Makes a session without a parent the child of another one, as `relation` says; `false` if it has a parent.
    ///
    /// # Errors
    /// `NotFound` if one of them is not there; `Invalid` if the parent comes from the child, or the relation is that of a root.
    //  Cases: import::parents_may_come_later, pieces::a_link_is_made_once
    async fn link(&self, child: &SessionId, parent: &SessionId, relation: Relation) -> Result<bool, StoreError>;

    /// Up to `limit` of the values kept beside the sessions and their keys, in the order of the keys' bytes: those behind `after`, or from
    /// the first on.
    //  Cases: meta::pages_in_the_order_of_bytes
    async fn meta_page(&self, after: Option<&str>, limit: u32) -> Result<Vec<(String, String)>, StoreError>;

    /// Keeps a value, or none, in place of the one that is expected there; whether it was the one. Of several that expect the same one wins.
    //  Cases: meta::of_two_that_expect_the_same_one_wins
    async fn swap_meta(&self, key: &str, expected: Option<&str>, value: Option<&str>) -> Result<bool, StoreError>;

    /// All that is known of topics of chats. Deleting a conversation takes the bindings of its sessions with it.
    //  Cases: topics::come_and_come_back, topics::go_with_their_sessions
    async fn topics(&self) -> Result<Topics, StoreError>;

    /// Takes topics from outside, in one step: each row that [`topics::judge_mode`](crate::topics::judge_mode) and
    /// [`topics::judge_binding`](crate::topics::judge_binding) say should be put in. What is there stays as it is. Rows that can't be read
    /// are not looked at.
    //  Cases: topics::come_and_come_back, topics::what_cannot_be_taken_is_told
    async fn import_topics(&self, topics: &Topics) -> Result<TopicsImported, StoreError>;

    /// What is stored here that no call tells of, because another program put it there: it is left behind when sessions are copied to
    /// another store. In the order of table and column.
    //  Cases: maintenance::nothing_foreign_is_in_a_store_of_ours
    async fn foreign(&self) -> Result<Vec<Foreign>, StoreError>;

    /// Does a short piece of what is outstanding (taking away what is left of deleted conversations, telling anew what foreign writers
    /// left, indexing, giving room back); whether more is left.
    //  Cases: maintenance::upkeep_comes_to_an_end
    async fn upkeep(&self) -> Result<bool, StoreError>;

    /// Does a short piece of bringing the store into the form that takes the least room and costs writers the least; how far that is.
    ///
    /// To be called until it is done. Everybody may go on reading and writing meanwhile. Interrupted at any point, it goes on from there
    /// when it is called again; a store that is in that form is done at once.
    //  Cases: maintenance::optimizing_changes_nothing_that_can_be_seen
    async fn optimize(&self) -> Result<Optimizing, StoreError>;

    /// Has the search indexes made anew from the messages, by the [`Maintenance::optimize`] that follows. Until that is done, the ones
    /// that are there stay in use if they can be.
    //  Cases: maintenance::indexes_are_made_anew
    async fn rebuild_indexes(&self) -> Result<(), StoreError>;

    /// Looks through all of one state of the store and tells what is not as it should be. Changes nothing and mends nothing.
    ///
    /// What can't be read is a problem of the check that needed it; the other checks are made all the same. A store that only this
    /// crate's calls have written is sound.
    //  Cases: maintenance::what_was_written_verifies_as_sound
    async fn verify(&self) -> Result<Report, StoreError>;

    /// Counts the messages and tool calls of a session anew; whether it had counted otherwise. Nothing else changes.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: pieces::what_was_counted_wrong_is_counted_anew, sessions::unknown_session
    async fn recount(&self, id: &SessionId) -> Result<bool, StoreError>;

    /// Copies one state of the store to a file that is not there yet, while others go on writing, and proves the copy.
    ///
    /// The file is its owner's alone, is on disk when this answers, and is never seen half-made.
    ///
    /// # Errors
    /// [`StoreError::Refused`] if something is at `target` (a file, a folder, a link), or if it can't be put there; what is there stays
    /// as it is. [`StoreError::NoRoom`] if there is no room for it.
    //  Cases: maintenance::a_backup_holds_everything, maintenance::a_backup_overwrites_nothing
    async fn backup(&self, target: &Path) -> Result<BackupReport, StoreError>;

    /// What a person should be told once about opening this store, a sentence each: a copy that was kept, a title that had to change.
    fn notices(&self) -> Vec<String>;

    /// How much there is, by source and by model. Reads no text.
    //  Cases: maintenance::statistics_tell_of_every_session
    async fn statistics(&self) -> Result<Statistics, StoreError>;

    /// How an agent was used since a time: what was said, by model and source, with which tools and skills, when, and what it cost.
    ///
    /// A conversation counts once; of it, the sessions that started in the span. What a branch copied, and what a compressed context
    /// starts with, counts where it was said. Tool calls are read one after another, never all at once.
    //  Cases: insights::a_conversation_counts_once, insights::only_what_was_asked_for, insights::tools_and_skills_are_counted,
    //  insights::cost_and_time_are_told, insights::what_a_delegate_goes_on_with_adds_no_time, insights::a_copy_is_not_counted_again,
    //  insights::what_a_compression_copied_is_not_counted_again, insights::many_calls_are_all_counted
    async fn insights(&self, request: &InsightsRequest) -> Result<Insights, StoreError>;

    /// Where the room goes. Looks at all of it, so that it takes the longer the larger the store is.
    //  Cases: maintenance::room_adds_up
    async fn room(&self) -> Result<Room, StoreError>;

    /// What and where this store is.
    //  Cases: maintenance::it_says_what_it_is
    async fn status(&self) -> Result<StoreStatus, StoreError>;
}

/// Which messages of a session, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRequest {
    /// Where the stretch lies.
    pub window: Window,
    /// How many messages at most.
    pub limit: u32,
    /// Which states of messages are returned.
    pub extent: Extent,
}

/// Which messages of a session are meant, by their [state](crate::MessageState).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Extent {
    /// The transcript that is replayed: active messages.
    #[default]
    Transcript,
    /// Everything that search finds: active and compacted messages.
    Said,
    /// Every message that is stored: also those that were undone.
    Every,
}

impl Extent {
    /// Returns whether a message of this state is meant.
    pub const fn has(self, state: MessageState) -> bool {
        match self {
            Self::Transcript => state.is_active(),
            Self::Said => state.is_said(),
            Self::Every => true,
        }
    }
}

impl MessageRequest {
    /// The `limit` messages of the transcript at the edge of a stretch.
    pub const fn new(window: Window, limit: u32) -> Self {
        Self { window, limit, extent: Extent::Transcript }
    }

    /// The first `limit` messages.
    pub const fn first(limit: u32) -> Self {
        Self::new(Window::After(None), limit)
    }

    /// The last `limit` messages.
    pub const fn last(limit: u32) -> Self {
        Self::new(Window::Before(None), limit)
    }

    /// The `limit` messages after one.
    pub const fn after(id: MessageId, limit: u32) -> Self {
        Self::new(Window::After(Some(id)), limit)
    }

    /// Asks for everything that search finds: the transcript, and messages that were compacted out of it.
    pub const fn as_said(self) -> Self {
        Self { extent: Extent::Said, ..self }
    }

    /// Asks for every message that is stored, whatever its state.
    pub const fn every(self) -> Self {
        Self { extent: Extent::Every, ..self }
    }
}

/// A stretch of a transcript, given by its edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// From the start, or from behind a message on.
    After(Option<MessageId>),
    /// Up to the end, or up to before a message.
    Before(Option<MessageId>),
}

/// A session found by its title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Titled {
    /// The session.
    pub id: SessionId,
    /// Its title.
    pub title: String,
    /// When it started.
    pub started_at: Timestamp,
}

/// What a deletion took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deleted {
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
}

/// How far an optimization is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimizing {
    /// New indexes are being built: how much of it is done, and of how much, in no unit.
    Building {
        /// So much is done.
        done: u64,
        /// All that there is to do, as far as is known.
        total: u64,
    },
    /// What was replaced is being cleared away.
    Clearing,
    /// Nothing is left to do.
    Done,
}
