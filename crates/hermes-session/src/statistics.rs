//! Statistics: the content of a store and its use of disk space.

use crate::{Source, Timestamp, Usage};
use std::collections::BTreeMap;

/// Content of a store. Every session counts, whatever created it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    /// By the source of sessions.
    pub sources: BTreeMap<Source, SourceStatistics>,
    /// By the model of sessions; `None` for sessions that name none.
    pub models: BTreeMap<Option<String>, ModelStatistics>,
    /// Sessions that have ended.
    pub ended: u64,
    /// Earliest start of a session.
    pub oldest: Option<Timestamp>,
    /// Latest activity.
    pub newest: Option<Timestamp>,
}

/// Counts for one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SourceStatistics {
    /// Conversations that a list shows and whose first session is from this source.
    pub conversations: u64,
    /// Sessions.
    pub sessions: u64,
    /// Messages in those sessions.
    pub messages: u64,
}

/// Usage of one model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ModelStatistics {
    /// Sessions on it.
    pub sessions: u64,
    /// Sum of their counters. Its text fields have no meaning here.
    pub usage: Usage,
    /// Sum of their costs ([`Usage::cost`]); `None` if no cost is known.
    pub cost_usd: Option<f64>,
}

/// Values that one session adds to the statistics.
#[derive(Debug, Clone)]
pub struct SessionPart {
    /// Its source.
    pub source: Source,
    /// Its model.
    pub model: Option<String>,
    /// Start time, if it can be read.
    pub started_at: Option<Timestamp>,
    /// Whether it has ended.
    pub has_ended: bool,
    /// Latest activity.
    pub last_active: Option<Timestamp>,
    /// Whether it is the first session of a conversation that a list shows.
    pub is_listed: bool,
    /// Number of messages.
    pub messages: u64,
    /// Usage counters.
    pub usage: Usage,
}

impl Statistics {
    /// Adds a session.
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

    /// Returns the sum over all sources.
    pub fn total(&self) -> SourceStatistics {
        self.sources.values().fold(SourceStatistics::default(), |sum, part| SourceStatistics {
            conversations: sum.conversations + part.conversations,
            sessions: sum.sessions + part.sessions,
            messages: sum.messages + part.messages,
        })
    }
}

/// Disk space of a store, in bytes. A value that a provider can't determine is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Room {
    /// Total size without the WAL.
    pub bytes: u64,
    /// Size of the WAL.
    pub log: u64,
    /// Part of the total that is free for reuse.
    pub free: u64,
    /// Part of the total that can be rebuilt from sessions and messages: search indexes, our other tables, indexes of
    /// the tables.
    pub indexes: u64,
}

impl Room {
    /// Returns the size of sessions and messages themselves.
    pub const fn text(&self) -> u64 {
        self.bytes.saturating_sub(self.free).saturating_sub(self.indexes)
    }
}
