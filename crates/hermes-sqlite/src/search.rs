//! Search: the indexes name candidate messages, and each is compared with the query before it is returned.
//!
//! Matches of whole words come first, best first; then matches of pieces of words, newest first. The score of a match
//! does not need its text, so only the messages of a page are read. Messages that no index covers are scanned.

mod best;
mod coverage;
mod foreign;
mod hits;
mod ids;
mod leaf;
mod newest;
mod plan;
mod relaxed;
mod rows;
mod score;

use crate::error::Failure;
use crate::index::indexes;
use crate::index::vocabulary::Lengths;
use crate::write::database::Database;
use coverage::Coverage;
use hermes_session::MessageId;
use hermes_session::script::is_paired;
use hermes_session::search::fold::fold;
use hermes_session::search::matching::{Matcher, Tier};
use hermes_session::search::{SearchAnswer, SearchCursor, SearchOrder, SearchRequest, Served, Way, rank, tokens};
use hits::Page;
use ids::Ids;
use leaf::Around;
use newest::Handled;
use plan::Plan;
use rows::Rows;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// Minimum time for reading the hits of the page.
const SHOWING: Duration = Duration::from_millis(100);

/// Runs a search.
pub(crate) fn search(database: &Database, request: &SearchRequest) -> Result<SearchAnswer, Failure> {
    let start = Instant::now();
    let coverage = match Coverage::of(database) {
        Err(failure) if indexes::is_to_blame_for(&failure) => Coverage::Nothing,
        coverage => coverage?,
    };
    match answer(database, request, &coverage, start) {
        // An index that can't be read is treated as missing.
        Err(failure) if indexes::is_to_blame_for(&failure) => answer(database, request, &Coverage::Nothing, start),
        outcome => outcome,
    }
}

fn answer(
    database: &Database,
    request: &SearchRequest,
    coverage: &Coverage,
    start: Instant,
) -> Result<SearchAnswer, Failure> {
    let mut search = Search::new(database, request, coverage, start)?;
    let is_relaxed = request.after.as_ref().is_some_and(|cursor| cursor.is_relaxed);
    let mut page = Page::new(request, search.cursor(is_relaxed));
    if !is_relaxed {
        search.exact(&mut page)?;
    }
    // Not if time ran out: messages that were not checked may match.
    if is_relaxed || (request.relax && page.is_bare() && request.after.is_none() && !search.served.is_partial) {
        page = Page::new(request, search.cursor(true));
        relaxed::relaxed(&mut search, &mut page)?;
    }
    let (hits, next) = page.end(database, &mut search.rows)?;
    Ok(SearchAnswer { hits, next, served: search.served })
}

/// The state of a running search.
struct Search<'d> {
    database: &'d Database,
    request: &'d SearchRequest,
    coverage: &'d Coverage,
    matcher: Matcher,
    rows: Rows<'d>,
    /// The messages of the sessions to search, if those are few; `None` for no limit.
    admitted: Option<Vec<i64>>,
    /// Id up to which messages are searched; later ones were added after the first page.
    newest: i64,
    /// The number of messages in the word index.
    all: u64,
    /// The lengths of messages to rank.
    lengths: Lengths,
    /// The lengths of scanned messages.
    aside: HashMap<i64, u32>,
    /// Cache of messages with words within runs of paired characters.
    around: Around,
    /// The average number of tokens of a message.
    average: f64,
    /// The deadline.
    end: Instant,
    served: Served,
}

impl<'d> Search<'d> {
    fn new(
        database: &'d Database,
        request: &'d SearchRequest,
        coverage: &'d Coverage,
        start: Instant,
    ) -> Result<Self, Failure> {
        let mut rows = Rows::new(database, &request.filter);
        let admitted = rows.admitted()?;
        let newest = match &request.after {
            Some(cursor) => cursor.newest.0,
            None => {
                database.prepare_cached("SELECT coalesce(max(id), 0) FROM messages")?.query_row([], |row| row.get(0))?
            }
        };
        let ((all, tokens), way, unindexed) = match coverage {
            Coverage::But { behind, .. } => (indexes::totals(database)?, Way::Index, *behind),
            Coverage::Nothing => {
                let all: i64 = database.query_row("SELECT count(*) FROM messages", [], |row| row.get(0))?;
                ((all.unsigned_abs(), 0), Way::Scan, all.unsigned_abs())
            }
        };
        let average = match &request.after {
            Some(cursor) => cursor.weights.first().copied().unwrap_or(1.0),
            None => (tokens as f64 / all.max(1) as f64).max(1.0),
        };
        Ok(Self {
            database,
            request,
            coverage,
            matcher: Matcher::new(&request.query),
            rows,
            admitted,
            newest,
            all,
            lengths: Lengths::default(),
            aside: HashMap::new(),
            around: Around::default(),
            average,
            end: start + request.timeout,
            served: Served {
                way,
                is_relaxed: false,
                is_partial: false,
                unindexed,
                needs_adoption: database.memory().is_some(),
            },
        })
    }

    /// Returns the cursor for the next page, without the last hit of this one.
    fn cursor(&self, is_relaxed: bool) -> SearchCursor {
        SearchCursor {
            newest: MessageId(self.newest),
            is_relaxed,
            tier: Tier::Words,
            score: 0.0,
            message: MessageId(i64::MAX),
            weights: vec![self.average],
        }
    }

    /// Returns whether the deadline has passed.
    fn is_late(&mut self) -> bool {
        let is_late = Instant::now() > self.end;
        self.served.is_partial |= is_late;
        is_late
    }

    /// Extends the deadline, so that there is time to read the hits.
    fn leave_time(&mut self) {
        self.end = self.end.max(Instant::now()) + self.request.timeout.max(SHOWING);
    }

    /// Adds the messages that match the query exactly.
    fn exact(&mut self, page: &mut Page<'_>) -> Result<(), Failure> {
        if self.is_by_time() {
            let plan = self.plan(Tier::Pieces)?;
            return self.newest_first(page, plan.ids, &Handled::default());
        }
        let words = self.plan(Tier::Words)?;
        if words.ids == Ids::All && self.may_be_in_pieces() {
            return self.scan(page);
        }
        if words.ids == Ids::All {
            // No index can score the matches, so all of them are equal.
            return self.newest_first(page, Ids::All, &Handled::default());
        }
        let mut handled = Handled { words: Some(words.ids.clone()), done: HashSet::new() };
        if self.request.after.as_ref().is_none_or(|cursor| cursor.tier == Tier::Words)
            && self.best_first(page, &words, &mut handled)?.is_break()
        {
            return Ok(());
        }
        if !self.may_be_in_pieces() {
            return Ok(());
        }
        let pieces = self.plan(Tier::Pieces)?;
        self.newest_first(page, pieces.ids, &handled)
    }

    /// Returns whether anything but whole words can match: not if every term begins and ends at word boundaries
    /// wherever it stands.
    fn may_be_in_pieces(&self) -> bool {
        let is_open = |end: Option<char>| end.is_some_and(|end| tokens::is_word(end) && !is_paired(end));
        self.request.query.terms().iter().any(|term| {
            let folded = fold(&term.text);
            is_open(folded.chars().next()) || is_open(folded.chars().next_back()) || folded.is_empty()
        })
    }

    /// Loads the lengths of messages: of these if they are few, else of all.
    fn learn_lengths(&mut self, ids: &[i64]) -> Result<(), Failure> {
        const MAX_SINGLE_LOOKUPS: usize = 8;
        let is_partly_known = matches!(self.coverage, Coverage::But { .. });
        self.lengths = match ids.len() {
            _ if !is_partly_known => return Ok(()),
            0..=MAX_SINGLE_LOOKUPS => Lengths::of(self.database, ids.iter().copied())?,
            _ => Lengths::load(self.database)?,
        };
        Ok(())
    }

    /// Returns whether hits are ordered by time: on request, or because nothing can be scored.
    fn is_by_time(&self) -> bool {
        self.request.order == SearchOrder::Newest || self.request.query.is_negative()
    }

    /// Returns the candidates of the indexes, limited by the filter.
    fn plan(&mut self, tier: Tier) -> Result<Plan<'d>, Failure> {
        let mut plan = match self.coverage {
            Coverage::Nothing => Plan { ids: Ids::All, choices: Vec::new(), is_late: false },
            Coverage::But { .. } => Plan::new(self.database, &self.request.query, tier, self.end, &mut self.around)?,
        };
        self.served.is_partial |= plan.is_late;
        if plan.ids == Ids::All && !self.request.query.is_negative() {
            self.served.way = Way::Scan;
        }
        if let Some(admitted) = &self.admitted {
            plan.ids = plan.ids.and(Ids::Some(admitted.clone()));
        }
        Ok(plan)
    }

    /// Returns how many tokens a message has.
    fn length(&self, id: i64) -> u32 {
        self.aside.get(&id).copied().or_else(|| self.lengths.get(id)).unwrap_or(self.average as u32)
    }

    /// Returns the score of a message from the weight of its choices.
    fn score(&self, id: i64, length: Option<u32>, weight: f64) -> f64 {
        let length = length.unwrap_or_else(|| self.length(id));
        weight * rank::brevity(length, self.average)
    }
}

#[cfg(test)]
mod tests;
