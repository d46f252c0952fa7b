//! Answers over rpc that are plain data, under the names of the agent's methods.
//!
//! Rows of the agent's tables are not here: they carry `NaN`, infinities, bytes and stored JSON in the agent's
//! formatting, which serde can't represent. `hermes_rpc` writes them itself.

use crate::search::Served;
use crate::statistics::Counts;
use crate::verify::Check;
use hermes_session::search;
use hermes_session::{IndexHealth, Report};
use schemars::JsonSchema;
use serde::Serialize;

/// The answer to `info`, and the content of the first line.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Info<'a> {
    /// The version of the protocol.
    pub protocol: i64,
    /// The version of the program.
    pub version: &'a str,
    /// `sqlite`, `postgresql` or `mysql`.
    pub provider: &'a str,
    /// Location of the store, without passwords.
    pub location: &'a str,
    /// The version of the schema in the agent's numbering.
    pub schema_version: i64,
}

/// The answer to `status`. It has fewer keys than that of `--json`, and `schema` in place of `schema_name`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Status<'a> {
    /// `sqlite`, `postgresql` or `mysql`.
    pub provider: &'a str,
    /// The version of SQLite or of the server.
    pub version: &'a str,
    /// Location of the store, without passwords.
    pub location: &'a str,
    /// The version of the schema in the agent's numbering.
    pub schema_version: i64,
    /// The schema of the tables on a server; `null` for a file.
    pub schema: Option<&'a str>,
    /// The size in bytes.
    pub bytes: u64,
    /// The part of `bytes` that is free.
    pub free_bytes: u64,
    /// The state of the search indexes.
    pub indexes: Indexes<'a>,
    /// The counts.
    #[serde(flatten)]
    pub counts: Counts,
}

/// The state of the search indexes.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum Indexes<'a> {
    /// All messages are indexed.
    Whole,
    /// Some messages are not indexed yet.
    Behind {
        /// Number of messages that are not indexed yet.
        messages: u64,
    },
    /// An index is damaged.
    Broken {
        /// The damage.
        why: &'a str,
    },
}

impl<'a> Status<'a> {
    /// Returns the status of a store.
    pub fn new(status: &'a hermes_session::StoreStatus, counts: &hermes_session::Counts) -> Self {
        let indexes = match &status.indexes {
            IndexHealth::Whole => Indexes::Whole,
            IndexHealth::Behind { messages } => Indexes::Behind { messages: *messages },
            IndexHealth::Broken { why } => Indexes::Broken { why },
        };
        Self {
            provider: status.provider,
            version: &status.version,
            location: &status.location,
            schema_version: status.schema_version,
            schema: status.schema.as_deref(),
            bytes: status.bytes,
            free_bytes: status.free_bytes,
            indexes,
            counts: counts.into(),
        }
    }
}

/// The answer to `verify`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifyReport<'a> {
    /// Whether no check found a problem.
    pub sound: bool,
    /// How many problems all checks found.
    pub problems: u64,
    /// The checks.
    pub checks: Vec<Check<'a, Finding<'a>>>,
}

/// A finding of a check. Its keys are in another order than those of `--json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding<'a> {
    /// The object: a table and an id, an index, a file.
    pub object: &'a str,
    /// A description of the finding.
    pub what: &'a str,
    /// `problem` or `note`.
    pub severity: &'static str,
}

impl<'a> From<&'a hermes_session::Finding> for Finding<'a> {
    fn from(finding: &'a hermes_session::Finding) -> Self {
        Self { object: &finding.object, what: &finding.what, severity: finding.severity.as_str() }
    }
}

impl<'a> From<&'a Report> for VerifyReport<'a> {
    fn from(report: &'a Report) -> Self {
        let checks = report.checks.iter().map(Check::from).collect();
        Self { sound: report.is_sound(), problems: report.problems(), checks }
    }
}

/// The answer to `optimize`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Optimized {
    /// The size before, in bytes.
    pub bytes_before: u64,
    /// The size after, in bytes.
    pub bytes_after: u64,
}

/// The answer to `maybe_auto_prune_and_vacuum`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct AutoPruned {
    /// Whether it was skipped, because the last run was too recent.
    pub skipped: bool,
    /// How many sessions were deleted.
    pub pruned: u64,
    /// Whether free space was given back.
    pub vacuumed: bool,
    /// The error; left out if it did not fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The answer to `get_handoff_state`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Handoff<'a> {
    /// Its state.
    pub state: Option<&'a str>,
    /// The platform that the session is handed to.
    pub platform: Option<&'a str>,
    /// The error, if it failed.
    pub error: Option<&'a str>,
}

/// The answer to `get_telegram_topic_binding`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TopicBinding<'a> {
    /// The chat.
    pub chat_id: &'a str,
    /// The thread in it.
    pub thread_id: &'a str,
    /// The person.
    pub user_id: &'a str,
    /// The route by which the gateway knows the topic.
    pub session_key: &'a str,
    /// The session of the topic.
    pub session_id: &'a str,
    /// `auto`, or how else it is managed.
    pub managed_mode: &'a str,
    /// When it was linked.
    pub linked_at: f64,
    /// When it was changed last.
    pub updated_at: f64,
}

impl<'a> From<&'a hermes_session::TopicBinding> for TopicBinding<'a> {
    fn from(binding: &'a hermes_session::TopicBinding) -> Self {
        Self {
            chat_id: &binding.chat_id,
            thread_id: &binding.thread_id,
            user_id: &binding.user_id,
            session_key: &binding.session_key,
            session_id: binding.session_id.as_str(),
            managed_mode: &binding.managed_mode,
            linked_at: binding.linked_at.seconds(),
            updated_at: binding.updated_at.seconds(),
        }
    }
}

/// The answer to `search`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchAnswer<'a> {
    /// The hits.
    pub hits: Vec<SearchHit<'a>>,
    /// How the answer was found; left out if the query is blank.
    #[serde(flatten)]
    pub served: Option<Served>,
}

/// A hit of `search`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SearchHit<'a> {
    /// The message.
    #[serde(flatten)]
    pub hit: Hit<'a>,
    /// The session in which the conversation continues today.
    pub conversation: &'a str,
    /// The title of the conversation, or else of the session.
    pub title: Option<&'a str>,
    /// The score, to be compared within one answer only.
    pub score: f64,
}

/// A hit of `search_messages`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MessageHit<'a> {
    /// The message.
    #[serde(flatten)]
    pub hit: Hit<'a>,
    /// `true` if nothing matched the whole query, and the hit has some of its words; else left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub relaxed: bool,
}

/// A message that was found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Hit<'a> {
    /// The message.
    pub id: i64,
    /// Its session.
    pub session_id: &'a str,
    /// The role of its author.
    pub role: &'a str,
    /// The passage with the match, with `>>>` and `<<<` around matches.
    pub snippet: &'a str,
    /// When it was written.
    pub timestamp: f64,
    /// The tool, if it is a result of one.
    pub tool_name: Option<&'a str>,
    /// The source of the session.
    pub source: &'a str,
    /// The model.
    pub model: Option<&'a str>,
    /// When the session started.
    pub session_started: f64,
    /// The message before it, itself and the message after it.
    pub context: Vec<ContextMessage<'a>>,
}

/// A message in the context of a hit.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ContextMessage<'a> {
    /// The role of its author.
    pub role: &'a str,
    /// The beginning of its text.
    pub content: String,
}

impl<'a> Hit<'a> {
    /// Returns a hit with its context.
    pub fn new(hit: &'a search::Hit, context: Vec<ContextMessage<'a>>) -> Self {
        Self {
            id: hit.message.0,
            session_id: hit.session.as_str(),
            role: hit.role.as_str(),
            snippet: &hit.snippet,
            timestamp: hit.said_at.seconds(),
            tool_name: hit.tool_name.as_deref(),
            source: hit.source.as_str(),
            model: hit.model.as_deref(),
            session_started: hit.started_at.seconds(),
            context,
        }
    }
}
