//! How an agent was used over a span of time: what was said, on which models, with which tools and skills, when, and what it cost.
//!
//! A provider hands over sessions, results and calls one by one ([`Gathering`]); here they are counted, the same for every provider. The hours of
//! a day are those of whoever asks, so that [`Activity`] is told afterwards.

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

/// What is to be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsightsRequest {
    /// Only sessions that started at this time or later. Messages count with their session.
    pub since: Timestamp,
    /// Only conversations whose first session is from this source.
    pub source: Option<Source>,
    /// No conversations whose first session is from one of these.
    pub exclude_sources: Vec<Source>,
}

impl InsightsRequest {
    /// Everything that started at this time or later.
    pub const fn since(since: Timestamp) -> Self {
        Self { since, source: None, exclude_sources: Vec::new() }
    }
}

/// How an agent was used. A conversation counts once, however many sessions of it there are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Insights {
    /// Everything together.
    pub total: Tally,
    /// By model; nothing stands for sessions that name none. A conversation counts for each model that it used.
    pub models: BTreeMap<Option<String>, Tally>,
    /// By the source of the conversation's first session; delegates count with it.
    pub sources: BTreeMap<Source, Tally>,
    /// By the name of a tool.
    pub tools: BTreeMap<String, ToolUse>,
    /// By the name of a skill.
    pub skills: BTreeMap<String, SkillUse>,
    /// When each conversation started, or went on first within the span; the earliest first.
    pub starts: Vec<Timestamp>,
    /// How long the conversations took.
    pub time: TimeSpent,
    /// Conversations that stand out, at most one for each way to do so.
    pub notable: Vec<Notable>,
}

/// What there was of something.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tally {
    /// Conversations.
    pub conversations: u64,
    /// Their sessions: what they were compressed into, and delegates, count one by one.
    pub sessions: u64,
    /// What was said in them.
    pub messages: MessageCounts,
    /// Calls of tools in those messages.
    pub tool_calls: u64,
    /// The sum of the counters; texts mean nothing here.
    pub usage: Usage,
    /// The sum of what each session cost ([`Usage::cost`]); nothing if no cost is known.
    pub cost_usd: Option<f64>,
    /// Sessions that used tokens at a price that nobody knows.
    pub unknown_cost_sessions: u64,
    /// Sessions that a subscription paid for.
    pub included_cost_sessions: u64,
}

impl Tally {
    /// Tokens sent and received, from and to the cache too.
    pub fn tokens(&self) -> i64 {
        let used = &self.usage;
        [used.output_tokens, used.cache_read_tokens, used.cache_write_tokens]
            .into_iter()
            .fold(used.input_tokens, i64::saturating_add)
    }
}

/// Messages by who said them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageCounts {
    /// The person's.
    pub user: u64,
    /// The model's.
    pub assistant: u64,
    /// Results of tools.
    pub tool: u64,
    /// Anybody else's.
    pub other: u64,
}

impl MessageCounts {
    /// All of them.
    pub const fn all(self) -> u64 {
        self.user + self.assistant + self.tool + self.other
    }

    /// Counts messages of a role.
    pub fn count(&mut self, role: &str, messages: u64) {
        *self.of(role) += messages;
    }

    /// Takes messages of a role out again.
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

/// How often a tool was used. Some agents name the tool in a call, some in its result, some in both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolUse {
    /// Calls that name it.
    pub calls: u64,
    /// Results that name it.
    pub results: u64,
}

impl ToolUse {
    /// How often it was used: a call and its result are one use.
    pub fn count(self) -> u64 {
        self.calls.max(self.results)
    }
}

/// How often a skill was used, and when last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SkillUse {
    /// How often it was read.
    pub loads: u64,
    /// How often it was changed.
    pub edits: u64,
    /// When one of these was called last.
    pub last_used: Option<Timestamp>,
}

/// How long conversations took.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct TimeSpent {
    /// Those that took any time.
    pub conversations: u64,
    /// The sum over them: each from the start of a session to its end, or to its last message if nobody ended it. Delegates,
    /// and what they were compressed into, work meanwhile.
    pub seconds: f64,
}

/// A conversation that stands out.
#[derive(Debug, Clone, PartialEq)]
pub struct Notable {
    /// What for.
    pub distinction: Distinction,
    /// The session that it stands at.
    pub id: SessionId,
    /// That session's title.
    pub title: Option<String>,
    /// When it started, or went on first within the span.
    pub started_at: Timestamp,
    /// How long, how many or how much, as the distinction says.
    pub value: f64,
}

/// What a conversation can stand out for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Distinction {
    /// The longest time, in seconds.
    Longest,
    /// The most messages.
    Messages,
    /// The most tokens sent and received; what came from a cache does not count.
    Tokens,
    /// The most calls of tools.
    ToolCalls,
    /// The highest cost, in dollars.
    Cost,
}

/// What is known of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionFacts {
    /// The session.
    pub id: SessionId,
    /// The session that its conversation starts with.
    pub conversation: SessionId,
    /// The session it comes from.
    pub parent: Option<SessionId>,
    /// What it is to that session.
    pub relation: Relation,
    /// Whether it works while the conversation goes on: a delegate, or what one was compressed into ([`Chains`]).
    pub is_aside: bool,
    /// The source of the session that the conversation starts with.
    pub source: Source,
    /// Its model.
    pub model: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Its newest activity.
    pub last_active: Timestamp,
    /// What was said in it. What a branch brought along from before its start was said elsewhere ([`SessionFacts::counts_from`]), and so was what
    /// was copied in a compression ([`repeats`]).
    pub messages: MessageCounts,
    /// Calls of tools in those messages ([`Gathering::calls`]).
    pub tool_calls: u64,
    /// What it used.
    pub usage: Usage,
}

impl SessionFacts {
    /// From when on its messages count. A branch starts as a copy: what was said before it began counts where it was said.
    pub fn counts_from(&self) -> Option<Timestamp> {
        (self.relation == Relation::Branch).then_some(self.started_at)
    }
}
