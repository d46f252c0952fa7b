//! The size and the content of a store, in numbers.

use crate::usage::Tokens;
use hermes_session::{Room, SourceStatistics, StoreStatus, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

/// The size and the content of a store, in numbers. `messages` counts every stored message: active, compacted and
/// undone.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Statistics<'a> {
    /// The provider of the store.
    pub provider: &'a str,
    /// Location of the store, without passwords.
    pub location: &'a str,
    /// The counts over all sources.
    #[serde(flatten)]
    pub total: Counts,
    /// Sessions that have not ended.
    pub open: u64,
    /// Sessions that have ended.
    pub ended: u64,
    /// The first start; `null` in an empty store.
    pub oldest: Option<f64>,
    /// The newest activity; `null` in an empty store.
    pub newest: Option<f64>,
    /// Counts of each source, by name.
    pub sources: Vec<SourceCounts<'a>>,
    /// Usage of each model, by name.
    pub models: Vec<ModelUsage<'a>>,
    /// Sizes in bytes.
    pub bytes: Sizes,
}

/// Counts of conversations, sessions and messages.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Counts {
    /// Conversations.
    pub conversations: u64,
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
}

impl From<SourceStatistics> for Counts {
    fn from(counts: SourceStatistics) -> Self {
        Self { conversations: counts.conversations, sessions: counts.sessions, messages: counts.messages }
    }
}

impl From<&hermes_session::Counts> for Counts {
    fn from(counts: &hermes_session::Counts) -> Self {
        Self { conversations: counts.conversations, sessions: counts.sessions, messages: counts.messages }
    }
}

/// Counts of a source.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SourceCounts<'a> {
    /// The source.
    pub source: &'a str,
    /// Its counts.
    #[serde(flatten)]
    pub counts: Counts,
}

/// Usage of a model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelUsage<'a> {
    /// The model; `null` for sessions that name none.
    pub model: Option<&'a str>,
    /// Its sessions.
    pub sessions: u64,
    /// Its tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Cost in US dollars as billed, or the estimate where nothing was billed; `null` if unknown.
    pub cost_usd: Option<f64>,
}

/// Sizes in bytes. Of a store over 1 GiB, `messages`, `indexes` and `log` are `null` unless `--sizes` is given:
/// measuring them reads the whole file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sizes {
    /// The whole store.
    pub store: u64,
    /// Free space inside it.
    pub free: u64,
    /// Messages and sessions.
    pub messages: Option<u64>,
    /// Search indexes.
    pub indexes: Option<u64>,
    /// The WAL beside the file.
    pub log: Option<u64>,
}

impl<'a> Statistics<'a> {
    /// Returns the statistics of a store; `room` is `None` if sizes were not measured.
    pub fn new(status: &'a StoreStatus, statistics: &'a hermes_session::Statistics, room: Option<&Room>) -> Self {
        let total = statistics.total();
        let sources = statistics.sources.iter();
        let models = statistics.models.iter().map(|(model, usage)| ModelUsage {
            model: model.as_deref(),
            sessions: usage.sessions,
            tokens: (&usage.usage).into(),
            cost_usd: usage.cost_usd,
        });
        Self {
            provider: status.provider,
            location: &status.location,
            total: total.into(),
            open: total.sessions.saturating_sub(statistics.ended),
            ended: statistics.ended,
            oldest: statistics.oldest.map(Timestamp::seconds),
            newest: statistics.newest.map(Timestamp::seconds),
            sources: sources
                .map(|(source, counts)| SourceCounts { source: source.as_str(), counts: (*counts).into() })
                .collect(),
            models: models.collect(),
            bytes: Sizes {
                store: status.bytes,
                free: status.free_bytes,
                messages: room.map(Room::text),
                indexes: room.map(|room| room.indexes),
                log: room.map(|room| room.log),
            },
        }
    }
}
