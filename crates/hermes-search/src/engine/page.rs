//! A page of an answer.

use crate::postings::{Place, Said};
use hermes_session::MessageId;
use hermes_session::search::matching::Tier;
use hermes_session::search::{Hit, SearchCursor, SearchRequest, snippet};
use std::ops::{ControlFlow, Range};

/// Hits collected until there are enough.
pub(super) struct Page<'r> {
    request: &'r SearchRequest,
    hits: Vec<Hit>,
    /// Number of hits still to be skipped.
    skip: u64,
    /// Number of messages that matched.
    seen: u64,
    cursor: SearchCursor,
    has_more: bool,
}

impl<'r> Page<'r> {
    pub(super) fn new(request: &'r SearchRequest, cursor: SearchCursor) -> Self {
        Self { request, hits: Vec::new(), skip: request.page.offset(), seen: 0, cursor, has_more: false }
    }

    /// Stores the numbers that the order depends on, for the next page.
    pub(super) fn weigh(&mut self, average: f64, weights: impl Iterator<Item = f64>) {
        self.cursor.weights = [average].into_iter().chain(weights).collect();
    }

    /// Returns whether nothing matched.
    pub(super) fn is_bare(&self) -> bool {
        self.seen == 0
    }

    /// Returns how many more messages have to match until it is known whether there is another page.
    pub(super) fn missing(&self) -> usize {
        let missing = self.skip + u64::from(self.request.page.limit()) + 1 - self.hits.len() as u64;
        usize::try_from(missing).unwrap_or(usize::MAX)
    }

    /// Adds a hit; breaks if no more are wanted. `part` is the part of the answer it belongs to, `tier` how it matches
    /// and `score` how well.
    pub(super) fn push(
        &mut self,
        said: Said,
        part: Tier,
        tier: Tier,
        score: f64,
        marks: impl FnOnce(&str) -> Vec<Range<usize>>,
    ) -> ControlFlow<()> {
        self.seen += 1;
        if self.skip > 0 {
            self.skip -= 1;
            return ControlFlow::Continue(());
        }
        if self.hits.len() >= self.request.page.limit() as usize {
            self.has_more = true;
            return ControlFlow::Break(());
        }
        let message = MessageId(said.id);
        (self.cursor.tier, self.cursor.score, self.cursor.message) = (part, score, message);
        self.hits.push(Hit {
            message,
            conversation: said.session.id.clone(),
            session: said.session.id.clone(),
            role: said.role,
            said_at: said.said_at,
            tool_name: said.tool_name,
            source: said.session.source.clone(),
            model: said.session.model.clone(),
            title: said.session.title.clone(),
            started_at: said.session.started_at,
            tier,
            score,
            snippet: snippet::snippet(&said.text, &marks(&said.text), &self.request.snippet),
            before: None,
            after: None,
            is_archived: false,
        });
        ControlFlow::Continue(())
    }

    /// Returns the hits and the cursor of the next page.
    pub(super) fn end(self) -> (Vec<Hit>, Option<SearchCursor>) {
        // An empty page has no hit to continue from.
        let has_next = self.has_more && !self.hits.is_empty();
        (self.hits, has_next.then_some(self.cursor))
    }
}

/// Returns the place of the last hit of the previous page.
pub(super) fn place(cursor: &SearchCursor) -> Place {
    Place { score: cursor.score, id: cursor.message.0 }
}
