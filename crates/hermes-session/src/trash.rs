//! The trash: conversations that were deleted and can come back for a while, out of everybody's sight.
//!
//! What is in the trash is no part of the store for any other call: no list, count, search, lineage, statistic or export tells of it, and
//! its ids and titles are free.

use crate::{SessionId, Timestamp};
use serde_json::{Value, json};

/// Which part of the trash goes for good.
#[derive(Debug, Clone, PartialEq)]
pub enum Emptying {
    /// Everything.
    All,
    /// These, as far as they are there as they were seen: somebody may have brought one back since, or deleted another.
    These(Vec<Trashed>),
    /// What could come back up to a time that is not after this one.
    Over(Timestamp),
    /// What [`ConversationStore::trashed`](crate::ConversationStore::trashed) names by this session.
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
