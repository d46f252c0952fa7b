//! Search: candidates from the indexes, and from a comparison of the messages that no index covers.
//!
//! [`hermes_search::engine`] composes the answer and checks the text of each candidate before it is returned. Candidates
//! are lists of ids: SQLite returns all matches of an index as fast as some of them.

mod coverage;
mod facts;
mod foreign;
mod ids;
mod leaf;
mod length;
mod plan;
mod rows;
mod scan;
mod short;
mod surround;
mod words;

use crate::error::Failure;
use crate::index::indexes;
use crate::index::vocabulary::Lengths;
use crate::write::database::Database;
use coverage::Coverage;
pub(crate) use facts::Facts;
use hermes_search::engine;
use hermes_search::postings::{Candidate, Place, Postings, Ranking, Said, Totals};
use hermes_session::search::fold::fold;
use hermes_session::search::matching::Tier;
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::relax::{self, Word};
use hermes_session::search::{Hit, SearchAnswer, SearchRequest, Way, tokens};
use ids::Ids;
use leaf::Asked;
use plan::Plan;
use rows::Rows;
use scan::{Scan, Seen, Sought};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

/// Share of the messages that no index covers from which all messages are scanned by several threads instead of reading
/// these one by one: one in four.
const LARGE_SHARE: i64 = 4;

/// Runs a search.
pub(crate) fn search(database: &Database, request: &SearchRequest) -> Result<SearchAnswer, Failure> {
    let start = Instant::now();
    short::admit(database, request)?;
    let outcome = Facts::of(database).and_then(|facts| answer(database, request, &facts, start));
    match outcome {
        // An index that can't be read is treated as missing.
        Err(failure) if indexes::is_to_blame_for(&failure) => {
            answer(database, request, &Facts::with(database, Coverage::Nothing)?, start)
        }
        outcome => outcome,
    }
}

fn answer(
    database: &Database,
    request: &SearchRequest,
    facts: &Facts,
    start: Instant,
) -> Result<SearchAnswer, Failure> {
    let file = File::new(database, request, facts, start)?;
    let mut answer = finished(engine::search(&file, request, start))?;
    answer.served.unindexed = match &facts.coverage {
        Coverage::But { behind, .. } => *behind,
        Coverage::Nothing => file.all()?,
    };
    if matches!(facts.coverage, Coverage::Nothing) || file.is_scanned.get() {
        answer.served.way = Way::Scan;
    }
    answer.served.needs_adoption = database.memory().is_some();
    Ok(answer)
}

/// Returns the value of a future that never waits.
fn finished<T>(future: impl Future<Output = T>) -> T {
    let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// A file during one search.
struct File<'d> {
    database: &'d Database,
    query: &'d Query,
    facts: &'d Facts,
    coverage: &'d Coverage,
    /// Whether the relaxed query may be asked.
    may_relax: bool,
    /// The query, prepared for many messages.
    sought: OnceCell<Sought>,
    rows: RefCell<Rows<'d>>,
    /// The messages of the sessions to search, if those are few; `None` for no limit.
    admitted: Option<Vec<i64>>,
    /// Id up to which messages are searched; later ones were added after the first page.
    newest: i64,
    /// Whether hits are ordered by time.
    is_by_time: bool,
    /// When the search was requested.
    start: Instant,
    /// The time after which nothing more is scanned.
    end: Instant,
    asked: RefCell<Asked>,
    known: RefCell<HashMap<(Term, Tier), Ids>>,
    /// The messages that no index covers and that match or have words, in order.
    uncovered: OnceCell<Vec<Seen>>,
    /// All messages that match or have words, in order, if no index covers the query.
    everything: OnceCell<Vec<Seen>>,
    /// Whether no index covers the query, so that all messages were compared.
    is_scanned: Cell<bool>,
    /// Whether candidates were returned without being compared.
    is_refined: Cell<bool>,
    /// The scan for a query that is answered newest first.
    scan: RefCell<Option<Scan>>,
}

/// Candidates, in order.
type Wanted = Rc<Vec<i64>>;

impl<'d> File<'d> {
    fn new(
        database: &'d Database,
        request: &'d SearchRequest,
        facts: &'d Facts,
        start: Instant,
    ) -> Result<Self, Failure> {
        let is_relaxed = request.after.as_ref().is_some_and(|cursor| cursor.is_relaxed);
        let may_relax = is_relaxed || (request.relax && request.after.is_none());
        let mut rows = Rows::new(database, &request.filter);
        let admitted = rows.admitted()?;
        let newest = match &request.after {
            Some(cursor) => cursor.newest.0,
            None => facts.newest,
        };
        // Alternatives are weighed by their number in all messages.
        let has_weights = !engine::optional_terms(&request.query).is_empty();
        let range = admitted.as_deref().filter(|_| !has_weights);
        let range = range.map(|ids| (ids.first().copied().unwrap_or(0), ids.last().copied().unwrap_or(-1)));
        Ok(Self {
            database,
            query: &request.query,
            facts,
            coverage: &facts.coverage,
            may_relax,
            sought: OnceCell::new(),
            rows: RefCell::new(rows),
            admitted,
            newest,
            is_by_time: engine::is_by_time(request),
            start,
            end: start + request.timeout,
            asked: RefCell::new(Asked::within(range)),
            known: RefCell::default(),
            uncovered: OnceCell::new(),
            everything: OnceCell::new(),
            is_scanned: Cell::new(false),
            is_refined: Cell::new(false),
            scan: RefCell::default(),
        })
    }

    /// Returns the query, prepared for many messages.
    fn sought(&self) -> &Sought {
        self.sought.get_or_init(|| {
            let words = if self.may_relax { relax::words(self.query) } else { Vec::new() };
            Sought::new(self.query, &words)
        })
    }

    /// Returns the number of messages.
    fn all(&self) -> Result<u64, Failure> {
        let all: i64 =
            self.database.prepare_cached("SELECT count(*) FROM messages")?.query_row([], |row| row.get(0))?;
        Ok(all.unsigned_abs())
    }

    /// Runs a lookup in the indexes.
    fn plan<T>(&self, tier: Tier, end: Instant, work: impl FnOnce(&mut Plan<'_>) -> T) -> T {
        let (mut asked, mut known) = (self.asked.borrow_mut(), self.known.borrow_mut());
        work(&mut Plan { database: self.database, tier, end, asked: &mut asked, known: &mut known })
    }

    /// Replaces the messages of a list that no index covers by those that were compared and pass, and limits the list to
    /// admitted messages.
    fn completed(&self, listed: Vec<i64>, passes: impl Fn(&Seen) -> bool) -> Result<Wanted, Failure> {
        let mut ids = listed;
        if let Some(unknown) = self.coverage.unknown().filter(|unknown| !unknown.is_empty()) {
            ids.retain(|id| unknown.binary_search(id).is_err());
        }
        ids.extend(self.uncovered()?.iter().filter(|seen| passes(seen)).map(|seen| seen.id));
        Ok(self.limited(Ids::of(ids)))
    }

    /// Returns the candidates that are admitted.
    fn limited(&self, ids: Ids) -> Wanted {
        let ids = match &self.admitted {
            Some(admitted) => ids.and(Ids::Some(admitted.clone())),
            None => ids,
        };
        match ids {
            Ids::Some(ids) => Rc::new(ids),
            Ids::All => Rc::default(),
        }
    }

    /// Compares the messages that no index covers, once.
    fn uncovered(&self) -> Result<&[Seen], Failure> {
        if let Some(seen) = self.uncovered.get() {
            return Ok(seen);
        }
        let seen = match self.coverage.unknown() {
            None => return self.everything(),
            Some(unknown) if unknown.len() as i64 > self.newest / LARGE_SHARE && self.admitted.is_none() => {
                let is_unknown = |seen: &&Seen| unknown.binary_search(&seen.id).is_ok();
                self.everything()?.iter().filter(is_unknown).copied().collect()
            }
            Some(unknown) => {
                short::admit_comparing(self.database, unknown.len())?;
                let is_admitted =
                    |id: &i64| self.admitted.as_ref().is_none_or(|admitted| admitted.binary_search(id).is_ok());
                let ids = unknown.iter().rev().copied().filter(|id| *id <= self.newest && is_admitted(id));
                self.compared(ids)?
            }
        };
        Ok(self.uncovered.get_or_init(|| seen))
    }

    /// Compares all messages, once.
    fn everything(&self) -> Result<&[Seen], Failure> {
        if let Some(seen) = self.everything.get() {
            return Ok(seen);
        }
        short::admit_scan(self.database)?;
        let seen = match &self.admitted {
            Some(admitted) => self.compared(admitted.iter().rev().copied().filter(|id| *id <= self.newest))?,
            None => {
                let mut scan = match self.scan.take().filter(|scan| scan.newest == self.newest) {
                    Some(begun) => begun,
                    None => Scan::new(self.database, self.newest)?,
                };
                scan.read_on(self.database, self.sought(), usize::MAX, self.end)?;
                if scan.is_late {
                    scan.seen.extend(self.named_by_agent(scan.rest)?);
                }
                in_order(scan.seen)
            }
        };
        Ok(self.everything.get_or_init(|| seen))
    }

    fn compared(&self, ids: impl Iterator<Item = i64>) -> Result<Vec<Seen>, Failure> {
        Ok(in_order(scan::some(self.database, self.sought(), ids, self.end)?))
    }

    /// Compares the messages up to an id that the agent's own index names, where there was no time to scan them.
    fn named_by_agent(&self, newest: i64) -> Result<Vec<Seen>, Failure> {
        let named = foreign::candidates(self.database, self.query, newest);
        scan::some(self.database, self.sought(), named.into_iter().rev(), Instant::now() + engine::SHOWING)
    }

    /// Returns the best candidates of a ranking after a place, in order. Scores are computed again for each request: the
    /// first one nearly always fills the page.
    fn best(&self, ranking: &Ranking<Wanted>, after: Option<Place>, limit: usize) -> Result<Vec<Candidate>, Failure> {
        let lists: Vec<&[i64]> = ranking.choices.iter().map(|(ids, _)| ids.as_slice()).collect();
        let union;
        let ids = match &ranking.whole {
            Some(whole) => whole,
            None => {
                let Ids::Some(ids) = Ids::of(lists.concat()) else { return Ok(Vec::new()) };
                union = ids;
                &union
            }
        };
        let lengths = self.lengths(ids)?;
        let (mut bits, mut last) = (Bits { lists }, (0, ranking.weight(0)));
        let mut best = Best::new(limit.min(ids.len()));
        for id in ids.iter().copied().take_while(|id| *id <= ranking.newest) {
            let has = bits.of(id);
            if has != last.0 {
                last = (has, ranking.weight(has));
            }
            let length = lengths(id);
            let place = Place { score: ranking.brevity.score(last.1, length), id };
            if after.is_none_or(|after| place.is_after(&after)) {
                best.add(Candidate { place, length, has });
            }
        }
        Ok(best.in_order())
    }

    /// Returns the lengths of messages: of these if they are few, else of all.
    fn lengths(&self, ids: &[i64]) -> Result<impl Fn(i64) -> u32, Failure> {
        const MAX_SINGLE_LOOKUPS: usize = 8;
        let indexed = match ids.len() {
            0..=MAX_SINGLE_LOOKUPS if !self.facts.has_lengths() => {
                Cow::Owned(Lengths::of(self.database, ids.iter().copied())?)
            }
            _ => Cow::Borrowed(self.facts.lengths(self.database)?),
        };
        let seen = self.everything.get().or(self.uncovered.get()).map(Vec::as_slice).unwrap_or_default();
        let average = self.facts.average as u32;
        let compared = move |id: i64| Some(seen[seen.binary_search_by_key(&id, |seen| seen.id).ok()?].length);
        Ok(move |id| compared(id).or_else(|| indexed.get(id)).unwrap_or(average))
    }
}

/// Returns whether a query is a phrase that is looked up as pieces for little: the words between its ends suffice, or its
/// first and last word are long.
fn is_phrase(query: &Query) -> bool {
    const MIN_LENGTH: usize = 4;
    let Node::Term(term) = query.root() else { return false };
    let folded = fold(&term.text);
    let words: Vec<_> = tokens::words(&folded).collect();
    match &words[..] {
        [first, .., last] => words.len() >= leaf::LONG_ROW || first.len() >= MIN_LENGTH && last.len() >= MIN_LENGTH,
        _ => false,
    }
}

/// The best candidates so far.
struct Best {
    limit: usize,
    kept: Vec<Candidate>,
    /// Candidates that are not better than this one are not needed.
    floor: Option<Place>,
}

impl Best {
    fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::with_capacity(2 * limit), floor: None }
    }

    fn add(&mut self, candidate: Candidate) {
        if self.limit == 0 || self.floor.is_some_and(|floor| candidate.place.is_after(&floor)) {
            return;
        }
        self.kept.push(candidate);
        if self.kept.len() >= 2 * self.limit {
            self.cut();
        }
    }

    /// Drops all but the best.
    fn cut(&mut self) {
        let (_, last, _) = self.kept.select_nth_unstable_by(self.limit - 1, best_first);
        self.floor = Some(last.place);
        self.kept.truncate(self.limit);
    }

    fn in_order(mut self) -> Vec<Candidate> {
        self.kept.sort_unstable_by(best_first);
        self.kept.truncate(self.limit);
        self.kept
    }
}

fn best_first(left: &Candidate, right: &Candidate) -> Ordering {
    right.place.score.total_cmp(&left.place.score).then(right.place.id.cmp(&left.place.id))
}

/// The alternatives that messages have, visited in the order of ids.
struct Bits<'l> {
    lists: Vec<&'l [i64]>,
}

impl Bits<'_> {
    /// Returns the alternatives of a message, one bit each. Ids have to ascend from call to call.
    fn of(&mut self, id: i64) -> u64 {
        let mut has = 0;
        for (place, ids) in self.lists.iter_mut().enumerate() {
            while let [first, rest @ ..] = *ids
                && *first < id
            {
                *ids = rest;
            }
            has |= u64::from(ids.first() == Some(&id)) << place;
        }
        has
    }
}

fn in_order(mut seen: Vec<Seen>) -> Vec<Seen> {
    seen.sort_unstable_by_key(|seen| seen.id);
    seen
}

impl Postings for File<'_> {
    type Error = Failure;
    type Wanted = Wanted;
    const READ_AT_ONCE: usize = 1;

    async fn newest(&self) -> Result<i64, Failure> {
        Ok(self.newest)
    }

    async fn totals(&self) -> Result<Totals, Failure> {
        let messages = match self.coverage {
            Coverage::But { .. } => self.facts.indexed,
            Coverage::Nothing => self.all()?,
        };
        Ok(Totals { messages, average: self.facts.average })
    }

    async fn of_query(&self, query: &Query, tier: Tier, end: Instant) -> Result<Option<Wanted>, Failure> {
        // For a phrase, one lookup serves both parts: its result for pieces has the whole words too, and scores do not
        // depend on the number of candidates.
        let looked_up = if is_phrase(query) { Tier::Pieces } else { tier };
        let ids = match self.coverage {
            Coverage::Nothing => Ids::All,
            Coverage::But { .. } => self.plan(looked_up, end, |plan| plan.of_query(query))?,
        };
        let passes = |seen: &Seen| seen.tier.is_some_and(|found| tier == Tier::Pieces || found == Tier::Words);
        Ok(match (ids, &self.admitted) {
            (Ids::Some(ids), _) if self.is_by_time => {
                // These are read newest first until the page is full, which is mostly soon.
                let unknown = self.coverage.unknown().unwrap_or_default().to_vec();
                Some(self.limited(Ids::Some(ids).or(Ids::Some(unknown))))
            }
            (Ids::Some(ids), _) => Some(self.completed(ids, passes)?),
            (Ids::All, Some(admitted)) if self.is_by_time => Some(Rc::new(admitted.clone())),
            (Ids::All, _) if self.is_by_time || !engine::may_be_in_pieces(query) => None,
            // Newest first, so that reading ends when the page is full, unless all were compared for whole words.
            (Ids::All, _) if tier == Tier::Pieces && self.everything.get().is_none() => None,
            (Ids::All, _) => {
                self.is_scanned.set(true);
                Some(Rc::new(self.everything()?.iter().filter(|seen| passes(seen)).map(|seen| seen.id).collect()))
            }
        })
    }

    async fn of_term(&self, term: &Term) -> Result<Option<Wanted>, Failure> {
        let Some(place) = engine::optional_terms(self.query).iter().position(|optional| *optional == term) else {
            return Ok(None);
        };
        let has = |seen: &Seen| seen.tier == Some(Tier::Words) && seen.bits >> place.min(63) & 1 == 1;
        let ids = match self.coverage {
            Coverage::Nothing => Ids::Some(Vec::new()),
            Coverage::But { .. } => self.plan(Tier::Words, self.end, |plan| plan.of_term(term))?,
        };
        match ids {
            Ids::Some(ids) => self.completed(ids, has).map(Some),
            Ids::All => Ok(None),
        }
    }

    async fn of_words(&self, words: &[Word], end: Instant) -> Result<Vec<Wanted>, Failure> {
        self.is_scanned.set(self.coverage.unknown().is_none());
        let mut wanted = Vec::with_capacity(words.len());
        for (place, word) in words.iter().enumerate() {
            let listed = match self.coverage {
                Coverage::But { .. } if Instant::now() <= end => {
                    words::having(self.database, word, &mut self.asked.borrow_mut())?
                }
                _ => Vec::new(),
            };
            wanted.push(self.completed(listed, |seen| seen.tier.is_none() && seen.bits >> place & 1 == 1)?);
        }
        Ok(wanted)
    }

    async fn counts(&self, wanted: &[Wanted], _: bool) -> Result<Vec<u64>, Failure> {
        Ok(wanted.iter().map(|ids| ids.len() as u64).collect())
    }

    fn parts(&self, _: f64) -> Vec<RangeInclusive<u32>> {
        vec![0..=u32::BITS]
    }

    async fn ranked(
        &self,
        ranking: &Ranking<Wanted>,
        after: Option<Place>,
        limit: usize,
    ) -> Result<Vec<Candidate>, Failure> {
        self.best(ranking, after, limit)
    }

    async fn latest(&self, wanted: Option<&Wanted>, before: i64, limit: usize) -> Result<Vec<(i64, u32)>, Failure> {
        // Messages are read one by one, so their lengths do not matter.
        if let Some(ids) = wanted {
            let older = ids[..ids.partition_point(|id| *id < before)].iter().rev().copied();
            if !self.is_refined.replace(true) {
                return Ok(older.take(limit).map(|id| (id, 0)).collect());
            }
            // The first candidates did not fill the page. Comparing many costs less than reading them as hits.
            short::admit_reading(self.database, self.start)?;
            return scan::matching(self.database, self.sought(), older, limit, self.end);
        }
        short::admit_scan(self.database)?;
        let mut scan = self.scan.borrow_mut();
        let scan = match &mut *scan {
            Some(scan) => scan,
            none => none.insert(Scan::new(self.database, self.newest.min(before.saturating_sub(1)))?),
        };
        if !scan.is_over() {
            scan.read_on(self.database, self.sought(), limit, self.end)?;
        }
        let matching = scan.seen.iter().filter(|seen| seen.tier.is_some() && seen.id < before);
        Ok(matching.take(limit).map(|seen| (seen.id, 0)).collect())
    }

    async fn unlisted(&self, _: i64) -> Result<Vec<(i64, u32)>, Failure> {
        // They were compared, and those that match are in the lists.
        Ok(Vec::new())
    }

    fn is_ranked(&self, whole: &Wanted, id: i64) -> bool {
        whole.binary_search(&id).is_ok()
    }

    async fn said(&self, ids: &[i64]) -> Result<Vec<Said>, Failure> {
        short::admit_reading(self.database, self.start)?;
        let mut rows = self.rows.borrow_mut();
        ids.iter().filter_map(|id| rows.said(*id).transpose()).collect()
    }

    async fn conversations(&self, ids: &[i64]) -> Result<Vec<(i64, String)>, Failure> {
        rows::conversations(self.database, ids)
    }

    async fn forgive(&self, error: Failure) -> Result<(), Failure> {
        Err(error)
    }

    async fn surround(&self, hits: &mut [Hit], with_neighbours: bool) -> Result<(), Failure> {
        surround::surround(self.database, &mut self.rows.borrow_mut(), hits, with_neighbours)
    }
}

#[cfg(test)]
mod tests;
