//! How an answer is put together, on every server alike.
//!
//! Whole words come first, the best of them first; then pieces of words, the newest first. How good a match is, is known without its text, so
//! that only what a page shows is read. Messages that are not listed are looked through.

mod best;
mod newest;
mod page;
mod pool;
mod relaxed;
#[cfg(test)]
mod tests;

use super::ask::{self, Ask};
use super::postings::{Brevity, Lookup, Postings, Ranking, Said, Totals};
use super::wanted::Wanted;
use hermes_session::MessageId;
use hermes_session::script::is_paired;
use hermes_session::search::fold::fold;
use hermes_session::search::matching::{Matcher, Tier};
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::{SearchAnswer, SearchCursor, SearchOrder, SearchRequest, Served, Way, rank, tokens};
use page::Page;
use std::collections::HashMap;
use std::time::Instant;

/// The most words that a piece is looked up in. One that is in more is in so many messages that the newest of them are soon met.
const MAX_TERMS: usize = 400;
/// How many pieces of one question are looked up.
const MAX_LOOKUPS: usize = 24;
/// How many choices are weighed.
const MAX_WEIGHED: usize = 32;
/// How many messages are read at once.
const MAX_READ: usize = 256;
/// How many words they have together, at most; a longer message is read alone.
const MAX_READ_WORDS: u64 = 400_000;

/// Answers a question that was asked at `start`.
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
    // Not if time ran out: what was not looked at may match.
    if is_relaxed || (request.relax && page.is_bare() && request.after.is_none() && !search.served.is_partial) {
        page = Page::new(request, search.cursor(true));
        let outcome = search.relaxed(&mut page).await;
        search.settle(outcome).await?;
    }
    let (mut hits, next) = page.end();
    if !hits.is_empty() {
        postings.surround(&mut hits).await?;
    }
    Ok(SearchAnswer { hits, next, served: search.served })
}

/// One search under way.
struct Search<'s, P> {
    postings: &'s P,
    request: &'s SearchRequest,
    matcher: Matcher,
    /// Messages after this one came since the first page.
    newest: i64,
    totals: Totals,
    /// When to stop.
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
            // The weights are known, so that it does not matter how many messages there are.
            Some(cursor) => Totals { messages: 0, average: cursor.weights.first().copied().unwrap_or(1.0) },
            None if is_by_time(request) => Totals { messages: 0, average: 1.0 },
            None => postings.totals().await?,
        };
        let served =
            Served { way: Way::Index, is_relaxed: false, is_partial: false, unindexed: 0, needs_adoption: false };
        let (matcher, end) = (Matcher::new(&request.query), start + request.timeout);
        Ok(Self { postings, request, matcher, newest, totals, end, served })
    }

    /// What the next page will have to know, but for the hit that this one ends with.
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

    /// Takes it that a question was given up, and says so.
    async fn settle(&mut self, outcome: Result<(), P::Error>) -> Result<(), P::Error> {
        if let Err(error) = outcome {
            self.postings.forgive(error).await?;
            self.served.is_partial = true;
        }
        Ok(())
    }

    /// Whether time has run out.
    fn is_late(&mut self) -> bool {
        let is_late = Instant::now() > self.end;
        self.served.is_partial |= is_late;
        is_late
    }

    /// The messages that match as the query says.
    async fn exact(&mut self, page: &mut Page<'_>) -> Result<(), P::Error> {
        let query = &self.request.query;
        if is_by_time(self.request) {
            let wanted = self.wanted(&Ask::of_query(query, Tier::Pieces)).await?;
            return self.newest_first(page, wanted.as_ref(), false).await;
        }
        let words = self.wanted(&Ask::of_query(query, Tier::Words)).await?;
        if words.is_none() && !may_be_in_pieces(self.request) {
            // No index knows how well anything matches, and nothing matches better than something else.
            return self.newest_first(page, None, false).await;
        }
        if self.request.after.as_ref().is_none_or(|cursor| cursor.tier == Tier::Words)
            && self.best_first(page, words).await?.is_break()
        {
            return Ok(());
        }
        if !may_be_in_pieces(self.request) {
            return Ok(());
        }
        let pieces = self.wanted(&Ask::of_query(query, Tier::Pieces)).await?;
        self.newest_first(page, pieces.as_ref(), true).await
    }

    /// The lexemes that are asked for; nothing if any message may be meant.
    async fn wanted(&mut self, ask: &Ask) -> Result<Option<Wanted>, P::Error> {
        let mut known: HashMap<&Ask, Option<Vec<String>>> = HashMap::new();
        for part in ask.lookups() {
            if known.contains_key(part) {
                continue;
            }
            if known.len() >= MAX_LOOKUPS || self.is_late() {
                break;
            }
            let lookup = match part {
                Ask::Ending(end) => Lookup::Ending(end),
                Ask::Piece(piece) => Lookup::Containing(piece),
                _ => continue,
            };
            let terms = self.postings.terms(lookup, MAX_TERMS + 1).await?;
            known.insert(part, Some(terms).filter(|terms| terms.len() <= MAX_TERMS));
        }
        let wanted = ask.wanted(&|part| known.get(part).cloned().flatten());
        if wanted.is_none() && !self.request.query.is_negative() {
            self.served.way = Way::Scan;
        }
        Ok(wanted)
    }

    /// How whole words are ranked.
    async fn ranking(&self, whole: Option<Wanted>) -> Result<Ranking, P::Error> {
        let query = &self.request.query;
        let choices: Vec<Wanted> = choices(query).into_iter().map(|(_, wanted)| wanted).collect();
        let are_terms = |nodes: &[Node]| nodes.iter().all(|node| matches!(node, Node::Term(_)));
        let is_covered = matches!(query.root(), Node::Any(nodes) if are_terms(nodes) && choices.len() == nodes.len());
        self.weighed(whole, choices, is_covered).await
    }

    /// Weighs choices, as the first page did.
    async fn weighed(
        &self,
        whole: Option<Wanted>,
        choices: Vec<Wanted>,
        is_covered: bool,
    ) -> Result<Ranking, P::Error> {
        let weights: Vec<f64> = match &self.request.after {
            Some(cursor) => cursor.weights.iter().skip(1).copied().collect(),
            None if choices.is_empty() => Vec::new(),
            None => {
                let counts = self.postings.counts(&choices).await?;
                let all = counts.iter().copied().fold(self.totals.messages, u64::max);
                counts.into_iter().map(|having| rank::weight(having, all)).collect()
            }
        };
        let choices = choices.into_iter().zip(weights.into_iter().chain(std::iter::repeat(0.0))).collect();
        let brevity = Brevity::new(self.totals.average);
        Ok(Ranking { whole, choices, is_covered, sizes: None, brevity, newest: self.newest })
    }

    /// The messages with these ids, by id.
    async fn read(&self, ids: &[i64]) -> Result<HashMap<i64, Said>, P::Error> {
        let said = self.postings.said(ids).await?;
        Ok(said.into_iter().map(|said| (said.id, said)).collect())
    }
}

/// The terms that are weighed, with what they ask for.
fn choices(query: &Query) -> Vec<(&Term, Wanted)> {
    let wanted = |term| Some((term, Ask::of_term(term, Tier::Words).wanted(&|_| None)?));
    ask::choices(query).into_iter().filter_map(wanted).take(MAX_WEIGHED).collect()
}

/// Whether hits come from the newest on: somebody asked for that, or there is nothing to tell how well they match.
fn is_by_time(request: &SearchRequest) -> bool {
    request.order == SearchOrder::Newest || request.query.is_negative()
}

/// Whether anything can match that is no whole word: not if every term begins and ends where words do, wherever it stands.
fn may_be_in_pieces(request: &SearchRequest) -> bool {
    let is_open = |end: Option<char>| end.is_some_and(|end| tokens::is_word(end) && !is_paired(end));
    request.query.terms().iter().any(|term| {
        let folded = fold(&term.text);
        is_open(folded.chars().next()) || is_open(folded.chars().next_back()) || folded.is_empty()
    })
}

/// How many of the next messages are read at once, if so many are wanted: their lengths are told.
fn batch(lengths: impl Iterator<Item = u32>, wanted: usize) -> usize {
    let mut words = 0;
    let fitting = lengths.take(wanted.clamp(1, MAX_READ)).take_while(|length| {
        words += u64::from(*length);
        words <= MAX_READ_WORDS
    });
    fitting.count().max(1)
}
