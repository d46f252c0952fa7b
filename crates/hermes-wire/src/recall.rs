//! Answers for agents: recalled passages, lists, transcripts and counts, as MCP tools and `session_search` over rpc
//! return them.
//!
//! `when` is a time for people, such as `November 15, 2026 at 06:38 PM`, in the zone of the reader.

use crate::statistics::Counts;
use hermes_session::SessionSummary;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The answer to `session_search` without a query: the most recent conversations.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Recent<'a> {
    /// `true`.
    pub success: bool,
    /// `recent`.
    pub mode: &'static str,
    /// How many conversations there are.
    pub count: usize,
    /// The conversations.
    pub results: Vec<ConversationRow<'a>>,
    /// A text for the model.
    pub message: String,
}

/// A conversation in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationRow<'a> {
    /// The session in which the conversation continues today.
    pub session_id: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its source.
    pub source: &'a str,
    /// When it started.
    pub started_at: f64,
    /// The time of the newest message, or the start.
    pub last_active: f64,
    /// Active messages.
    pub message_count: i64,
    /// The start of the person's first message.
    pub preview: &'a str,
    /// `last_active` for people.
    pub when: String,
    /// The session that the conversation starts with.
    pub conversation: &'a str,
    /// The person on the platform.
    pub user_id: Option<&'a str>,
    /// The model.
    pub model: Option<&'a str>,
}

impl<'a> ConversationRow<'a> {
    /// Returns a conversation with its last activity as a text.
    pub fn new(row: &'a SessionSummary, when: String) -> Self {
        Self {
            session_id: row.id.as_str(),
            title: row.title.as_deref(),
            source: row.source.as_str(),
            started_at: row.started_at.seconds(),
            last_active: row.last_active.seconds(),
            message_count: row.messages,
            preview: &row.preview,
            when,
            conversation: row.conversation.as_str(),
            user_id: row.user_id.as_deref(),
            model: row.model.as_deref(),
        }
    }
}

/// The answer to `session_search` with a query: the best conversations.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found<'a> {
    /// `true`.
    pub success: bool,
    /// `search`.
    pub mode: &'static str,
    /// The query.
    pub query: &'a str,
    /// How many conversations there are.
    pub count: usize,
    /// The same number as `count`, under the agent's name for it.
    pub sessions_searched: usize,
    /// The conversations, best first.
    pub results: Vec<Recalled<'a>>,
    /// How the answer was found.
    pub served: ScopedServed,
    /// A text for the model; left out if something was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<&'static str>,
}

/// How an answer was found, as far as the scope allows reporting it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopedServed {
    /// `index`, or `scan` where messages had to be scanned.
    pub way: &'static str,
    /// Whether nothing matched the whole query, and the matches have some of its words.
    pub relaxed: bool,
    /// Whether time ran out, so that there may be more matches.
    pub partial: bool,
    /// How many messages were not indexed yet; `null` within a limited scope, because it counts messages outside the
    /// scope too.
    pub unindexed: Option<u64>,
}

/// A conversation with the passage around its matches.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Recalled<'a> {
    /// The session in which the conversation continues today.
    pub session_id: &'a str,
    /// When it started, for people.
    pub when: String,
    /// Its source.
    pub source: &'a str,
    /// The model.
    pub model: Option<&'a str>,
    /// A summary of the passage, or the passage itself.
    pub summary: &'a str,
    /// Whether `summary` is a summary.
    pub is_summary: bool,
    /// Its title.
    pub title: Option<&'a str>,
    /// The person on the platform.
    pub user_id: Option<&'a str>,
    /// The session that the conversation starts with.
    pub conversation: &'a str,
    /// When it started.
    pub started_at: f64,
    /// The time of the newest message, or the start.
    pub last_active: f64,
    /// Active messages.
    pub message_count: i64,
    /// The matches.
    pub matches: Vec<Match<'a>>,
    /// The extent of the passage.
    pub window: Window,
    /// The reason why there is no summary; left out if none was requested, or there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary_error: Option<&'a str>,
}

/// A message that matched.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Match<'a> {
    /// The message.
    pub message_id: i64,
    /// Its session.
    pub session_id: &'a str,
    /// The role of its author.
    pub role: &'a str,
    /// When it was written.
    pub said_at: f64,
    /// When it was written, for people.
    pub when: String,
    /// The passage with the match, with delimiters around matches.
    pub snippet: &'a str,
}

/// The extent of a passage.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Window {
    /// How many characters it has.
    pub characters: usize,
    /// How many messages it has.
    pub messages: usize,
    /// How many messages of the conversation are not in it.
    pub left_out: usize,
    /// Its first message.
    pub first: Option<i64>,
    /// Its last message.
    pub last: Option<i64>,
}

/// The answer of a tool that failed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Failure<'a> {
    /// `false`.
    pub success: bool,
    /// The error.
    pub error: String,
    /// How to correct it.
    pub hint: &'a str,
}

/// A page of conversations.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Conversations<'a> {
    /// How many conversations the page has.
    pub count: usize,
    /// The conversations.
    pub conversations: Vec<ConversationRow<'a>>,
    /// The `offset` of the next page; `null` on the last one.
    pub next_offset: Option<u64>,
    /// Where the requested source has nothing: the sources that there are. Absent if the scope is limited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A page of a transcript.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TranscriptPage<'a> {
    /// The session by which the pages are read.
    pub session_id: &'a str,
    /// The title of the conversation.
    pub title: Option<&'a str>,
    /// Its source.
    pub source: &'a str,
    /// How many messages the page has.
    pub count: usize,
    /// The messages.
    pub messages: Vec<PageMessage<'a>>,
    /// The `cursor` of the next page; `null` on the last one.
    pub next: Option<String>,
}

/// A message of a page.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PageMessage<'a> {
    /// The message.
    pub id: i64,
    /// Its session.
    pub session_id: &'a str,
    /// The role of its author.
    pub role: &'a str,
    /// The text.
    pub content: String,
    /// When it was written.
    pub timestamp: f64,
    /// When it was written, for people.
    pub when: String,
    /// `compacted` or `undone`; left out if it is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'a str>,
    /// The tool; left out if it is not the result of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<&'a str>,
    /// The tool calls: JSON, or a text if they are too long; left out if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_calls: Option<Value>,
    /// `true` if the message is longer than a page and was cut; else left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_cut: bool,
}

/// The counts within a scope.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScopeCounts<'a> {
    /// The counts.
    #[serde(flatten)]
    pub counts: Counts,
    /// The counts of each source; left out unless everything is within the scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sources: Option<BTreeMap<&'a str, Counts>>,
}

/// The counts and the usage of a conversation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationStatistics<'a> {
    /// The session in which the conversation continues today.
    pub session_id: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// Its source.
    pub source: &'a str,
    /// The person on the platform.
    pub user_id: Option<&'a str>,
    /// When it started.
    pub started_at: f64,
    /// The time of the newest message, or the start.
    pub last_active: f64,
    /// When it started, for people.
    pub when: String,
    /// How many sessions it has.
    pub sessions: usize,
    /// Active messages.
    pub messages: i64,
    /// Tool calls.
    pub tool_calls: i64,
    /// The models, by name.
    pub models: Vec<&'a str>,
    /// Tokens sent.
    pub input_tokens: i64,
    /// Tokens received.
    pub output_tokens: i64,
    /// Cost in US dollars; `null` if unknown.
    pub cost_usd: Option<f64>,
}

/// The answer of `rename_conversation`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ConversationRenamed<'a> {
    /// `true`.
    pub success: bool,
    /// The session in which the conversation continues today.
    pub session_id: &'a str,
    /// The title, as it is stored.
    pub title: &'a str,
}

/// The answer of `append_note`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct NoteAppended {
    /// `true`.
    pub success: bool,
    /// The message that holds the note.
    pub message_id: i64,
}
