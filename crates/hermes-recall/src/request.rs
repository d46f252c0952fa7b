//! The request of an agent.

use hermes_session::search::{self, SearchFilter};
use hermes_session::{SessionId, Source};
use std::time::Duration;

/// Default number of conversations in an answer.
pub const DEFAULT_LIMIT: usize = 3;
/// Maximum number of conversations in an answer.
pub const MAX_LIMIT: usize = 10;
/// Default number of characters per conversation.
pub const DEFAULT_BUDGET: usize = 100_000;
/// Minimum number of characters per conversation.
pub const MIN_BUDGET: usize = 1_000;
/// Maximum number of characters per conversation.
pub const MAX_BUDGET: usize = 1_000_000;
/// Sources that are left out unless sources are named: sessions that tools create for themselves.
pub const HIDDEN: [&str; 1] = ["tool"];

/// A recall request.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallRequest {
    /// The query in the search language; if blank, the most recently active conversations are returned.
    pub query: String,
    /// The conversation in which the agent asks. It is left out, and so are the ones it originates from: their content
    /// is known already.
    pub current: Option<SessionId>,
    /// Number of conversations, 1 to [`MAX_LIMIT`].
    pub limit: usize,
    /// Number of characters of each, [`MIN_BUDGET`] to [`MAX_BUDGET`].
    pub budget: usize,
    /// Further limits on the messages that are searched. Its scope is ignored: that is a separate argument.
    pub filter: SearchFilter,
    /// Time limit for the search; the answer says if it was reached.
    pub timeout: Duration,
}

impl RecallRequest {
    /// Returns a request for a query, with defaults for everything else.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            current: None,
            limit: DEFAULT_LIMIT,
            budget: DEFAULT_BUDGET,
            filter: SearchFilter::default(),
            timeout: search::TIMEOUT,
        }
    }

    /// Returns the limit, clamped to its bounds.
    pub(crate) fn conversations(&self) -> usize {
        self.limit.clamp(1, MAX_LIMIT)
    }

    /// Returns the budget, clamped to its bounds.
    pub(crate) fn characters(&self) -> usize {
        self.budget.clamp(MIN_BUDGET, MAX_BUDGET)
    }
}

/// Returns the excluded sources: those of the filter, and the hidden ones unless it names sources.
pub(crate) fn left_out(named: Option<&[Source]>, excluded: &[Source]) -> Vec<Source> {
    let hidden = HIDDEN.iter().filter(|_| named.is_none()).map(|tag| Source::from_stored(*tag));
    excluded.iter().cloned().chain(hidden).collect()
}
