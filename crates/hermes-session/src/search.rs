//! Searching what was said: the question, the answer, and the contract that stores keep.
//!
//! The rule that a person can hold in the head: **a term matches where Ctrl-F would find it**, whatever the case, with or without
//! accents. [`query`] is the language, [`fold`] and [`tokens`] say what is the same and what is a word, [`matching`] decides about one message
//! (every store agrees with it), [`snippet`] shows the place, [`rank`] and [`relax`] order what was found.

mod cursor;
pub mod fold;
pub mod matching;
pub mod query;
pub mod rank;
pub mod relax;
pub mod snippet;
pub mod tokens;

pub use cursor::SearchCursor;
pub use query::Query;

use crate::{MessageId, PageRequest, Role, Scope, SessionId, Source, Tag, Timestamp};
use std::time::Duration;

/// How long a search may take unless somebody says otherwise.
pub const TIMEOUT: Duration = Duration::from_secs(2);

/// A question to a store.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// What is looked for.
    pub query: Query,
    /// Among which messages.
    pub filter: SearchFilter,
    /// In what order hits come.
    pub order: SearchOrder,
    /// How many hits, and how many to pass over first.
    pub page: PageRequest,
    /// Where the page before this one ended.
    pub after: Option<SearchCursor>,
    /// Whether a query that matches nothing as a whole is asked again for any of its words.
    pub relax: bool,
    /// How hits are shown.
    pub snippet: snippet::Style,
    /// When to stop; the answer is [`Served::is_partial`] then.
    pub timeout: Duration,
}

impl SearchRequest {
    /// Asks for the best hits of a query among all messages.
    pub fn new(query: Query) -> Self {
        Self {
            query,
            filter: SearchFilter::default(),
            order: SearchOrder::default(),
            page: PageRequest::default(),
            after: None,
            relax: true,
            snippet: snippet::Style::default(),
            timeout: TIMEOUT,
        }
    }
}

/// In what order hits come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchOrder {
    /// Whole words first, the best of them first; then pieces of words, the newest first.
    #[default]
    Best,
    /// The last written first.
    Newest,
}

/// Which messages are searched. What is not said admits all.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchFilter {
    /// Only messages of sessions from these sources; an empty list admits none.
    pub sources: Option<Vec<Source>>,
    /// None from these.
    pub exclude_sources: Vec<Source>,
    /// Only messages of these roles; an empty list admits none.
    pub roles: Option<Vec<Role>>,
    /// Only what was said at this time or later.
    pub since: Option<Timestamp>,
    /// Only what was said before this time.
    pub before: Option<Timestamp>,
    /// Only sessions of this user.
    pub user_id: Option<String>,
    /// Only these sessions.
    pub sessions: Option<Vec<SessionId>>,
    /// None of these sessions.
    pub exclude_sessions: Vec<SessionId>,
    /// Only sessions whose title has this in it, caseless and accents aside.
    pub title: Option<String>,
    /// Only sessions with this model.
    pub model: Option<String>,
    /// Only conversations within this scope.
    pub scope: Scope,
    /// Only conversations that have all of these tags.
    pub tags: Vec<Tag>,
}

/// What a filter asks of a session.
#[derive(Debug, Clone, Copy)]
pub struct SessionFacts<'a> {
    /// Its id.
    pub id: &'a SessionId,
    /// Where it comes from.
    pub source: &'a Source,
    /// Whose it is.
    pub user_id: Option<&'a str>,
    /// Its model.
    pub model: Option<&'a str>,
    /// Its title.
    pub title: Option<&'a str>,
    /// Whether its conversation is within the filter's scope and has the filter's tags, as the store has looked it up.
    pub has_admitted_conversation: bool,
}

impl SearchFilter {
    /// Whether it asks anything of the session that a message is in.
    pub fn asks_of_session(&self) -> bool {
        self.names_sessions() || !self.exclude_sources.is_empty() || !self.exclude_sessions.is_empty()
    }

    /// Whether it says which sessions are meant, and not only which are left out.
    pub fn names_sessions(&self) -> bool {
        self.sources.is_some()
            || self.user_id.is_some()
            || self.sessions.is_some()
            || self.asks_of_conversation()
            || self.title.is_some()
            || self.model.is_some()
    }

    /// Returns whether it asks anything of the conversation that a message is in.
    pub fn asks_of_conversation(&self) -> bool {
        self.scope.is_bounded() || !self.tags.is_empty()
    }

    /// Whether messages of a session are searched.
    pub fn admits_session(&self, session: SessionFacts<'_>) -> bool {
        session.has_admitted_conversation
            && self.sources.as_ref().is_none_or(|sources| sources.contains(session.source))
            && !self.exclude_sessions.contains(session.id)
            && !self.exclude_sources.contains(session.source)
            && self.user_id.as_deref().is_none_or(|user| session.user_id == Some(user))
            && self.sessions.as_ref().is_none_or(|sessions| sessions.contains(session.id))
            && self.model.as_deref().is_none_or(|model| session.model == Some(model))
            && self.title.as_deref().is_none_or(|piece| {
                session.title.is_some_and(|title| fold::fold(title).contains(fold::fold(piece).as_ref()))
            })
    }

    /// Whether a message is searched, if its session is.
    pub fn admits_message(&self, role: &Role, said_at: Timestamp) -> bool {
        self.roles.as_ref().is_none_or(|roles| roles.contains(role))
            && self.since.is_none_or(|since| said_at >= since)
            && self.before.is_none_or(|before| said_at < before)
    }
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchAnswer {
    /// The hits of this page.
    pub hits: Vec<Hit>,
    /// Where the next page starts; nothing if this was the last one.
    pub next: Option<SearchCursor>,
    /// How the answer came about.
    pub served: Served,
}

/// How an answer came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// Through indexes, or by looking through messages.
    pub way: Way,
    /// Whether nothing matched the whole query, and the hits match some of its words.
    pub is_relaxed: bool,
    /// Whether time ran out before everything was looked at.
    pub is_partial: bool,
    /// How many messages no index knew yet; they were looked through.
    pub unindexed: u64,
    /// Whether the file is not adopted, so that the indexes that make this quick are missing.
    pub needs_adoption: bool,
}

/// What served an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Indexes named the messages.
    Index,
    /// Messages were looked through: the query has nothing that an index knows, or there is none that can be used.
    Scan,
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The message.
    pub message: MessageId,
    /// The session that it is in.
    pub session: SessionId,
    /// The conversation: the session that it goes on in.
    pub conversation: SessionId,
    /// Who said it.
    pub role: Role,
    /// When.
    pub said_at: Timestamp,
    /// The tool, in a tool's result.
    pub tool_name: Option<String>,
    /// Where the session comes from.
    pub source: Source,
    /// Its model.
    pub model: Option<String>,
    /// The title of the conversation, or of the session if that has none.
    pub title: Option<String>,
    /// When the session started.
    pub started_at: Timestamp,
    /// Whether whole words matched; those of a relaxed answer count as pieces.
    pub tier: matching::Tier,
    /// How well, among the hits of this answer; it compares with nothing else.
    pub score: f64,
    /// The place in the text, with marks around what matched.
    pub snippet: String,
    /// The message before it in its session.
    pub before: Option<Neighbour>,
    /// The message after it.
    pub after: Option<Neighbour>,
}

/// A message beside a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// Who said it.
    pub role: Role,
    /// The first [`snippet::NEIGHBOUR`] characters of what was said.
    pub text: String,
}
