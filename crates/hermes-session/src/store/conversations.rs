//! Conversations: lists, lineage, titles, pins and tags, deletion, trash, search.

use crate::search::{SearchAnswer, SearchRequest};
use crate::{
    Counts, DeleteExtent, Deleted, Emptying, Lineage, ListRequest, Listing, Request, Restored, SessionFilter,
    SessionId, SessionStore, StoreError, Tag, Timestamp, Title, Titled, Trashed,
};
use async_trait::async_trait;

/// Conversations: lists, lineage, titles, pins and tags, deletion, trash, search.
///
/// The promises of [`SessionStore`] about changes hold here too.
#[async_trait]
pub trait ConversationStore: SessionStore {
    /// Returns a page of sessions or conversations, without system prompts.
    ///
    /// A compressed chain is one row. A branch is a row of its own, whatever happened to its parent; so is a session
    /// whose parent is gone. Rows that can't be read are returned separately.
    ///
    /// # Errors
    /// `Invalid` if no session of the store has a value of a column that [`SessionFilter::recorded`] asks for.
    //  Cases: listing::*, ordering::*, scope::lists_and_counts_stay_within, scope::a_conversation_by_any_of_its_sessions,
    //         recorded::a_folder_and_a_branch_select, recorded::what_no_session_has_is_refused
    async fn list(&self, request: &ListRequest) -> Result<Listing, StoreError>;

    /// Returns how many conversations, sessions and messages match the filter.
    ///
    /// # Errors
    /// As [`ConversationStore::list`].
    //  Cases: listing::counts_match_the_list, scope::lists_and_counts_stay_within, archive::a_filter_selects_by_it,
    //         recorded::a_folder_and_a_branch_select, recorded::what_no_session_has_is_refused
    async fn counts(&self, filter: &SessionFilter) -> Result<Counts, StoreError>;

    /// Returns every session that is linked to this one by parents, in either direction, over any distance.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: lineage::any_length, lineage::branches_and_delegates
    async fn lineage(&self, id: &SessionId) -> Result<Lineage, StoreError>;

    /// Returns the sessions titled exactly `title`, or `title` and a number, in no particular order.
    //  Cases: titles::a_lineage_is_found_by_its_base
    async fn titled(&self, title: &str) -> Result<Vec<Titled>, StoreError>;

    /// Sets or clears the title of a session. Setting its current title again is permitted.
    ///
    /// # Errors
    /// [`Conflict::TitleTaken`](crate::Conflict::TitleTaken) names the session that has it.
    //  Cases: titles::unique_and_case_sensitive, titles::own_title_again, titles::cleared
    async fn set_title(&self, id: &SessionId, title: Option<&Title>, request: &Request) -> Result<(), StoreError>;

    /// Gives a session the next free title in the lineage of `base` ([`Title::next`], its own title not counted) and
    /// returns it. Concurrent callers get different titles.
    //  Cases: titles::numbers_are_allocated_once, titles::a_long_title_keeps_its_number
    async fn allocate_title(&self, id: &SessionId, base: &Title, request: &Request) -> Result<Title, StoreError>;

    /// Does the same as [`ConversationStore::allocate_title`] for a session without a title. A session that has one
    /// keeps it, and the result is `None`.
    //  Cases: titles::a_title_that_was_given_stays
    async fn entitle(&self, id: &SessionId, base: &Title, request: &Request) -> Result<Option<Title>, StoreError>;

    /// Pins or unpins the conversation of a session. Returns whether that changed anything. A pin keeps the time at
    /// which it was first set.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: pins_and_tags::pinned_and_unpinned, pins_and_tags::found_from_any_session, pins_and_tags::a_continuation_keeps_them, pins_and_tags::a_branch_starts_without,
    //         pins_and_tags::keys_repeat
    async fn set_pinned(&self, id: &SessionId, is_pinned: bool, request: &Request) -> Result<bool, StoreError>;

    /// Archives or unarchives the conversation of a session, with all its sessions. Returns whether the conversation
    /// changed: its first session says whether it is archived. Lists of conversations leave archived ones out;
    /// everything else treats them as before.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: archive::archived_and_unarchived, archive::the_whole_chain_is_archived, archive::a_branch_is_not_archived,
    //         archive::a_filter_selects_by_it, archive::keys_repeat, archive::it_survives_the_trash,
    //         archive::it_survives_an_export, archive::a_continuation_stays_archived
    async fn set_archived(&self, id: &SessionId, is_archived: bool, request: &Request) -> Result<bool, StoreError>;

    /// Changes the tags of the conversation of a session with [`changed_tags`](crate::pins_and_tags::changed_tags).
    /// Returns its new tags.
    ///
    /// # Errors
    /// `NotFound` if there is no such session; `Invalid` if there would be too many tags.
    //  Cases: pins_and_tags::tags_come_and_go, pins_and_tags::too_many_tags_are_refused, pins_and_tags::found_from_any_session, pins_and_tags::keys_repeat
    async fn change_tags(
        &self,
        id: &SessionId,
        add: &[Tag],
        remove: &[Tag],
        request: &Request,
    ) -> Result<Vec<Tag>, StoreError>;

    /// Returns every tag in use with its number of conversations, sorted by the tags' bytes.
    //  Cases: pins_and_tags::tags_come_and_go, pins_and_tags::what_is_gone_has_none
    async fn tags(&self) -> Result<Vec<(Tag, u64)>, StoreError>;

    /// Deletes the sessions that `extent` selects, with their messages and everything that depends on them. Branches
    /// stay, as conversations without a parent.
    ///
    /// Others can write meanwhile, however large the deletion is: it disappears for all readers at once, and its rows
    /// are removed in short steps. If the process dies meanwhile it stays deleted, and
    /// [`Maintenance::upkeep`](crate::Maintenance::upkeep) removes the rest. The ids can be reused at once.
    //  Cases: maintenance::a_conversation_goes_as_a_whole, maintenance::branches_stay, maintenance::a_branch_goes_alone,
    //         maintenance::what_is_gone_can_be_made_again, deletion::a_large_conversation_goes_as_a_whole,
    //         deletion::others_write_while_much_goes, deletion::a_dropped_deletion_is_whole_or_nothing,
    //         maintenance::a_delegate_goes_alone, maintenance::a_chain_is_never_cut, deletion::a_large_delegate_goes_while_others_write,
    //         deletion::a_dropped_deletion_of_a_delegate_is_whole_or_nothing, requests::delete_of_a_chain_repeats,
    //         maintenance::a_session_goes_alone, maintenance::what_is_left_of_a_conversation_stays_one, requests::delete_repeats,
    //         requests::delete_of_a_session_repeats
    async fn delete(&self, id: &SessionId, extent: DeleteExtent, request: &Request) -> Result<Deleted, StoreError>;

    /// Deletes the same as [`ConversationStore::delete`] of a [chain](DeleteExtent::Chain), in the same way and with
    /// the same result, and keeps it in the trash, from which it can be restored until `until`. The store reads no
    /// clock: it stays in the trash until the trash is emptied.
    ///
    /// Topics, handoff state and request keys are deleted and do not come back. `until` is not part of the request's
    /// content.
    //  Cases: trash::everything_comes_back, trash::nobody_sees_what_is_in_it, trash::a_title_is_free_at_once, trash::branches_stay,
    //         trash::a_delegate_goes_and_comes_alone, trash::much_goes_and_comes_while_others_write, trash::requests_are_applied_once,
    //         trash::a_dropped_future_is_whole_or_nothing
    async fn trash_chain(&self, id: &SessionId, until: Timestamp, request: &Request) -> Result<Deleted, StoreError>;

    /// Returns up to `limit` entries of the trash, newest first; with `older_than`, those older than that entry.
    //  Cases: trash::the_newest_comes_first
    async fn trash(&self, older_than: Option<&Trashed>, limit: u32) -> Result<Vec<Trashed>, StoreError>;

    /// Returns the newest entry of the trash that holds this session, with the sessions of the entry, parents first.
    //  Cases: trash::any_session_names_it, trash::an_id_that_was_used_again
    async fn trashed(&self, id: &SessionId) -> Result<Option<(Trashed, Vec<SessionId>)>, StoreError>;

    /// Restores the entry that [`ConversationStore::trashed`] returns: sessions and messages with their times, counters
    /// and relations, and the message ids if they are free. It becomes visible when it is complete. If the process dies
    /// meanwhile it is in the trash as before, and a retry continues.
    ///
    /// A title that another session has by now is replaced ([`Title::next`](crate::Title::next)), and the result says
    /// so. A session whose parent is gone becomes a root. A branch that was detached by the deletion stays detached.
    ///
    /// # Errors
    /// `NotFound` if nothing in the trash holds this session; [`Conflict::Exists`](crate::Conflict::Exists) if one of
    /// its ids is in use again.
    //  Cases: trash::everything_comes_back, pins_and_tags::come_back_from_the_trash, trash::a_title_gives_way, trash::an_id_that_was_used_again, trash::a_parent_that_is_gone,
    //         trash::ids_of_messages_are_kept, trash::requests_are_applied_once, trash::what_came_back_can_go_again
    async fn restore(&self, id: &SessionId, request: &Request) -> Result<Restored, StoreError>;

    /// Deletes entries of the trash permanently and returns them. They can't be restored from then on; their rows may
    /// be removed in short steps.
    //  Cases: trash::what_is_over_goes_for_good, trash::one_can_be_taken_out, trash::nothing_goes_but_what_was_seen
    async fn empty_trash(&self, which: &Emptying) -> Result<Vec<Trashed>, StoreError>;

    /// Returns the messages that match.
    ///
    /// On every store the complete set of hits, over all pages, is what [`Matcher`](crate::search::matching::Matcher)
    /// decides for each message; scores may differ. An index that is missing, damaged or behind makes a search slower,
    /// not wrong. A failure is returned as an error, never as an empty list.
    //  Cases: search::*, scope::a_search_stays_within, scope::a_search_of_many_stays_within
    async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, StoreError>;
}
