//! The trash: deleted conversations that can be restored for a while.
//!
//! The trash is no part of the store for any other call: no list, count, search, lineage, statistic or export includes
//! it, and its ids and titles are free.

use crate::{SessionId, Timestamp};
use serde_json::{Value, json};

/// Part of the trash to delete permanently.
#[derive(Debug, Clone, PartialEq)]
pub enum Emptying {
    /// Everything.
    All,
    /// These entries, as far as they still exist as they were seen: one may have been restored since, or another
    /// deleted.
    These(Vec<Trashed>),
    /// Entries whose time for restoring ended at or before this time.
    Over(Timestamp),
    /// The entry that [`ConversationStore::trashed`](crate::ConversationStore::trashed) returns for this session.
    One(SessionId),
}

/// A conversation, or a delegate, in the trash.
#[derive(Debug, Clone, PartialEq)]
pub struct Trashed {
    /// Sequence number: entries deleted later have larger ones.
    pub number: i64,
    /// Its tip.
    pub id: SessionId,
    /// The title of that session.
    pub title: Option<String>,
    /// Source of its first session.
    pub source: String,
    /// Time of the deletion.
    pub deleted_at: Timestamp,
    /// Time until which it can be restored.
    pub until: Timestamp,
    /// Number of its sessions.
    pub sessions: u64,
    /// Number of its messages when it was deleted.
    pub messages: u64,
}

/// Result of restoring an entry of the trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restored {
    /// Its tip.
    pub id: SessionId,
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
    /// Sessions whose titles had to change.
    pub retitled: Vec<Retitled>,
}

/// A session that was restored with another title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retitled {
    /// The session.
    pub id: SessionId,
    /// Its former title.
    pub had: String,
    /// Its new title; `None` if no title was possible.
    pub has: Option<String>,
}

impl Restored {
    /// Returns the result as text, to be stored with an idempotency key.
    pub fn to_text(&self) -> String {
        let retitled: Vec<Value> = self.retitled.iter().map(|one| json!([one.id.as_str(), one.had, one.has])).collect();
        json!([self.id.as_str(), self.sessions, self.messages, retitled]).to_string()
    }

    /// Parses the result from its text; `None` if the text is invalid.
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
