//! Messages in the order of an answer: merges those ranked by the store with those that are not listed.
//!
//! Shorter messages come first unless longer ones weigh more. So messages are requested by size class, and for a
//! frequent word the store visits few of them.

use crate::postings::{Candidate, Place, Postings, Ranking};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::RangeInclusive;

/// Number of messages first requested from a store to fill a page. More are seldom needed, and they are only numbers.
pub(super) const FIRST: usize = 100;
/// Factor by which the number grows with each request.
const MORE: usize = 8;
/// Maximum number of candidates per request.
const MAX_CANDIDATES: usize = 100_000;

/// A message waiting to be returned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) candidate: Candidate,
    /// Whether its score is an upper bound, so that its text has to be read for the exact one.
    pub(super) is_guess: bool,
}

/// The better message is the greater one.
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

/// Messages of a range of size classes, or of all if `None`, which the store returns in order.
struct Part {
    sizes: Option<RangeInclusive<u32>>,
    /// No message still to come sorts before this place.
    next: Place,
    /// Whether there are no more.
    is_over: bool,
    /// Number of messages of the next request.
    count: usize,
}

/// The messages to be returned next.
pub(super) struct Pool {
    waiting: BinaryHeap<Waiting>,
    parts: Vec<Part>,
}

impl Pool {
    /// Creates a pool of these parts that starts after a place and first requests `count` messages of each part.
    pub(super) fn new<W>(
        ranking: &Ranking<W>,
        parts: Vec<RangeInclusive<u32>>,
        after: Option<Place>,
        count: usize,
    ) -> Self {
        Self::of(ranking, after, parts.into_iter().map(Some), count)
    }

    /// Creates a pool that requests messages of all sizes at once: for an answer that needs most of them anyway.
    pub(super) fn whole<W>(ranking: &Ranking<W>, count: usize) -> Self {
        Self::of(ranking, None, [None].into_iter(), count)
    }

    fn of<W>(
        ranking: &Ranking<W>,
        after: Option<Place>,
        parts: impl Iterator<Item = Option<RangeInclusive<u32>>>,
        count: usize,
    ) -> Self {
        let part = |sizes: Option<RangeInclusive<u32>>| {
            // The shortest message of size `n` has half of 2^n words.
            let smallest = sizes.as_ref().map_or(0, |sizes| *sizes.start());
            let shortest = u32::try_from((1_u64 << smallest) / 2).unwrap_or(u32::MAX);
            let best = Place { score: ranking.brevity.score(ranking.weight(u64::MAX), shortest), id: i64::MAX };
            let next = match after {
                Some(after) if after.is_after(&best) => after,
                _ => best,
            };
            Part { sizes, next, is_over: false, count }
        };
        Self { waiting: BinaryHeap::new(), parts: parts.map(part).collect() }
    }

    /// Adds a message that is not ranked by the store.
    pub(super) fn add(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }

    /// Requests more messages from the store, unless the next message is already determined.
    pub(super) async fn fill<P: Postings>(
        &mut self,
        postings: &P,
        ranking: &Ranking<P::Wanted>,
    ) -> Result<(), P::Error> {
        while self.next().is_none()
            && let Some(part) = self.parts.iter_mut().filter(|part| !part.is_over).reduce(first)
        {
            let parted = Ranking { sizes: part.sizes.clone(), ..ranking.clone() };
            let more = postings.ranked(&parted, Some(part.next), part.count).await?;
            part.is_over = more.len() < part.count;
            part.next = more.last().map_or(part.next, |last| last.place);
            part.count = (part.count * MORE).min(MAX_CANDIDATES);
            self.waiting.extend(more.into_iter().map(|candidate| Waiting { candidate, is_guess: false }));
        }
        Ok(())
    }

    /// Returns the next message if it is determined, that is, the store has returned all that sort before it.
    fn next(&self) -> Option<&Waiting> {
        let next = self.waiting.peek()?;
        let is_complete = |part: &Part| part.is_over || !next.candidate.place.is_after(&part.next);
        self.parts.iter().all(is_complete).then_some(next)
    }

    /// Removes and returns the next message, if it is determined.
    pub(super) fn pop(&mut self) -> Option<Waiting> {
        self.next()?;
        self.waiting.pop()
    }

    /// Removes and returns the next messages, up to the first whose score is an upper bound.
    pub(super) fn take(&mut self, wanted: usize) -> Vec<Candidate> {
        let mut taken = Vec::new();
        while taken.len() < wanted && self.next().is_some_and(|next| !next.is_guess) {
            taken.extend(self.waiting.pop().map(|waiting| waiting.candidate));
        }
        taken
    }
}

/// Returns the part whose next message may be the better one.
fn first<'p>(left: &'p mut Part, right: &'p mut Part) -> &'p mut Part {
    if left.next.is_after(&right.next) { right } else { left }
}
