//! The trash: conversations that were deleted and can come back for a while, out of everybody's sight.
//!
//! What is in the trash is no part of the store for any other call: no list, count, search, lineage, statistic or export tells of it, and
//! its ids and titles are free.

use crate::{Deleted, Request, SessionId, SessionStore, StoreError, Timestamp};
use async_trait::async_trait;
use serde_json::{Value, json};

/// What was deleted and can come back.
///
/// For every method that changes something, what [`SessionStore`] says holds here too.
#[async_trait]
pub trait TrashStore: SessionStore {
    /// Deletes what [`Maintenance::delete_chain`](crate::Maintenance::delete_chain) would, in the same way and with the same answer, and keeps
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

    /// Brings back what [`TrashStore::trashed`] names: sessions and messages as they were, with times, counters and relations, and the ids of
    /// messages where they are free. Nobody sees it before it is whole. If the process dies meanwhile it is in the trash as before, and
    /// who asks again goes on.
    ///
    /// A title that another session has by now gives way ([`Title::next`](crate::Title::next)), and the answer says so. A session whose
    /// parent is gone is a root. A branch that was cut loose stays so.
    ///
    /// # Errors
    /// `NotFound` if nothing in the trash holds this session; [`Conflict::Exists`](crate::Conflict::Exists) if one of its ids is in use again.
    //  Cases: trash::everything_comes_back, marks::come_back_from_the_trash, trash::a_title_gives_way, trash::an_id_that_was_used_again, trash::a_parent_that_is_gone,
    //         trash::ids_of_messages_are_kept, trash::requests_are_applied_once, trash::what_came_back_can_go_again
    async fn restore(&self, id: &SessionId, request: &Request) -> Result<Restored, StoreError>;

    /// Deletes what is in the trash for good, and answers what went. From then on it can't come back; its rows may follow in short steps.
    //  Cases: trash::what_is_over_goes_for_good, trash::one_can_be_taken_out, trash::nothing_goes_but_what_was_seen
    async fn empty_trash(&self, which: &Emptying) -> Result<Vec<Trashed>, StoreError>;
}

/// Which part of the trash goes for good.
#[derive(Debug, Clone, PartialEq)]
pub enum Emptying {
    /// Everything.
    All,
    /// These, as far as they are there as they were seen: somebody may have brought one back since, or deleted another.
    These(Vec<Trashed>),
    /// What could come back up to a time that is not after this one.
    Over(Timestamp),
    /// What [`TrashStore::trashed`] names by this session.
    One(SessionId),
}

/// A conversation, or a delegate, in the trash.
#[derive(Debug, Clone, PartialEq)]
pub struct Trashed {
    /// Its place: what was deleted later has a larger one.
    pub number: i64,
    /// The session that it goes on in.
    pub id: SessionId,
    /// The title of that session.
    pub title: Option<String>,
    /// Where its first session comes from.
    pub source: String,
    /// When it was deleted.
    pub deleted_at: Timestamp,
    /// Up to when it can come back.
    pub until: Timestamp,
    /// How many sessions it has.
    pub sessions: u64,
    /// How many messages it had when it was deleted.
    pub messages: u64,
}

/// What came back from the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// The session that it goes on in.
    pub id: SessionId,
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
    /// The titles that gave way.
    pub retitled: Vec<Retitled>,
}

/// A session that came back with another title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retitled {
    /// The session.
    pub id: SessionId,
    /// The title it had.
    pub had: String,
    /// The one it has now; nothing if there is none that it could have.
    pub has: Option<String>,
}

impl Restored {
    /// The answer as text, to be kept beside a request key.
    pub fn to_text(&self) -> String {
        let retitled: Vec<Value> = self.retitled.iter().map(|one| json!([one.id.as_str(), one.had, one.has])).collect();
        json!([self.id.as_str(), self.sessions, self.messages, retitled]).to_string()
    }

    /// The answer from its text; nothing if it is none.
    pub fn from_text(text: &str) -> Option<Self> {
        type Kept = (String, u64, u64, Vec<(String, String, Option<String>)>);
        let (id, sessions, messages, retitled): Kept = serde_json::from_str(text).ok()?;
        let retitled = retitled.into_iter().map(|(id, had, has)| Retitled { id: SessionId::from_stored(id), had, has });
        Some(Self { id: SessionId::from_stored(id), sessions, messages, retitled: retitled.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_as_text() {
        let retitled = vec![
            Retitled { id: SessionId::from_stored("a\n\""), had: "plan\t大".into(), has: Some("plan #2".into()) },
            Retitled { id: SessionId::from_stored("b"), had: "x".into(), has: None },
        ];
        let restored = Restored { id: SessionId::from_stored("é"), sessions: 2, messages: u64::MAX, retitled };
        assert_eq!(Restored::from_text(&restored.to_text()), Some(restored));
        assert_eq!((Restored::from_text(""), Restored::from_text("[\"a\",1]")), (None, None));
    }
}
