//! Search in messages: request, answer, and the contract for stores.
//!
//! The rule for users: **a term matches where Ctrl-F would find it**, ignoring case and accents. [`query`] is the
//! language, [`fold`] and [`tokens`] define equality and words, [`matching`] decides about one message (every store
//! agrees with it), [`snippet`] shows the place, [`rank`] and [`relax`] order the hits.

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

/// Default time limit of a search.
pub const TIMEOUT: Duration = Duration::from_secs(2);

/// Search request.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchRequest {
    /// Query.
    pub query: Query,
    /// Messages to search.
    pub filter: SearchFilter,
    /// Order of hits.
    pub order: SearchOrder,
    /// Number of hits, and number of hits to skip first.
    pub page: PageRequest,
    /// Cursor at the end of the previous page.
    pub after: Option<SearchCursor>,
    /// Whether a query that matches nothing as a whole is repeated for any of its words.
    pub relax: bool,
    /// Whether hits have the messages beside them.
    pub with_neighbours: bool,
    /// Format of snippets.
    pub snippet: snippet::Style,
    /// Time limit. When it is reached, the answer is [`Served::is_partial`].
    pub timeout: Duration,
}

impl SearchRequest {
    /// Requests the best hits of a query among all messages.
    pub fn new(query: Query) -> Self {
        Self {
            query,
            filter: SearchFilter::default(),
            order: SearchOrder::default(),
            page: PageRequest::default(),
            after: None,
            relax: true,
            with_neighbours: true,
            snippet: snippet::Style::default(),
            timeout: TIMEOUT,
        }
    }
}

/// Order of hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SearchOrder {
    /// Whole words first, the best of them first; then parts of words, the newest first.
    #[default]
    Best,
    /// Newest first.
    Newest,
}

/// Filter for the messages to search. A condition that is not set matches everything.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchFilter {
    /// Only messages of sessions from these sources; an empty list matches nothing.
    pub sources: Option<Vec<Source>>,
    /// None from these sources.
    pub exclude_sources: Vec<Source>,
    /// Only messages of these roles; an empty list matches nothing.
    pub roles: Option<Vec<Role>>,
    /// Only messages at or after this time.
    pub since: Option<Timestamp>,
    /// Only messages before this time.
    pub before: Option<Timestamp>,
    /// Only sessions of this user.
    pub user_id: Option<String>,
    /// Only these sessions.
    pub sessions: Option<Vec<SessionId>>,
    /// None of these sessions.
    pub exclude_sessions: Vec<SessionId>,
    /// Only sessions with this text in their title, ignoring case and accents.
    pub title: Option<String>,
    /// Only sessions with this text in the name of their model, ignoring case and accents.
    pub model: Option<String>,
    /// Only conversations within this scope.
    pub scope: Scope,
    /// Only conversations that have all of these tags.
    pub tags: Vec<Tag>,
}

/// Facts about a session that a filter checks.
#[derive(Debug, Clone, Copy)]
pub struct SessionFacts<'a> {
    /// Its id.
    pub id: &'a SessionId,
    /// Its source.
    pub source: &'a Source,
    /// Its user.
    pub user_id: Option<&'a str>,
    /// Its model.
    pub model: Option<&'a str>,
    /// Its title.
    pub title: Option<&'a str>,
    /// Whether its conversation is within the filter's scope and has the filter's tags, as determined by the store.
    pub has_admitted_conversation: bool,
}

impl SearchFilter {
    /// Returns whether the filter has a condition on the session of a message.
    pub fn asks_of_session(&self) -> bool {
        self.names_sessions() || !self.exclude_sources.is_empty() || !self.exclude_sessions.is_empty()
    }

    /// Returns whether the filter limits the sessions, and not only excludes some.
    pub fn names_sessions(&self) -> bool {
        self.sources.is_some()
            || self.user_id.is_some()
            || self.sessions.is_some()
            || self.asks_of_conversation()
            || self.asks_for_pieces()
    }

    /// Returns whether the filter looks for a piece of a title or a model, which only [`fold::contains`] decides.
    pub const fn asks_for_pieces(&self) -> bool {
        self.title.is_some() || self.model.is_some()
    }

    /// Returns whether a session with this title and model passes these two conditions.
    pub fn admits_pieces(&self, title: Option<&str>, model: Option<&str>) -> bool {
        let has = |text: Option<&str>, piece: &str| text.is_some_and(|text| fold::contains(text, piece));
        self.title.as_deref().is_none_or(|piece| has(title, piece))
            && self.model.as_deref().is_none_or(|piece| has(model, piece))
    }

    /// Returns whether the filter has a condition on the conversation of a message.
    pub fn asks_of_conversation(&self) -> bool {
        self.scope.is_bounded() || !self.tags.is_empty()
    }

    /// Returns whether messages of a session are searched.
    pub fn admits_session(&self, session: SessionFacts<'_>) -> bool {
        session.has_admitted_conversation
            && self.sources.as_ref().is_none_or(|sources| sources.contains(session.source))
            && !self.exclude_sessions.contains(session.id)
            && !self.exclude_sources.contains(session.source)
            && self.user_id.as_deref().is_none_or(|user| session.user_id == Some(user))
            && self.sessions.as_ref().is_none_or(|sessions| sessions.contains(session.id))
            && self.admits_pieces(session.title, session.model)
    }

    /// Returns whether a message is searched, provided that its session is.
    pub fn admits_message(&self, role: &Role, said_at: Timestamp) -> bool {
        self.roles.as_ref().is_none_or(|roles| roles.contains(role))
            && self.since.is_none_or(|since| said_at >= since)
            && self.before.is_none_or(|before| said_at < before)
    }
}

/// Answer of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchAnswer {
    /// The hits of this page.
    pub hits: Vec<Hit>,
    /// Cursor for the next page; `None` after the last one.
    pub next: Option<SearchCursor>,
    /// How the answer was computed.
    pub served: Served,
}

/// How an answer was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    /// By indexes, or by scanning messages.
    pub way: Way,
    /// Whether nothing matched the whole query, and the hits match only some of its words.
    pub is_relaxed: bool,
    /// Whether the time limit was reached before everything was searched.
    pub is_partial: bool,
    /// Number of messages in the backlog of the indexes. They were scanned.
    pub unindexed: u64,
    /// Whether the file is not adopted, so that the indexes for fast search are missing.
    pub needs_adoption: bool,
}

/// Method that served an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Indexes named the candidates.
    Index,
    /// Messages were scanned: no index applies to the query, or none is usable.
    Scan,
}

/// A message that matches.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The message.
    pub message: MessageId,
    /// Its session.
    pub session: SessionId,
    /// Its conversation, by the id of the tip.
    pub conversation: SessionId,
    /// Role of the message.
    pub role: Role,
    /// Time of the message.
    pub said_at: Timestamp,
    /// In a tool result: name of the tool.
    pub tool_name: Option<String>,
    /// Source of the session.
    pub source: Source,
    /// Model of the session.
    pub model: Option<String>,
    /// Title of the conversation, or of the session if the conversation has none.
    pub title: Option<String>,
    /// Start of the session.
    pub started_at: Timestamp,
    /// Whether whole words matched. Hits of a relaxed answer count as parts of words.
    pub tier: matching::Tier,
    /// Score among the hits of this answer. It is not comparable with other answers.
    pub score: f64,
    /// Text around the match, with highlights.
    pub snippet: String,
    /// Previous message of its session.
    pub before: Option<Neighbour>,
    /// Next message of its session.
    pub after: Option<Neighbour>,
    /// Whether its conversation is archived.
    pub is_archived: bool,
}

/// A message next to a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// Role of the message.
    pub role: Role,
    /// The first [`snippet::NEIGHBOUR`] characters of its text.
    pub text: String,
}
