//! Search: the indexes name messages that may be meant, and each is looked at before it is told.
//!
//! Whole words come first, the best of them first; then pieces of words, the newest first. How good a match is, is known without its text, so that
//! only what a page shows is read. Messages that no index knows are looked through.

mod coverage;
mod hits;
mod ids;
mod leaf;
mod pages;
mod plan;
mod relaxed;
mod rows;

use crate::database::Database;
use crate::error::Failure;
use crate::indexes;
use crate::private::Lengths;
use coverage::Coverage;
use hermes_session::search::matching::{Matcher, Tier};
use hermes_session::search::{SearchAnswer, SearchCursor, SearchOrder, SearchRequest, Served, Way, rank};
use hits::Page;
use ids::Ids;
use pages::Scored;
use plan::Plan;
use rows::Rows;
use std::cell::OnceCell;
use std::collections::{BinaryHeap, HashMap};
use std::ops::ControlFlow;
use std::time::Instant;

/// Answers a question.
pub(crate) fn search(database: &Database, request: &SearchRequest) -> Result<SearchAnswer, Failure> {
    let start = Instant::now();
    match answer(database, request, &Coverage::of(database)?, start) {
        // An index that can't be read is one that is not there.
        Err(failure) if indexes::blame(&failure).is_some() => answer(database, request, &Coverage::Nothing, start),
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
    // Not if time ran out: what was not looked at may match.
    if is_relaxed || (request.relax && page.is_bare() && request.after.is_none() && !search.served.is_partial) {
        page = Page::new(request, search.cursor(true));
        relaxed::relaxed(&mut search, &mut page)?;
    }
    let (hits, next) = page.end(database, &mut search.rows)?;
    Ok(SearchAnswer { hits, next, served: search.served })
}

/// One search under way.
struct Search<'d> {
    database: &'d Database,
    request: &'d SearchRequest,
    coverage: &'d Coverage,
    matcher: Matcher,
    rows: Rows<'d>,
    /// The messages of the sessions that are searched, if those are few.
    admitted: Option<Vec<i64>>,
    /// Messages after this one came since the first page.
    newest: i64,
    lengths: Lengths,
    /// Those of messages that were looked through.
    aside: HashMap<i64, u32>,
    average: f64,
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
        let (lengths, way, unindexed) = match coverage {
            Coverage::But { behind, .. } => (Lengths::load(database)?, Way::Index, *behind),
            Coverage::Nothing => {
                let all: i64 = database.query_row("SELECT count(*) FROM messages", [], |row| row.get(0))?;
                (Lengths::default(), Way::Scan, all.unsigned_abs())
            }
        };
        let average = match &request.after {
            Some(cursor) => cursor.weights.first().copied().unwrap_or(1.0),
            None => lengths.average(),
        };
        Ok(Self {
            database,
            request,
            coverage,
            matcher: Matcher::new(&request.query),
            rows,
            admitted,
            newest,
            lengths,
            aside: HashMap::new(),
            average,
            end: start + request.timeout,
            served: Served { way, is_relaxed: false, is_partial: false, unindexed },
        })
    }

    /// What the next page will have to know, but for the hit that this one ends with.
    fn cursor(&self, is_relaxed: bool) -> SearchCursor {
        SearchCursor {
            newest: hermes_session::MessageId(self.newest),
            is_relaxed,
            tier: Tier::Words,
            score: 0.0,
            message: hermes_session::MessageId(i64::MAX),
            weights: vec![self.average],
        }
    }

    /// Whether time has run out.
    fn is_late(&mut self) -> bool {
        let is_late = Instant::now() > self.end;
        self.served.is_partial |= is_late;
        is_late
    }

    /// The messages that match as the query says.
    fn exact(&mut self, page: &mut Page) -> Result<(), Failure> {
        if self.request.order == SearchOrder::Newest || self.request.query.is_negative() {
            let plan = self.plan(Tier::Pieces)?;
            return self.newest_first(page, plan.ids, |_, _| Ok(true));
        }
        let words: OnceCell<Ids> = OnceCell::new();
        if self.request.after.as_ref().is_none_or(|cursor| cursor.tier == Tier::Words) {
            let plan = self.plan(Tier::Words)?;
            if plan.ids == Ids::All {
                return self.scan(page);
            }
            _ = words.set(plan.ids.clone());
            if self.best_first(page, &plan)?.is_break() {
                return Ok(());
            }
        }
        let plan = self.plan(Tier::Pieces)?;
        self.newest_first(page, plan.ids, |search, (tier, id)| {
            if tier == Tier::Pieces {
                return Ok(true);
            }
            // A whole word was told before, if it was known to be one.
            let words = match words.get() {
                Some(words) => words,
                None => {
                    let plan = search.plan(Tier::Words)?;
                    words.get_or_init(|| plan.ids)
                }
            };
            Ok(!words.has(id) && search.coverage.unknown().is_none_or(|unknown| unknown.binary_search(&id).is_err()))
        })
    }

    /// What the indexes say, as far as they know and as the filter admits.
    fn plan(&mut self, tier: Tier) -> Result<Plan<'d>, Failure> {
        let mut plan = match self.coverage {
            Coverage::Nothing => Plan { ids: Ids::All, choices: Vec::new(), is_late: false },
            Coverage::But { .. } => Plan::new(self.database, &self.request.query, tier, self.end)?,
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

    /// How many tokens a message has.
    fn length(&self, id: i64) -> u32 {
        self.aside.get(&id).copied().or_else(|| self.lengths.get(id)).unwrap_or(self.average as u32)
    }

    /// How well a message matches that has these choices.
    fn score(&self, id: i64, length: Option<u32>, weight: f64) -> f64 {
        let length = length.unwrap_or_else(|| self.length(id));
        // As many digits as a cursor is told with.
        weight * rank::brevity(length, self.average)
    }

    /// Whole words, best first; breaks if the page is full.
    fn best_first(&mut self, page: &mut Page, plan: &Plan<'_>) -> Result<ControlFlow<()>, Failure> {
        let after = self.request.after.clone();
        let weights = match &after {
            Some(cursor) => cursor.weights.iter().skip(1).copied().collect(),
            None => plan.weights(self.lengths.totals().0),
        };
        page.weigh(self.average, &weights);
        let (unknown, newest) = (self.coverage.unknown().unwrap_or_default(), self.newest);
        let mut pool: Vec<Scored> = Vec::new();
        if let Ids::Some(ids) = &plan.ids {
            let mut choices = pages::Choices::new(plan, &weights);
            pool.reserve(ids.len());
            for id in ids.iter().copied().filter(|id| *id <= self.newest) {
                let scored = Scored { score: self.score(id, None, choices.weight(id)), id };
                if (unknown.is_empty() || unknown.binary_search(&id).is_err()) && scored.is_after(after.as_ref()) {
                    pool.push(scored);
                }
            }
        }
        let choices: Vec<Matcher> = match unknown {
            [] => Vec::new(),
            _ => plan.choices.iter().map(|(term, _)| pages::alone(term)).collect(),
        };
        for id in unknown.iter().rev().copied().filter(|id| *id <= newest) {
            if self.is_late() {
                break;
            }
            if self.admitted.as_ref().is_some_and(|admitted| admitted.binary_search(&id).is_err()) {
                continue;
            }
            let matcher = &self.matcher;
            let found = self.rows.one(id, |said| {
                let text = said.text()?;
                let is_met = matcher.tier(&text) == Some(Tier::Words);
                if !is_met {
                    return Ok(None);
                }
                Ok(Some((said.length()?, pages::weight_of(&choices, &text, &weights))))
            })?;
            if let Some((length, weight)) = found.flatten() {
                let scored = Scored { score: self.score(id, Some(length), weight), id };
                if scored.is_after(after.as_ref()) {
                    pool.push(scored);
                }
            }
        }
        self.take(page, pool.into())
    }

    /// Looks at messages in order, and takes those that match in whole words.
    fn take(&mut self, page: &mut Page, mut pool: BinaryHeap<Scored>) -> Result<ControlFlow<()>, Failure> {
        while let Some(Scored { score, id }) = pool.pop() {
            if self.is_late() {
                return Ok(ControlFlow::Break(()));
            }
            let matcher = &self.matcher;
            let flow = self.rows.one(id, |said| {
                let text = said.text()?;
                match matcher.tier(&text) {
                    Some(Tier::Words) => page.push(said, &text, Tier::Words, score, |text| matcher.marks(text)),
                    _ => Ok(ControlFlow::Continue(())),
                }
            })?;
            if flow.is_some_and(|flow| flow.is_break()) {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Looks at messages from the newest on, and takes those that match and are admitted by `takes`.
    fn newest_first(
        &mut self,
        page: &mut Page,
        ids: Ids,
        takes: impl Fn(&mut Self, (Tier, i64)) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let newest = match &self.request.after {
            Some(cursor) if cursor.tier == Tier::Pieces || self.request.order == SearchOrder::Newest => {
                cursor.message.0 - 1
            }
            Some(cursor) if self.request.query.is_negative() => cursor.message.0 - 1,
            _ => self.newest,
        };
        let ids = match (ids, self.coverage.unknown()) {
            (Ids::Some(ids), Some(unknown)) => {
                let unknown = match &self.admitted {
                    Some(admitted) => Ids::Some(unknown.to_vec()).and(Ids::Some(admitted.clone())),
                    None => Ids::Some(unknown.to_vec()),
                };
                Ids::Some(ids).or(unknown)
            }
            (ids, _) => ids,
        };
        let matcher = self.matcher.clone();
        match ids {
            Ids::Some(ids) => {
                for id in ids.into_iter().rev().filter(|id| *id <= newest) {
                    if self.is_late() {
                        return Ok(());
                    }
                    let tier = self.rows.one(id, |said| Ok(matcher.tier(&said.text()?)))?.flatten();
                    let Some(tier) = tier else { continue };
                    if !takes(self, (tier, id))? {
                        continue;
                    }
                    let flow = self.rows.one(id, |said| {
                        page.push(said, &said.text()?, Tier::Pieces, 0.0, |text| matcher.marks(text))
                    })?;
                    if flow.is_some_and(|flow| flow.is_break()) {
                        return Ok(());
                    }
                }
                Ok(())
            }
            Ids::All => {
                let (end, mut is_partial) = (self.end, false);
                // Whether a whole word was told before is asked afterwards: one look at the store at a time.
                let mut found = Vec::new();
                let mut wanted = page.wanted();
                let mut rest = newest;
                loop {
                    let is_over = {
                        let found = &mut found;
                        let mut is_over = true;
                        self.rows.all(rest, |said| {
                            rest = said.id - 1;
                            if Instant::now() > end {
                                is_partial = true;
                                return Ok(ControlFlow::Break(()));
                            }
                            if let Some(tier) = matcher.tier(&said.text()?) {
                                found.push((tier, said.id));
                                if found.len() >= wanted {
                                    is_over = false;
                                    return Ok(ControlFlow::Break(()));
                                }
                            }
                            Ok(ControlFlow::Continue(()))
                        })?;
                        is_over
                    };
                    self.served.is_partial |= is_partial;
                    for (tier, id) in found.drain(..) {
                        if !takes(self, (tier, id))? {
                            continue;
                        }
                        let flow = self.rows.one(id, |said| {
                            page.push(said, &said.text()?, Tier::Pieces, 0.0, |text| matcher.marks(text))
                        })?;
                        if flow.is_some_and(|flow| flow.is_break()) {
                            return Ok(());
                        }
                    }
                    if is_over || is_partial {
                        return Ok(());
                    }
                    wanted = wanted.max(64);
                }
            }
        }
    }

    /// Looks through everything: no index knows anything of the query.
    fn scan(&mut self, page: &mut Page) -> Result<(), Failure> {
        page.weigh(self.average, &[]);
        let (end, newest) = (self.end, self.newest);
        let (matcher, mut is_partial) = (self.matcher.clone(), false);
        let (mut words, mut pieces) = (Vec::new(), Vec::new());
        self.rows.all(newest, |said| {
            if Instant::now() > end {
                is_partial = true;
                return Ok(ControlFlow::Break(()));
            }
            let text = said.text()?;
            match matcher.tier(&text) {
                Some(Tier::Words) => words.push((said.id, said.length()?)),
                Some(Tier::Pieces) => pieces.push(said.id),
                None => {}
            }
            Ok(ControlFlow::Continue(()))
        })?;
        self.served.is_partial |= is_partial;
        // What was found is shown, however late it is.
        self.end += self.request.timeout;
        let after = self.request.after.clone();
        let scored = words.into_iter().map(|(id, length)| Scored { score: self.score(id, Some(length), 1.0), id });
        let pool: BinaryHeap<Scored> = scored.filter(|scored| scored.is_after(after.as_ref())).collect();
        if self.take(page, pool)?.is_continue() {
            pieces.reverse();
            self.newest_first(page, Ids::Some(pieces), |_, (tier, _)| Ok(tier == Tier::Pieces))?;
        }
        Ok(())
    }
}
