//! What an agent asks for.

use hermes_session::search::{self, SearchFilter};
use hermes_session::{SessionId, Source};
use std::time::Duration;

/// How many conversations an answer has unless somebody says otherwise.
pub const DEFAULT_LIMIT: usize = 3;
/// How many it has at most.
pub const MAX_LIMIT: usize = 10;
/// How many characters of a conversation come back unless somebody says otherwise.
pub const DEFAULT_BUDGET: usize = 100_000;
/// The least that can be asked for.
pub const MIN_BUDGET: usize = 1_000;
/// The most.
pub const MAX_BUDGET: usize = 1_000_000;
/// Sources that are left out unless somebody names sources: what tools made for themselves.
pub const HIDDEN: [&str; 1] = ["tool"];

/// A question about the past.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallRequest {
    /// What is looked for, in the language of search; blank asks for the conversations that were active last.
    pub query: String,
    /// The conversation in which the question comes up. It is left out, and so are the ones that it comes from: what was said there is known.
    pub current: Option<SessionId>,
    /// How many conversations, 1 to [`MAX_LIMIT`].
    pub limit: usize,
    /// How many characters of each, [`MIN_BUDGET`] to [`MAX_BUDGET`].
    pub budget: usize,
    /// Which messages are searched besides. Its scope does not count: that is an argument of its own.
    pub filter: SearchFilter,
    /// When to stop searching; the answer says so then.
    pub timeout: Duration,
}

impl RecallRequest {
    /// Asks for a text, with nothing else said.
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

    /// The limit within its bounds.
    pub(crate) fn conversations(&self) -> usize {
        self.limit.clamp(1, MAX_LIMIT)
    }

    /// The budget within its bounds.
    pub(crate) fn characters(&self) -> usize {
        self.budget.clamp(MIN_BUDGET, MAX_BUDGET)
    }
}

/// The sources that are left out: those that a filter leaves out, and the hidden ones unless it names sources.
pub(crate) fn left_out(named: Option<&[Source]>, excluded: &[Source]) -> Vec<Source> {
    let hidden = HIDDEN.iter().filter(|_| named.is_none()).map(|tag| Source::from_stored(*tag));
    excluded.iter().cloned().chain(hidden).collect()
}
