//! Sessions: rows of a list, and a session with its messages.

use crate::Stored;
use crate::usage::Usage;
use hermes_session::{SessionId, StateCounts, Tag, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// A page of a list. In the order of activity pinned conversations come first, unless `--all` or `--pinned` is given.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Listing<'a> {
    /// The rows of the page.
    pub sessions: Vec<SessionRow<'a>>,
    /// Rows that exist but can't be read.
    pub unreadable: Vec<UnreadableRow<'a>>,
    /// Whether another page follows.
    pub more: bool,
}

/// A row is a conversation: `id`, `title`, `ended_at`, `end_reason` and `model` are those of its last session,
/// `source`, `user_id` and `started_at` those of its first; usage, `message_count` and `tool_call_count` are sums over
/// its sessions. With `--all` a row is a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionRow<'a> {
    /// The session in which the conversation continues today.
    pub id: &'a str,
    /// The session that the conversation starts with.
    pub conversation: &'a str,
    /// How many sessions the row comprises, delegates included.
    pub segments: u64,
    /// Its source, such as `cli` or `telegram`.
    pub source: &'a str,
    /// The person on the platform.
    pub user_id: Option<&'a str>,
    /// The model.
    pub model: Option<&'a str>,
    /// The session it comes from.
    pub parent_session_id: Option<&'a str>,
    /// Its relation to that session: `root`, `continuation`, `branch` or `delegate`.
    pub relation: &'a str,
    /// When it started.
    pub started_at: f64,
    /// When it ended; `null` while it is active.
    pub ended_at: Option<f64>,
    /// The reason of its end.
    pub end_reason: Option<&'a str>,
    /// Active messages; compacted and undone ones do not count.
    pub message_count: i64,
    /// Tool calls.
    pub tool_call_count: i64,
    /// Its title.
    pub title: Option<&'a str>,
    /// Tokens and cost.
    #[serde(flatten)]
    pub usage: Usage<'a>,
    /// The time of the newest message, or the start.
    pub last_active: f64,
    /// The start of the person's first message.
    pub preview: &'a str,
    /// When the conversation was pinned; `null` if it is not.
    pub pinned_at: Option<f64>,
    /// The tags of the conversation, sorted by their bytes.
    pub tags: Vec<&'a str>,
    /// Whether the conversation is archived.
    pub archived: bool,
}

/// A row that can't be read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnreadableRow<'a> {
    /// Its table.
    pub table: &'a str,
    /// Its id, as far as it is known.
    pub id: &'a str,
    /// The reason.
    pub why: &'a str,
}

impl<'a> Listing<'a> {
    /// Returns a page of a list; `more` says whether another follows.
    pub fn new(listing: &'a hermes_session::Listing, more: bool) -> Self {
        let unreadable =
            |row: &'a hermes_session::Unreadable| UnreadableRow { table: row.table, id: &row.id, why: &row.why };
        Self {
            sessions: listing.rows.iter().map(SessionRow::from).collect(),
            unreadable: listing.unreadable.iter().map(unreadable).collect(),
            more,
        }
    }
}

impl<'a> From<&'a hermes_session::SessionSummary> for SessionRow<'a> {
    fn from(row: &'a hermes_session::SessionSummary) -> Self {
        Self {
            id: row.id.as_str(),
            conversation: row.conversation.as_str(),
            segments: row.segments,
            source: row.source.as_str(),
            user_id: row.user_id.as_deref(),
            model: row.model.as_deref(),
            parent_session_id: row.parent_session_id.as_ref().map(SessionId::as_str),
            relation: row.relation.as_str(),
            started_at: row.started_at.seconds(),
            ended_at: row.ended_at.map(Timestamp::seconds),
            end_reason: row.end_reason.as_ref().map(|reason| reason.as_str()),
            message_count: row.messages,
            tool_call_count: row.tool_calls,
            title: row.title.as_deref(),
            usage: (&row.usage).into(),
            last_active: row.last_active.seconds(),
            preview: &row.preview,
            pinned_at: row.pinned_at.map(Timestamp::seconds),
            tags: row.tags.iter().map(Tag::as_str).collect(),
            archived: row.is_archived,
        }
    }
}

/// A session with every message.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Transcript<'a> {
    /// The session.
    pub session: SessionDetail<'a>,
    /// Every message of the session; with `--around` that message and up to five on either side. Each has every column
    /// of the table, in the form of [exports](export-format.md). `state` is `compacted` or `undone`; a message without
    /// it is active. Structured content is a list or an object, text is a string.
    pub messages: Vec<Stored<'a>>,
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionDetail<'a> {
    /// The session.
    pub id: &'a str,
    /// Its source, such as `cli` or `telegram`.
    pub source: &'a str,
    /// The person on the platform.
    pub user_id: Option<&'a str>,
    /// The model.
    pub model: Option<&'a str>,
    /// The settings of the model, as they are stored.
    pub model_config: Option<Stored<'a>>,
    /// The system prompt.
    pub system_prompt: Option<&'a str>,
    /// The session it comes from.
    pub parent_session_id: Option<&'a str>,
    /// Its relation to that session: `root`, `continuation`, `branch` or `delegate`.
    pub relation: &'a str,
    /// When it started.
    pub started_at: f64,
    /// When it ended; `null` while it is active.
    pub ended_at: Option<f64>,
    /// The reason of its end.
    pub end_reason: Option<&'a str>,
    /// Active messages.
    pub message_count: u64,
    /// Compacted messages.
    pub compacted_count: u64,
    /// Undone messages.
    pub undone_count: u64,
    /// Tool calls.
    pub tool_call_count: i64,
    /// Its title.
    pub title: Option<&'a str>,
    /// Tokens and cost.
    #[serde(flatten)]
    pub usage: Usage<'a>,
    /// Whether it is archived.
    pub archived: bool,
    /// The sessions whose contexts were compressed into it, oldest first.
    pub compressed: Vec<&'a str>,
    /// The session in which its conversation continues today; `null` if it is this one.
    pub continued_in: Option<&'a str>,
    /// Columns that can't be read.
    pub unreadable: Vec<Fault<'a>>,
}

/// A column that can't be read.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Fault<'a> {
    /// The column.
    pub column: &'a str,
    /// The reason.
    pub why: &'a str,
}

impl<'a> SessionDetail<'a> {
    /// Returns a session with its messages counted by state, and the other sessions of its conversation.
    pub fn new(
        session: &'a hermes_session::Session,
        states: StateCounts,
        compressed: &'a [SessionId],
        continued_in: Option<&'a SessionId>,
    ) -> Self {
        let fault = |fault: &'a hermes_session::Fault| Fault { column: fault.column, why: &fault.why };
        Self {
            id: session.id.as_str(),
            source: session.source.as_str(),
            user_id: session.user_id.as_deref(),
            model: session.model.as_deref(),
            model_config: session.model_config.as_ref().map(Stored),
            system_prompt: session.system_prompt.as_deref(),
            parent_session_id: session.parent_session_id.as_ref().map(SessionId::as_str),
            relation: session.relation.as_str(),
            started_at: session.started_at.seconds(),
            ended_at: session.ended_at.map(Timestamp::seconds),
            end_reason: session.end_reason.as_ref().map(|reason| reason.as_str()),
            message_count: states.active,
            compacted_count: states.compacted,
            undone_count: states.undone,
            tool_call_count: session.tool_call_count,
            title: session.title.as_deref(),
            usage: (&session.usage).into(),
            archived: session.archived,
            compressed: compressed.iter().map(SessionId::as_str).collect(),
            continued_in: continued_in.map(SessionId::as_str),
            unreadable: session.faults.iter().map(fault).collect(),
        }
    }
}
