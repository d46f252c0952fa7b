//! Pins and tags.

use hermes_session::Tag;
use schemars::JsonSchema;
use serde::Serialize;

/// Conversations that were pinned or unpinned.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pins<'a> {
    /// The conversations.
    pub sessions: Vec<Pin<'a>>,
}

/// A conversation that was pinned or unpinned.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Pin<'a> {
    /// The session in which the conversation continues today.
    pub id: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Whether it is pinned now.
    pub pinned: bool,
    /// Whether that changed.
    pub changed: bool,
}

/// With a session: conversations and their tags.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tagged<'a> {
    /// The conversations.
    pub sessions: Vec<TaggedSession<'a>>,
}

/// A conversation and its tags.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaggedSession<'a> {
    /// The session in which the conversation continues today.
    pub id: &'a str,
    /// All tags it has now.
    pub tags: Vec<&'a str>,
}

impl<'a> TaggedSession<'a> {
    /// Returns a conversation with its tags.
    pub fn new(id: &'a hermes_session::SessionId, tags: &'a [Tag]) -> Self {
        Self { id: id.as_str(), tags: tags.iter().map(Tag::as_str).collect() }
    }
}

/// Without a session: every tag.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Tags<'a> {
    /// The tags.
    pub tags: Vec<TagCount<'a>>,
}

/// A tag and its conversations.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TagCount<'a> {
    /// The tag.
    pub tag: &'a str,
    /// How many conversations have it.
    pub conversations: u64,
}

impl<'a> From<&'a [(Tag, u64)]> for Tags<'a> {
    fn from(tags: &'a [(Tag, u64)]) -> Self {
        let count = |(tag, count): &'a (Tag, u64)| TagCount { tag: tag.as_str(), conversations: *count };
        Self { tags: tags.iter().map(count).collect() }
    }
}
