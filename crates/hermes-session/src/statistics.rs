//! How much a store holds, of what, and where its room goes.

use crate::{Source, Timestamp, Usage};
use std::collections::BTreeMap;

/// How much a store holds. Every session counts, whoever made it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    /// By the source of sessions.
    pub sources: BTreeMap<Source, SourceStatistics>,
    /// By the model of sessions; nothing stands for those that name none.
    pub models: BTreeMap<Option<String>, ModelStatistics>,
    /// Sessions that have ended.
    pub ended: u64,
    /// The first start of a session.
    pub oldest: Option<Timestamp>,
    /// The newest activity.
    pub newest: Option<Timestamp>,
}

/// What there is from one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceStatistics {
    /// Conversations that a list shows and whose first session is from it.
    pub conversations: u64,
    /// Sessions.
    pub sessions: u64,
    /// Messages in those sessions.
    pub messages: u64,
}

/// What was used of one model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelStatistics {
    /// Sessions on it.
    pub sessions: u64,
    /// The sum of their counters; texts mean nothing here.
    pub usage: Usage,
    /// The sum of what each cost ([`Usage::cost`]); nothing if no cost is known.
    pub cost_usd: Option<f64>,
}

/// What one session adds to the statistics.
#[derive(Debug, Clone)]
pub struct SessionPart {
    /// Where it comes from.
    pub source: Source,
    /// Its model.
    pub model: Option<String>,
    /// When it started, if that can be read.
    pub started_at: Option<Timestamp>,
    /// Whether it has ended.
    pub has_ended: bool,
    /// Its newest activity.
    pub last_active: Option<Timestamp>,
    /// Whether a conversation that a list shows starts with it.
    pub is_listed: bool,
    /// How many messages it has.
    pub messages: u64,
    /// What it used.
    pub usage: Usage,
}

impl Statistics {
    /// Counts one session more.
    pub fn add(&mut self, part: SessionPart) {
        let source = self.sources.entry(part.source).or_default();
        source.conversations += u64::from(part.is_listed);
        source.sessions += 1;
        source.messages += part.messages;
        let model = self.models.entry(part.model).or_default();
        model.sessions += 1;
        if let Some(cost) = part.usage.cost() {
            model.cost_usd = Some(model.cost_usd.unwrap_or(0.0) + cost);
        }
        model.usage = std::mem::take(&mut model.usage).plus(&part.usage);
        self.ended += u64::from(part.has_ended);
        self.oldest = [self.oldest, part.started_at].into_iter().flatten().min();
        self.newest = self.newest.max(part.last_active);
    }

    /// All sources together.
    pub fn total(&self) -> SourceStatistics {
        self.sources.values().fold(SourceStatistics::default(), |sum, part| SourceStatistics {
            conversations: sum.conversations + part.conversations,
            sessions: sum.sessions + part.sessions,
            messages: sum.messages + part.messages,
        })
    }
}

/// Where the room of a store goes, in bytes. What a provider can't tell is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Room {
    /// All that it takes, its log aside.
    pub bytes: u64,
    /// The log of changes beside it.
    pub log: u64,
    /// What is free to be used again, of all that it takes.
    pub free: u64,
    /// What can be made anew from sessions and messages: search indexes and other tables of ours, indexes of the tables.
    pub indexes: u64,
}

impl Room {
    /// What sessions and messages themselves take.
    pub const fn text(&self) -> u64 {
        self.bytes.saturating_sub(self.free).saturating_sub(self.indexes)
    }
}
