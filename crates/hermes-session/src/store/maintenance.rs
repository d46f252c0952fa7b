//! Upkeep, verification, backup, statistics, retention, import.

use crate::extra::Table;
use crate::import::{ImportPiece, Imported};
use crate::retention::{Pruned, RetentionPolicy};
use crate::{
    BackupReport, ConversationStore, Foreign, Insights, InsightsRequest, Optimizing, PinAndTags, Relation, Report,
    Room, SessionId, Statistics, StoreError, StoreStatus, Timestamp,
};
use async_trait::async_trait;
use std::path::Path;

/// Upkeep, verification, backup, statistics, retention, import.
#[async_trait]
pub trait Maintenance: ConversationStore {
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
    //  Cases: maintenance::notices_are_sentences
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

    /// Deletes conversations, each as [`ConversationStore::delete`](crate::ConversationStore::delete) does, that may still go: `policy` is asked again in the step
    /// that deletes, so that one in which something happened since it was selected is kept. So is one that is pinned, whenever that was.
    ///
    /// A conversation is named by the session it starts with. The first ones of the list are looked at, at least one of them and as many
    /// as a short step allows; the answer tells how many. [`retention::prune`](crate::retention::prune) goes through all.
    ///
    /// If the policy [takes each session by itself](RetentionPolicy::each_session), sessions are named instead, each is judged alone and goes with
    /// [`DeleteExtent::Session`](crate::DeleteExtent::Session).
    //  Cases: deletion::prune_takes_what_was_planned, deletion::prune_keeps_what_came_alive, deletion::prune_of_many,
    //         deletion::prune_may_take_each_session_by_itself,
    //         pins_and_tags::pruning_keeps_what_is_pinned
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
    /// left that did not end. Its title gives way if another session has it ([`Title::next`](crate::Title::next)); a parent that is not there is left out, and
    /// the session is a root then. The first pieces of the list are taken, at least a part of one and as many as a short step allows; the
    /// answer tells what became of each of these. [`import::import`](crate::import::import) goes through a whole export.
    //  Cases: pieces::a_large_session_comes_as_a_whole, pieces::half_an_import_is_in_nobodys_way, pieces::made_while_it_comes,
    //         pieces::ids_of_messages_are_kept_if_free, pieces::an_id_that_comes_back_revives_no_key,
    //         pieces::two_continuations_may_come, import::*
    async fn import(&self, pieces: &[ImportPiece]) -> Result<Vec<Imported>, StoreError>;

    /// Returns those of these columns that this store can't keep in [`Session::extra`](crate::Session::extra) and [`Message::extra`](crate::Message::extra). An import leaves them out.
    //  Cases: states::further_columns_come_back
    async fn lacking(&self, columns: &[(Table, String)]) -> Result<Vec<(Table, String)>, StoreError>;

    /// Makes a session without a parent the child of another one, as `relation` says; `false` if it has a parent.
    ///
    /// # Errors
    /// `NotFound` if one of them is not there; `Invalid` if the parent comes from the child, or the relation is that of a root.
    //  Cases: import::parents_may_come_later, pieces::a_link_is_made_once
    async fn link(&self, child: &SessionId, parent: &SessionId, relation: Relation) -> Result<bool, StoreError>;

    /// Adds pins and tags from outside to sessions that conversations start with, in one step, as [`PinAndTags::joined`](crate::PinAndTags::joined) says; how many got something by it. A
    /// session that is not there is passed over.
    //  Cases: pins_and_tags::come_from_outside, pins_and_tags::an_export_carries_them, pins_and_tags::a_transfer_carries_them
    async fn import_pins_and_tags(&self, pins_and_tags: &[(SessionId, PinAndTags)]) -> Result<u64, StoreError>;

    /// Up to `limit` of the values kept beside the sessions and their keys, in the order of the keys' bytes: those behind `after`, or from
    /// the first on.
    //  Cases: meta::pages_in_the_order_of_bytes
    async fn meta_page(&self, after: Option<&str>, limit: u32) -> Result<Vec<(String, String)>, StoreError>;

    /// What is stored here that no call tells of, because another program put it there: it is left behind when sessions are copied to
    /// another store. In the order of table and column.
    //  Cases: maintenance::nothing_foreign_is_in_a_store_of_ours
    async fn foreign(&self) -> Result<Vec<Foreign>, StoreError>;
}
