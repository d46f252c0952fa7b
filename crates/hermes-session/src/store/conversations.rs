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
    /// A page of sessions or conversations, without system prompts.
    ///
    /// A compressed chain is one row. Branches are rows of their own, whatever became of the session they came from; so is a
    /// session whose parent is gone. A row that can't be read is told apart.
    //  Cases: listing::*, ordering::*, scope::lists_and_counts_stay_within, scope::a_conversation_by_any_of_its_sessions
    async fn list(&self, request: &ListRequest) -> Result<Listing, StoreError>;

    /// How many conversations, sessions and messages the filter admits.
    //  Cases: listing::counts_match_the_list, scope::lists_and_counts_stay_within
    async fn counts(&self, filter: &SessionFilter) -> Result<Counts, StoreError>;

    /// Every session that is linked to this one by parents, in either direction, over any distance.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: lineage::any_length, lineage::branches_and_delegates
    async fn lineage(&self, id: &SessionId) -> Result<Lineage, StoreError>;

    /// The sessions titled exactly `title`, or `title` and a number, in no order.
    //  Cases: titles::a_lineage_is_found_by_its_base
    async fn titled(&self, title: &str) -> Result<Vec<Titled>, StoreError>;

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

    /// Pins the conversation that a session is part of, or takes the pin away; whether that changed anything. A pin keeps the time at
    /// which it was set first.
    ///
    /// # Errors
    /// `NotFound` if there is no such session.
    //  Cases: pins_and_tags::pinned_and_unpinned, pins_and_tags::found_from_any_session, pins_and_tags::a_continuation_keeps_them, pins_and_tags::a_branch_starts_without,
    //         pins_and_tags::keys_repeat
    async fn set_pinned(&self, id: &SessionId, is_pinned: bool, request: &Request) -> Result<bool, StoreError>;

    /// Changes the tags of the conversation that a session is part of, as [`changed_tags`](crate::pins_and_tags::changed_tags) says, and tells those it has then.
    ///
    /// # Errors
    /// `NotFound` if there is no such session; `Invalid` if there would be too many.
    //  Cases: pins_and_tags::tags_come_and_go, pins_and_tags::too_many_tags_are_refused, pins_and_tags::found_from_any_session, pins_and_tags::keys_repeat
    async fn change_tags(
        &self,
        id: &SessionId,
        add: &[Tag],
        remove: &[Tag],
        request: &Request,
    ) -> Result<Vec<Tag>, StoreError>;

    /// Every tag in use and how many conversations have it, in the order of the tags' bytes.
    //  Cases: pins_and_tags::tags_come_and_go, pins_and_tags::what_is_gone_has_none
    async fn tags(&self) -> Result<Vec<(Tag, u64)>, StoreError>;

    /// Deletes what `extent` says goes with a session, with messages and what hangs on them. Branches from it stay, as conversations without
    /// a parent.
    ///
    /// However large it is, others can write in between: it is gone for every reader at once, its rows follow in short steps. If the
    /// process dies meanwhile it stays deleted, and [`Maintenance::upkeep`](crate::Maintenance::upkeep) removes the rest. Its ids can be used
    /// again at once.
    //  Cases: maintenance::a_conversation_goes_as_a_whole, maintenance::branches_stay, maintenance::a_branch_goes_alone,
    //         maintenance::what_is_gone_can_be_made_again, deletion::a_large_conversation_goes_as_a_whole,
    //         deletion::others_write_while_much_goes, deletion::a_dropped_deletion_is_whole_or_nothing,
    //         maintenance::a_delegate_goes_alone, maintenance::a_chain_is_never_cut, deletion::a_large_delegate_goes_while_others_write,
    //         deletion::a_dropped_deletion_of_a_delegate_is_whole_or_nothing, requests::delete_of_a_chain_repeats,
    //         maintenance::a_session_goes_alone, maintenance::what_is_left_of_a_conversation_stays_one, requests::delete_repeats,
    //         requests::delete_of_a_session_repeats
    async fn delete(&self, id: &SessionId, extent: DeleteExtent, request: &Request) -> Result<Deleted, StoreError>;

    /// Deletes what [`ConversationStore::delete`] of a [chain](DeleteExtent::Chain) would, in the same way and with the same answer, and keeps
    /// it in the trash, from which it can come back up to `until`. The store looks at no clock: it stays there until somebody empties
    /// the trash.
    ///
    /// Topics and the state of a handoff go, and so do request keys: those do not come back. For how long it is kept is no content of
    /// the request.
    //  Cases: trash::everything_comes_back, trash::nobody_sees_what_is_in_it, trash::a_title_is_free_at_once, trash::branches_stay,
    //         trash::a_delegate_goes_and_comes_alone, trash::much_goes_and_comes_while_others_write, trash::requests_are_applied_once,
    //         trash::a_dropped_future_is_whole_or_nothing
    async fn trash_chain(&self, id: &SessionId, until: Timestamp, request: &Request) -> Result<Deleted, StoreError>;

    /// Up to `limit` of what is in the trash, the newest first: all of it, or what is older than one of them.
    //  Cases: trash::the_newest_comes_first
    async fn trash(&self, older_than: Option<&Trashed>, limit: u32) -> Result<Vec<Trashed>, StoreError>;

    /// What is in the trash and holds this session; of several the newest. The sessions that it holds come with it, parents first.
    //  Cases: trash::any_session_names_it, trash::an_id_that_was_used_again
    async fn trashed(&self, id: &SessionId) -> Result<Option<(Trashed, Vec<SessionId>)>, StoreError>;

    /// Brings back what [`ConversationStore::trashed`] names: sessions and messages as they were, with times, counters and relations, and the ids of
    /// messages where they are free. Nobody sees it before it is whole. If the process dies meanwhile it is in the trash as before, and
    /// who asks again goes on.
    ///
    /// A title that another session has by now gives way ([`Title::next`](crate::Title::next)), and the answer says so. A session whose
    /// parent is gone is a root. A branch that was cut loose stays so.
    ///
    /// # Errors
    /// `NotFound` if nothing in the trash holds this session; [`Conflict::Exists`](crate::Conflict::Exists) if one of its ids is in use again.
    //  Cases: trash::everything_comes_back, pins_and_tags::come_back_from_the_trash, trash::a_title_gives_way, trash::an_id_that_was_used_again, trash::a_parent_that_is_gone,
    //         trash::ids_of_messages_are_kept, trash::requests_are_applied_once, trash::what_came_back_can_go_again
    async fn restore(&self, id: &SessionId, request: &Request) -> Result<Restored, StoreError>;

    /// Deletes what is in the trash for good, and answers what went. From then on it can't come back; its rows may follow in short steps.
    //  Cases: trash::what_is_over_goes_for_good, trash::one_can_be_taken_out, trash::nothing_goes_but_what_was_seen
    async fn empty_trash(&self, which: &Emptying) -> Result<Vec<Trashed>, StoreError>;

    /// The messages that match.
    ///
    /// The whole set of hits, over all pages, is what [`Matcher`](crate::search::matching::Matcher) says of each message, on every store; scores may differ. An index that is
    /// missing, damaged or behind makes it slower and not wrong. An error is an error, never an empty list.
    //  Cases: search::*, scope::a_search_stays_within, scope::a_search_of_many_stays_within
    async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, StoreError>;
}
