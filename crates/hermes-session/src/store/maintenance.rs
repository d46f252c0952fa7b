//! Upkeep, verification, backup, statistics, retention, import.

use crate::extra::Table;
use crate::import::{ImportPiece, Imported, LeftOut, TableRow};
use crate::live::{Carried, LiveRecord};
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
    /// Does a short step of the outstanding work: removing rows of deleted conversations, recomputing stale rows of
    /// foreign writers, indexing the backlog, releasing free space. Returns whether work is left.
    //  Cases: maintenance::upkeep_comes_to_an_end
    async fn upkeep(&self) -> Result<bool, StoreError>;

    /// Does a short step towards the form of the store that takes the least space and costs writers the least. Returns
    /// the progress.
    ///
    /// Call it until it is done. Others may read and write meanwhile. After an interruption at any point the next call
    /// continues; a store that is in that form is done at once.
    //  Cases: maintenance::optimizing_changes_nothing_that_can_be_seen
    async fn optimize(&self) -> Result<Optimizing, StoreError>;

    /// Schedules a rebuild of the search indexes from the messages, which the following calls of
    /// [`Maintenance::optimize`] do. Until then the existing indexes stay in use if they are usable.
    //  Cases: maintenance::indexes_are_rebuilt
    async fn rebuild_indexes(&self) -> Result<(), StoreError>;

    /// Checks one snapshot of the whole store and reports problems. Changes and repairs nothing in it.
    ///
    /// For a file, damage is recorded beside it, so that no process writes to it; if the file is sound, such a record
    /// is removed. A notice says so.
    ///
    /// Unreadable data is a problem of the check that needed it; the other checks still run. A store that was written
    /// only by calls of this crate is sound.
    //  Cases: maintenance::what_was_written_verifies_as_sound
    async fn verify(&self) -> Result<Report, StoreError>;

    /// Recounts the messages and tool calls of a session. Returns whether its counters were wrong. Nothing else
    /// changes.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: pieces::wrong_counts_are_recounted, sessions::unknown_session
    async fn recount(&self, id: &SessionId) -> Result<bool, StoreError>;

    /// Copies a snapshot of the store to a new file while others continue to write, and verifies the copy.
    ///
    /// The file is readable by its owner only, is on disk when the call returns, and is never visible half-written.
    ///
    /// # Errors
    /// [`StoreError::Refused`] if there is anything at `target` (a file, a folder, a link), which stays unchanged, or
    /// if the file can't be created. [`StoreError::NoRoom`] if there is no space for it.
    //  Cases: maintenance::a_backup_holds_everything, maintenance::a_backup_overwrites_nothing
    async fn backup(&self, target: &Path) -> Result<BackupReport, StoreError>;

    /// Returns sentences about opening this store that the user should see once: a copy that was kept, a title that had
    /// to change.
    //  Cases: maintenance::notices_are_sentences
    fn notices(&self) -> Vec<String>;

    /// Returns counts by source and by model. Reads no text.
    //  Cases: maintenance::statistics_tell_of_every_session
    async fn statistics(&self) -> Result<Statistics, StoreError>;

    /// Returns the usage of an agent since a time: messages by model and source, tools and skills, times, and cost.
    ///
    /// A conversation counts once, with its sessions that started in the span. Messages that a branch copied, or that a
    /// compressed context starts with, count where they were said. Tool calls are read one after another, never all at
    /// once.
    //  Cases: insights::a_conversation_counts_once, insights::only_what_was_asked_for, insights::tools_and_skills_are_counted,
    //  insights::cost_and_time_are_reported, insights::what_a_delegate_goes_on_with_adds_no_time, insights::a_copy_is_not_counted_again,
    //  insights::what_a_compression_copied_is_not_counted_again, insights::many_calls_are_all_counted
    async fn insights(&self, request: &InsightsRequest) -> Result<Insights, StoreError>;

    /// Returns the use of disk space. Reads the whole store, so the time depends on its size.
    //  Cases: maintenance::room_adds_up
    async fn room(&self) -> Result<Room, StoreError>;

    /// Returns the identity and state of this store.
    //  Cases: maintenance::it_says_what_it_is
    async fn status(&self) -> Result<StoreStatus, StoreError>;

    /// Deletes conversations, each as [`ConversationStore::delete`](crate::ConversationStore::delete) does, that the
    /// policy still selects. `policy` is checked again in the step that deletes, so that a conversation that was active
    /// since it was selected is kept. So is a pinned one, whenever it was pinned.
    ///
    /// A conversation is named by its first session. The call processes the first conversations of the list, at least
    /// one and as many as a short step allows; the result gives their number.
    /// [`retention::prune`](crate::retention::prune) processes all.
    ///
    /// If the policy [judges each session by itself](RetentionPolicy::each_session), the list names sessions; each is
    /// judged alone and deleted with [`DeleteExtent::Session`](crate::DeleteExtent::Session).
    //  Cases: deletion::prune_takes_what_was_planned, deletion::prune_keeps_what_came_alive, deletion::prune_of_many,
    //         deletion::prune_may_take_each_session_by_itself,
    //         pins_and_tags::pruning_keeps_what_is_pinned
    async fn prune(
        &self,
        conversations: &[SessionId],
        policy: &RetentionPolicy,
        now: Timestamp,
    ) -> Result<Pruned, StoreError>;

    /// Imports pieces of different sessions unchanged: times, counters, relations, bytes, and message ids if they are
    /// free, ascend along the session, and are no larger than [`MAX_KEPT_ID`](crate::import::MAX_KEPT_ID); in an empty
    /// store all are free.
    ///
    /// A session is invisible until its last piece is taken. Its first piece replaces the remains of an import that did
    /// not finish. If another session has its title, it gets the next free one ([`Title::next`](crate::Title::next));
    /// if its parent does not exist, it becomes a root. The call takes the first pieces of the list, at least a part of
    /// one and as many as a short step allows, and returns the result of each of these.
    /// [`import::import`](crate::import::import) imports a whole export.
    //  Cases: pieces::a_large_session_comes_as_a_whole, pieces::half_an_import_is_in_nobodys_way, pieces::made_while_it_comes,
    //         pieces::ids_of_messages_are_kept_if_free, pieces::an_id_that_comes_back_revives_no_key,
    //         pieces::two_continuations_may_come, import::*
    async fn import(&self, pieces: &[ImportPiece]) -> Result<Vec<Imported>, StoreError>;

    /// Returns those of these columns that this store can't keep in [`Session::extra`](crate::Session::extra) and
    /// [`Message::extra`](crate::Message::extra). An import leaves them out.
    //  Cases: states::further_columns_come_back
    async fn lacking(&self, columns: &[(Table, String)]) -> Result<Vec<(Table, String)>, StoreError>;

    /// Links a session without a parent to a parent, with `relation`. Returns `false` if it already has a parent.
    ///
    /// # Errors
    /// `NotFound` if one of them does not exist; `Invalid` if the parent is a descendant of the child, or the relation
    /// is that of a root.
    //  Cases: import::parents_may_come_later, pieces::a_link_is_made_once
    async fn link(&self, child: &SessionId, parent: &SessionId, relation: Relation) -> Result<bool, StoreError>;

    /// Adds pins and tags from outside to the first sessions of conversations, in one step, merged by
    /// [`PinAndTags::joined`](crate::PinAndTags::joined). Returns how many conversations changed. Sessions that do not
    /// exist are skipped.
    //  Cases: pins_and_tags::come_from_outside, pins_and_tags::an_export_carries_them, pins_and_tags::a_transfer_carries_them
    async fn import_pins_and_tags(&self, pins_and_tags: &[(SessionId, PinAndTags)]) -> Result<u64, StoreError>;

    /// Inserts rows that refer to a session into the tables of the agent that they came from, in one transaction.
    /// Returns what was left out: rows of tables that the store lacks or that do not refer to sessions, columns that a
    /// table lacks, rows that break a constraint. A table that has rows of this session already is passed over, so that
    /// the call can be repeated.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: import::rows_without_a_table_are_left_out
    async fn import_rows(&self, session: &SessionId, rows: &[TableRow]) -> Result<Vec<LeftOut>, StoreError>;

    /// Returns up to `limit` records of live data after a record, or from the first on: by [kind](LiveRecord::kind), and
    /// within a kind by key or id.
    //  Cases: carry::every_kind_is_carried, carry::pages_follow_each_other
    async fn live_records(&self, after: Option<&LiveRecord>, limit: u32) -> Result<Vec<LiveRecord>, StoreError>;

    /// Stores live data of another store in one step. Returns the answer to each record. What the store has already
    /// stays as it is, so that the call can be repeated.
    ///
    /// A record is left out if its session or its route does not exist. A turn keeps its id; it is left out if the id was
    /// used, or its conversation is in a turn. A received message of a turn that is not open is done. A part that was
    /// being sent may have been [delivered](crate::live::Outbound::doubtful).
    //  Cases: carry::every_kind_is_carried, carry::a_repetition_changes_nothing, carry::records_without_a_place_are_left_out,
    //         carry::a_received_message_of_a_lost_turn_is_done
    async fn import_live(&self, records: &[LiveRecord]) -> Result<Vec<Carried>, StoreError>;

    /// Returns up to `limit` keys and values stored beside the sessions, sorted by the keys' bytes: those after
    /// `after`, or from the first on.
    //  Cases: meta::pages_in_the_order_of_bytes
    async fn meta_page(&self, after: Option<&str>, limit: u32) -> Result<Vec<(String, String)>, StoreError>;

    /// Returns stored data of other programs that no call returns, sorted by table and column. It is left behind when
    /// sessions are copied to another store.
    //  Cases: maintenance::nothing_foreign_is_in_a_store_of_ours
    async fn foreign(&self) -> Result<Vec<Foreign>, StoreError>;
}
