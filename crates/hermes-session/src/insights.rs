//! Usage of an agent over a span of time: messages, models, tools, skills, times and cost.
//!
//! A provider passes sessions, results and calls one by one ([`Gathering`]); the counting here is the same for every
//! provider. Hours of the day depend on the caller's time zone, so [`Activity`] is computed afterwards.

mod activity;
mod calls;
mod chains;
mod gather;
mod repeats;

pub use activity::Activity;
pub use chains::Chains;
pub use gather::Gathering;
pub use repeats::{Trace, repeats};

use crate::{Relation, SessionId, Source, Timestamp, Usage};
use std::collections::BTreeMap;

/// Selection of sessions to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsightsRequest {
    /// Only sessions that started at this time or later. Messages count with their session.
    pub since: Timestamp,
    /// Only conversations whose first session is from this source.
    pub source: Option<Source>,
    /// Exclude conversations whose first session is from one of these sources.
    pub exclude_sources: Vec<Source>,
}

impl InsightsRequest {
    /// Selects everything that started at this time or later.
    pub const fn since(since: Timestamp) -> Self {
        Self { since, source: None, exclude_sources: Vec::new() }
    }
}

/// Usage of an agent. A conversation counts once, however many sessions it has.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Insights {
    /// Totals.
    pub total: Tally,
    /// By model; `None` for sessions that name none. A conversation counts for each model that it used.
    pub models: BTreeMap<Option<String>, Tally>,
    /// By the source of the conversation's first session; delegates count with it.
    pub sources: BTreeMap<Source, Tally>,
    /// By the name of a tool.
    pub tools: BTreeMap<String, ToolUse>,
    /// By the name of a skill.
    pub skills: BTreeMap<String, SkillUse>,
    /// Start of each conversation, or of its first continuation within the span, in ascending order.
    pub starts: Vec<Timestamp>,
    /// Time spent in conversations.
    pub time: TimeSpent,
    /// Conversations that stand out, at most one for each distinction.
    pub notable: Vec<Notable>,
}

/// Totals over a set of sessions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    /// Conversations.
    pub conversations: u64,
    /// Their sessions. Continuations and delegates count one by one.
    pub sessions: u64,
    /// Messages in them.
    pub messages: MessageCounts,
    /// Tool calls in those messages.
    pub tool_calls: u64,
    /// Sum of the usage counters. Its text fields have no meaning here.
    pub usage: Usage,
    /// Sum of the cost of each session ([`Usage::cost`]); `None` if no cost is known.
    pub cost_usd: Option<f64>,
    /// Sessions that used tokens at an unknown price.
    pub unknown_cost_sessions: u64,
    /// Sessions that a subscription paid for.
    pub included_cost_sessions: u64,
}

impl Tally {
    /// Returns the tokens sent and received, including tokens read from and written to the cache.
    pub fn tokens(&self) -> i64 {
        let used = &self.usage;
        [used.output_tokens, used.cache_read_tokens, used.cache_write_tokens]
            .into_iter()
            .fold(used.input_tokens, i64::saturating_add)
    }
}

/// Number of messages by role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageCounts {
    /// From the user.
    pub user: u64,
    /// From the model.
    pub assistant: u64,
    /// Tool results.
    pub tool: u64,
    /// With any other role.
    pub other: u64,
}

impl MessageCounts {
    /// Returns the number of all messages.
    pub const fn all(self) -> u64 {
        self.user + self.assistant + self.tool + self.other
    }

    /// Adds messages of a role.
    pub fn count(&mut self, role: &str, messages: u64) {
        *self.of(role) += messages;
    }

    /// Subtracts messages of a role.
    pub fn discount(&mut self, role: &str, messages: u64) {
        let counter = self.of(role);
        *counter = counter.saturating_sub(messages);
    }

    fn of(&mut self, role: &str) -> &mut u64 {
        match role {
            "user" => &mut self.user,
            "assistant" => &mut self.assistant,
            "tool" => &mut self.tool,
            _ => &mut self.other,
        }
    }
}

/// Number of uses of a tool. Some agents name the tool in a call, some in its result, some in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolUse {
    /// Calls that name it.
    pub calls: u64,
    /// Results that name it.
    pub results: u64,
}

impl ToolUse {
    /// Returns the number of uses. A call and its result are one use.
    pub fn count(self) -> u64 {
        self.calls.max(self.results)
    }
}

/// Uses of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SkillUse {
    /// Number of times it was loaded.
    pub loads: u64,
    /// Number of times it was edited.
    pub edits: u64,
    /// Time of the last such call.
    pub last_used: Option<Timestamp>,
}

/// Time spent in conversations.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimeSpent {
    /// Number of conversations that took any time.
    pub conversations: u64,
    /// Sum over them, in seconds: each session from its start to its end, or to its last message if it was not ended.
    /// Delegates and their continuations run in parallel and do not count.
    pub seconds: f64,
}

/// A conversation that stands out.
#[derive(Debug, Clone, PartialEq)]
pub struct Notable {
    /// Reason why it stands out.
    pub distinction: Distinction,
    /// Last session of its chain within the span; its first session if only delegates are within it.
    pub id: SessionId,
    /// That session's title.
    pub title: Option<String>,
    /// Start of the conversation, or of its first continuation within the span.
    pub started_at: Timestamp,
    /// Duration, number or amount, depending on the distinction.
    pub value: f64,
}

/// Reason why a conversation can stand out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distinction {
    /// The longest duration, in seconds.
    Longest,
    /// The most messages.
    Messages,
    /// The most tokens sent and received, without those from a cache.
    Tokens,
    /// The most tool calls.
    ToolCalls,
    /// The highest cost, in dollars.
    Cost,
}

/// Facts about one session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionFacts {
    /// The session.
    pub id: SessionId,
    /// First session of its conversation.
    pub conversation: SessionId,
    /// Its parent.
    pub parent: Option<SessionId>,
    /// Its relation to the parent.
    pub relation: Relation,
    /// Whether it runs in parallel to the conversation: a delegate, or a continuation of one ([`Chains`]).
    pub is_aside: bool,
    /// Source of the conversation's first session.
    pub source: Source,
    /// Its model.
    pub model: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Start time.
    pub started_at: Timestamp,
    /// End time.
    pub ended_at: Option<Timestamp>,
    /// Time of its last activity.
    pub last_active: Timestamp,
    /// Messages said in it. Messages that a branch copied from before its start count elsewhere
    /// ([`SessionFacts::counts_from`]), as do copies made by a compression ([`repeats`]).
    pub messages: MessageCounts,
    /// Tool calls in those messages ([`Gathering::calls`]).
    pub tool_calls: u64,
    /// Its usage counters.
    pub usage: Usage,
}

impl SessionFacts {
    /// Returns the time from which its messages count. A branch starts as a copy; messages from before its start count
    /// where they were said.
    pub fn counts_from(&self) -> Option<Timestamp> {
        (self.relation == Relation::Branch).then_some(self.started_at)
    }
}
