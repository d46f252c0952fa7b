//! Pins and tags of conversations. A pin keeps a conversation at the top of lists and out of pruning; tags say what it
//! is about.
//!
//! They belong to the conversation and are stored with its first session. Every session of the conversation leads to
//! them, a continuation keeps them, and a branch starts without them. The agent does not know them.

mod tag;

pub use tag::{MAX_TAG, Tag};

use crate::{
    ConversationStore, Invalid, ListRequest, Order, PageRequest, SessionFilter, SessionId, SessionSummary, StoreError,
    Timestamp, View,
};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of tags of a conversation.
pub const MAX_TAGS: usize = 50;

/// Rows per page.
const PAGE: u32 = 1_000;

/// The pin and the tags of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PinAndTags {
    /// Time when the conversation was pinned; `None` if it is not.
    pub pinned_at: Option<Timestamp>,
    /// Its tags, sorted by their bytes, without duplicates.
    pub tags: Vec<Tag>,
}

impl PinAndTags {
    /// Returns whether there is neither a pin nor a tag.
    pub const fn is_empty(&self) -> bool {
        self.pinned_at.is_none() && self.tags.is_empty()
    }

    /// Returns the pin and tags of a row's conversation.
    pub fn of_row(row: &SessionSummary) -> Self {
        Self { pinned_at: row.pinned_at, tags: row.tags.clone() }
    }

    /// Returns the union with `outside`. Values here take precedence: the time of the pin, and the tags if the union
    /// would be more than [`MAX_TAGS`].
    #[must_use]
    pub fn joined(&self, outside: &Self) -> Self {
        let mut tags: BTreeSet<Tag> = self.tags.iter().cloned().collect();
        for tag in &outside.tags {
            if tags.len() < MAX_TAGS {
                tags.insert(tag.clone());
            }
        }
        Self { pinned_at: self.pinned_at.or(outside.pinned_at), tags: tags.into_iter().collect() }
    }

    /// Returns whether the pin and the tags of `others` are all present here. The time of the pin does not count.
    pub fn hold(&self, others: &Self) -> bool {
        (self.pinned_at.is_some() || others.pinned_at.is_none())
            && others.tags.iter().all(|tag| self.tags.contains(tag))
    }
}

/// Returns the tags `has` without `remove`, then with `add`, sorted and without duplicates.
///
/// # Errors
/// If there would be more than [`MAX_TAGS`], and more than before.
pub fn changed_tags(has: &[Tag], add: &[Tag], remove: &[Tag]) -> Result<Vec<Tag>, Invalid> {
    let mut tags: BTreeSet<&Tag> = has.iter().filter(|tag| !remove.contains(tag)).collect();
    tags.extend(add);
    if tags.len() > MAX_TAGS && tags.len() > has.len() {
        let why = format!("would be {} (at most {MAX_TAGS} for a conversation)", tags.len());
        return Err(Invalid::new("tags", why, "remove some first"));
    }
    Ok(tags.into_iter().cloned().collect())
}

/// Returns the pin and tags of the conversation of a session.
///
/// # Errors
/// `NotFound` if there is no such session.
pub async fn of(store: &dyn ConversationStore, id: &SessionId) -> Result<PinAndTags, StoreError> {
    row_of(store, id).await.map(|row| PinAndTags::of_row(&row))
}

/// Returns the pin and tags stored with a session: those of its conversation if it is the first session, otherwise
/// none.
///
/// # Errors
/// `NotFound` if there is no such session.
pub async fn kept_with(store: &dyn ConversationStore, id: &SessionId) -> Result<PinAndTags, StoreError> {
    let row = row_of(store, id).await?;
    Ok(if row.conversation == *id { PinAndTags::of_row(&row) } else { PinAndTags::default() })
}

/// Returns any row of a session's conversation.
async fn row_of(store: &dyn ConversationStore, id: &SessionId) -> Result<SessionSummary, StoreError> {
    let request = ListRequest {
        view: View::Sessions,
        filter: SessionFilter { conversations: Some(vec![id.clone()]), ..SessionFilter::default() },
        order: Order::Id,
        page: PageRequest::first(1),
        after: None,
    };
    store.list(&request).await?.rows.pop().ok_or_else(|| StoreError::no_session(id))
}

/// Returns every conversation that has a pin or tags, by its first session.
///
/// # Errors
/// If the store fails.
pub async fn all(store: &dyn ConversationStore) -> Result<BTreeMap<SessionId, PinAndTags>, StoreError> {
    let pinned = SessionFilter { pinned: Some(true), ..SessionFilter::default() };
    let mut rows = rows(store, pinned).await?;
    for (tag, _) in store.tags().await? {
        rows.extend(self::rows(store, SessionFilter { tags: vec![tag], ..SessionFilter::default() }).await?);
    }
    let first = rows.into_iter().filter(|row| row.id == row.conversation);
    Ok(first.map(|row| (row.id.clone(), PinAndTags::of_row(&row))).collect())
}

async fn rows(store: &dyn ConversationStore, filter: SessionFilter) -> Result<Vec<SessionSummary>, StoreError> {
    let page = PageRequest::first(PAGE);
    let mut request = ListRequest { view: View::Sessions, filter, order: Order::Id, page, after: None };
    let mut rows = Vec::new();
    loop {
        let page = store.list(&request).await?;
        rows.extend(page.rows);
        match page.next {
            Some(next) => request.after = Some(next),
            None => return Ok(rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(texts: &[&str]) -> Vec<Tag> {
        texts.iter().map(|text| Tag::parse(text).unwrap()).collect()
    }

    #[test]
    fn tags_are_removed_then_added() {
        let check = |has: &[&str], add: &[&str], remove: &[&str], expect: &[&str]| {
            assert_eq!(changed_tags(&tags(has), &tags(add), &tags(remove)).unwrap(), tags(expect));
        };
        check(&["b"], &["c", "a", "c"], &[], &["a", "b", "c"]);
        check(&["a", "b"], &[], &["b", "z"], &["a"]);
        check(&["a"], &["b"], &["a"], &["b"]);
        check(&["a"], &["a"], &["a"], &["a"]);
    }

    #[test]
    fn there_are_so_many_and_no_more() {
        let numbered = |range: std::ops::Range<usize>| -> Vec<Tag> {
            range.map(|number| Tag::parse(&format!("t{number:03}")).unwrap()).collect()
        };
        let full = numbered(0..MAX_TAGS);
        assert_eq!(changed_tags(&[], &full, &[]).unwrap(), full);
        let error = changed_tags(&full, &tags(&["one-more"]), &[]).unwrap_err();
        assert_eq!(error.to_string(), "tags would be 51 (at most 50 for a conversation)");
        assert_eq!(changed_tags(&full, &tags(&["a"]), &full[..1]).unwrap().len(), MAX_TAGS);
        // A conversation with too many tags can still lose some.
        assert_eq!(changed_tags(&numbered(0..60), &[], &full[..1]).unwrap().len(), 59);
        let joined = PinAndTags { pinned_at: None, tags: full.clone() }
            .joined(&PinAndTags { pinned_at: Some(Timestamp::EPOCH), tags: numbered(49..99) });
        assert_eq!((joined.pinned_at, joined.tags), (Some(Timestamp::EPOCH), full));
    }

    #[test]
    fn what_is_there_stays() {
        let at = |seconds| Some(Timestamp::from_seconds(seconds).unwrap());
        let pins_and_tags = |pinned_at, texts: &[&str]| PinAndTags { pinned_at, tags: tags(texts) };
        let (here, outside) = (pins_and_tags(at(1.0), &["b"]), pins_and_tags(at(2.0), &["a", "b"]));
        let joined = here.joined(&outside);
        assert_eq!(joined, pins_and_tags(at(1.0), &["a", "b"]));
        assert!(joined.hold(&here) && joined.hold(&outside) && !here.hold(&outside));
        assert!(
            !pins_and_tags(None, &["a"]).hold(&pins_and_tags(at(1.0), &["a"])) && pins_and_tags(None, &[]).is_empty()
        );
    }
}
