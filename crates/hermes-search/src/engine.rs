//! Composition of an answer, the same on every store.
//!
//! Whole words come first, best match first; then pieces of words, newest first. The score is known without the text,
//! so only the messages of the page are read. Messages that are not listed are scanned.

mod best;
mod newest;
mod page;
mod pool;
mod relaxed;
#[cfg(test)]
mod tests;

use crate::postings::{Brevity, Postings, Ranking, Said, Totals};
use hermes_session::MessageId;
use hermes_session::script::is_paired;
use hermes_session::search::fold::fold;
use hermes_session::search::matching::{Matcher, Tier};
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::{SearchAnswer, SearchCursor, SearchOrder, SearchRequest, Served, Way, rank, tokens};
use newest::Returned;
use page::Page;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Maximum number of alternatives that are weighed.
const MAX_WEIGHED: usize = 32;
/// Maximum number of words of the messages read at once; a longer message is read alone.
const MAX_READ_WORDS: u64 = 400_000;
/// Minimum time for reading the hits that were found before time was over.
pub const SHOWING: Duration = Duration::from_millis(100);

/// Answers a request that was made at `start`.
///
/// # Errors
/// If the store fails.
pub async fn search<P: Postings>(
    postings: &P,
    request: &SearchRequest,
    start: Instant,
) -> Result<SearchAnswer, P::Error> {
    let mut search = Search::new(postings, request, start).await?;
    let is_relaxed = request.after.as_ref().is_some_and(|cursor| cursor.is_relaxed);
    let mut page = Page::new(request, search.cursor(is_relaxed));
    if !is_relaxed {
        let outcome = search.exact(&mut page).await;
        search.settle(outcome).await?;
    }
    // Not after a timeout: messages that were not checked may match.
    if is_relaxed || (request.relax && page.is_bare() && request.after.is_none() && !search.served.is_partial) {
        page = Page::new(request, search.cursor(true));
        let outcome = search.relaxed(&mut page).await;
        search.settle(outcome).await?;
    }
    let (mut hits, next) = page.end();
    if !hits.is_empty() {
        postings.surround(&mut hits, request.with_neighbours).await?;
    }
    Ok(SearchAnswer { hits, next, served: search.served })
}

/// A search in progress.
struct Search<'s, P> {
    postings: &'s P,
    request: &'s SearchRequest,
    matcher: Matcher,
    /// Newest message at the time of the first page; later messages are ignored.
    newest: i64,
    totals: Totals,
    /// Messages that were read and need not be read again: hits, skipped ones, and those that do not match at all.
    done: HashSet<i64>,
    /// Deadline.
    end: Instant,
    served: Served,
}

impl<'s, P: Postings> Search<'s, P> {
    async fn new(postings: &'s P, request: &'s SearchRequest, start: Instant) -> Result<Self, P::Error> {
        let newest = match &request.after {
            Some(cursor) => cursor.newest.0,
            None => postings.newest().await?,
        };
        let totals = match &request.after {
            // The weights are known, so the number of messages does not matter.
            Some(cursor) => Totals { messages: 0, average: cursor.weights.first().copied().unwrap_or(1.0) },
            None if is_by_time(request) => Totals { messages: 0, average: 1.0 },
            None => postings.totals().await?,
        };
        let served =
            Served { way: Way::Index, is_relaxed: false, is_partial: false, unindexed: 0, needs_adoption: false };
        let (matcher, end) = (Matcher::new(&request.query), start + request.timeout);
        Ok(Self { postings, request, matcher, newest, totals, done: HashSet::new(), end, served })
    }

    /// Returns the cursor for the next page, still without the last hit of this page.
    fn cursor(&self, is_relaxed: bool) -> SearchCursor {
        SearchCursor {
            newest: MessageId(self.newest),
            is_relaxed,
            tier: Tier::Words,
            score: 0.0,
            message: MessageId(i64::MAX),
            weights: vec![self.totals.average],
        }
    }

    /// Accepts that a statement was given up for time, and marks the answer as partial. Returns any other error.
    async fn settle(&mut self, outcome: Result<(), P::Error>) -> Result<(), P::Error> {
        if let Err(error) = outcome {
            self.postings.forgive(error).await?;
            self.served.is_partial = true;
        }
        Ok(())
    }

    /// Returns whether the deadline has passed, and if so marks the answer as partial.
    fn is_late(&mut self) -> bool {
        let is_late = Instant::now() > self.end;
        self.served.is_partial |= is_late;
        is_late
    }

    /// Returns whether the deadline has passed while candidates were looked for, and if so extends it, so that there is
    /// time to read those that were found.
    fn is_late_with_candidates(&mut self) -> bool {
        let is_late = self.is_late();
        if is_late {
            self.end = Instant::now() + self.request.timeout.max(SHOWING);
        }
        is_late
    }

    /// Fills a page with the messages that match the query as written.
    async fn exact(&mut self, page: &mut Page<'_>) -> Result<(), P::Error> {
        if is_by_time(self.request) {
            let wanted = self.wanted(Tier::Pieces).await?;
            return self.newest_first(page, wanted.as_ref(), Returned::Nothing).await;
        }
        let may_be_in_pieces = may_be_in_pieces(&self.request.query);
        let words = self.wanted(Tier::Words).await?;
        if words.is_none() && !may_be_in_pieces {
            // No index can rank anything, so all matches are equal.
            return self.newest_first(page, None, Returned::Nothing).await;
        }
        if self.request.after.as_ref().is_none_or(|cursor| cursor.tier == Tier::Words)
            && self.best_first(page, words.clone()).await?.is_break()
        {
            return Ok(());
        }
        if !may_be_in_pieces {
            return Ok(());
        }
        let pieces = self.wanted(Tier::Pieces).await?;
        self.newest_first(page, pieces.as_ref(), Returned::WholeWords(words.as_ref())).await
    }

    /// Returns the condition of the query, or `None` if any message may match.
    async fn wanted(&mut self, tier: Tier) -> Result<Option<P::Wanted>, P::Error> {
        let wanted = self.postings.of_query(&self.request.query, tier, self.end).await?;
        if wanted.is_none() && !self.request.query.is_negative() {
            self.served.way = Way::Scan;
        }
        Ok(wanted)
    }

    /// Returns the ranking for whole words.
    async fn ranking(&self, whole: Option<P::Wanted>) -> Result<Ranking<P::Wanted>, P::Error> {
        let query = &self.request.query;
        let choices: Vec<P::Wanted> = self.choices().await?.into_iter().map(|(_, wanted)| wanted).collect();
        let are_terms = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Term(_)));
        let is_covered = matches!(query.root(), Node::Any(nodes) if are_terms(nodes) && choices.len() == nodes.len());
        self.weighed(whole, choices, is_covered).await
    }

    /// Returns the terms that are weighed, with their conditions.
    async fn choices(&self) -> Result<Vec<(&'s Term, P::Wanted)>, P::Error> {
        let mut choices = Vec::new();
        for term in optional_terms(&self.request.query) {
            if choices.len() < MAX_WEIGHED
                && let Some(wanted) = self.postings.of_term(term).await?
            {
                choices.push((term, wanted));
            }
        }
        Ok(choices)
    }

    /// Weighs the alternatives. Later pages use the weights of the first page.
    async fn weighed(
        &self,
        whole: Option<P::Wanted>,
        choices: Vec<P::Wanted>,
        is_covered: bool,
    ) -> Result<Ranking<P::Wanted>, P::Error> {
        let weights: Vec<f64> = match &self.request.after {
            Some(cursor) => cursor.weights.iter().skip(1).copied().collect(),
            None if choices.is_empty() => Vec::new(),
            None => {
                let counts = self.postings.counts(&choices, is_covered).await?;
                let all = counts.iter().copied().fold(self.totals.messages, u64::max);
                counts.into_iter().map(|having| rank::weight(having, all)).collect()
            }
        };
        let choices = choices.into_iter().zip(weights.into_iter().chain(std::iter::repeat(0.0))).collect();
        let brevity = Brevity::new(self.totals.average);
        Ok(Ranking { whole, choices, is_covered, sizes: None, brevity, newest: self.newest })
    }

    /// Reads messages, in the order of their ids; `None` for those that are not admitted.
    async fn read(&self, ids: &[i64]) -> Result<Vec<Option<Said>>, P::Error> {
        let mut said = self.postings.said(ids).await?;
        let mut take = |id: &i64| said.iter().position(|said| said.id == *id).map(|place| said.swap_remove(place));
        Ok(ids.iter().map(&mut take).collect())
    }
}

/// Returns the terms that are optional alternatives, in order, without duplicates. Messages are ranked by which of
/// these they contain.
pub fn optional_terms(query: &Query) -> Vec<&Term> {
    fn collect<'q>(node: &'q Node, is_choice: bool, terms: &mut Vec<&'q Term>) {
        match node {
            Node::Term(term) if is_choice => terms.push(term),
            Node::Term(_) | Node::Not(_) => {}
            Node::Any(nodes) => nodes.iter().for_each(|node| collect(node, true, terms)),
            Node::All(nodes) => nodes.iter().for_each(|node| collect(node, is_choice, terms)),
        }
    }
    let mut terms = Vec::new();
    collect(query.root(), false, &mut terms);
    let mut seen = HashSet::new();
    terms.retain(|term| seen.insert(*term));
    terms
}

/// Returns whether hits are ordered newest first: on request, or because matches cannot be scored.
pub fn is_by_time(request: &SearchRequest) -> bool {
    request.order == SearchOrder::Newest || request.query.is_negative()
}

/// Returns whether a match within a word is possible: not if every term begins and ends at a word boundary wherever it
/// occurs.
pub fn may_be_in_pieces(query: &Query) -> bool {
    let is_open = |end: Option<char>| end.is_some_and(|end| tokens::is_word(end) && !is_paired(end));
    query.terms().iter().any(|term| {
        let folded = fold(&term.text);
        is_open(folded.chars().next()) || is_open(folded.chars().next_back()) || folded.is_empty()
    })
}

/// Returns how many of the next messages to read at once, given their lengths in words and the number wanted.
fn batch<P: Postings>(lengths: impl Iterator<Item = u32>, wanted: usize) -> usize {
    let mut words = 0;
    let fitting = lengths.take(wanted.clamp(1, P::READ_AT_ONCE)).take_while(|length| {
        words += u64::from(*length);
        words <= MAX_READ_WORDS
    });
    fitting.count().max(1)
}
