//! Messages in the order of an answer: those that a server ranks, and those that are not listed among them.
//!
//! The shorter ones come first, unless the longer weigh more. So they are asked for by their sizes, and of a word that is in many
//! messages the server looks at few.

use crate::search::lexemes;
use crate::search::postings::{Candidate, Place, Postings, Ranking};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

/// How many messages a server is asked for first, to fill a page. It seldom needs more, and they are but numbers.
pub(super) const FIRST: usize = 100;
/// How many times as many it is asked for next.
const MORE: usize = 8;
/// The largest number of candidates at once.
const MAX_CANDIDATES: usize = 100_000;

/// A message that waits for its turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) candidate: Candidate,
    /// Whether its score is the best that it can have, and its text has to be read to know more.
    pub(super) is_guess: bool,
}

/// The better one is the greater.
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        let (left, right) = (&self.candidate.place, &other.candidate.place);
        left.score.total_cmp(&right.score).then(left.id.cmp(&right.id))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Waiting {}

/// Messages of some sizes, which the server tells of in their order.
struct Part {
    sizes: RangeInclusive<u32>,
    /// No message that is still to come is before this place.
    next: Place,
    /// Whether there are no more.
    is_over: bool,
    /// How many it is asked for next.
    count: usize,
}

/// The messages that come next.
pub(super) struct Pool {
    waiting: BinaryHeap<Waiting>,
    parts: Vec<Part>,
}

impl Pool {
    /// Begins behind a place, with so many messages of each part. How long messages are on average tells how to part them.
    pub(super) fn new(ranking: &Ranking, after: Option<Place>, average: f64, count: usize) -> Self {
        let usual = lexemes::size(average as u32).clamp(4, u32::BITS - 4);
        let parts = [0..=usual - 3, usual - 2..=usual - 1, usual..=usual + 1, usual + 2..=u32::BITS];
        let part = |sizes: RangeInclusive<u32>| {
            // Half of what the next size begins with is the shortest of this one.
            let shortest = u32::try_from((1_u64 << sizes.start()) / 2).unwrap_or(u32::MAX);
            let best = Place { score: ranking.brevity.score(ranking.weight(u64::MAX), shortest), id: i64::MAX };
            let next = match after {
                Some(after) if after.is_after(&best) => after,
                _ => best,
            };
            Part { sizes, next, is_over: false, count }
        };
        Self { waiting: BinaryHeap::new(), parts: parts.into_iter().map(part).collect() }
    }

    /// Adds a message that the server does not rank.
    pub(super) fn add(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }

    /// Asks the server for more, unless it is clear which message comes next.
    pub(super) async fn fill<P: Postings>(&mut self, postings: &P, ranking: &Ranking) -> Result<(), P::Error> {
        while self.next().is_none()
            && let Some(part) = self.parts.iter_mut().filter(|part| !part.is_over).reduce(first)
        {
            let parted = Ranking { sizes: Some(part.sizes.clone()), ..ranking.clone() };
            let more = postings.ranked(&parted, Some(part.next), part.count).await?;
            part.is_over = more.len() < part.count;
            part.next = more.last().map_or(part.next, |last| last.place);
            part.count = (part.count * MORE).min(MAX_CANDIDATES);
            self.waiting.extend(more.into_iter().map(|candidate| Waiting { candidate, is_guess: false }));
        }
        Ok(())
    }

    /// The message that comes next, if that is clear: the server told of all that are before it.
    fn next(&self) -> Option<&Waiting> {
        let next = self.waiting.peek()?;
        let is_told = |part: &Part| part.is_over || !next.candidate.place.is_after(&part.next);
        self.parts.iter().all(is_told).then_some(next)
    }

    /// Takes the message that comes next.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        self.next()?;
        self.waiting.pop()
    }

    /// Takes the messages that come next, up to the first that is a guess.
    pub(super) fn take(&mut self, wanted: usize) -> Vec<Candidate> {
        let mut taken = Vec::new();
        while taken.len() < wanted && self.next().is_some_and(|next| !next.is_guess) {
            taken.extend(self.waiting.pop().map(|waiting| waiting.candidate));
        }
        taken
    }
}

/// The part in which the better messages may be still to come.
fn first<'p>(left: &'p mut Part, right: &'p mut Part) -> &'p mut Part {
    if left.next.is_after(&right.next) { right } else { left }
}
