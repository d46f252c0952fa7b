//! Messages in the order of an answer: those that a server ranks, and those that are not listed among them.
//!
//! If all weigh the same, the shorter ones come first. So they are asked for by their sizes, and of a word that is in many messages
//! the server looks at few.

use crate::search::lexemes;
use crate::search::postings::{Candidate, Place, Postings, Ranking};
use crate::search::wanted::Wanted;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::RangeInclusive;

/// How many messages a server is asked for first, to fill a page. It seldom needs more, and they are but numbers.
pub(super) const FIRST: usize = 100;
/// How many times as many it is asked for next.
const MORE: usize = 8;
/// The most at once.
const MOST: usize = 100_000;

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

/// The messages that come next.
pub(super) struct Pool {
    waiting: BinaryHeap<Waiting>,
    /// The server told of all messages up to this place.
    told: Option<Place>,
    /// The sizes of messages that are still to be asked for; nothing if the server was asked for all of them.
    sizes: VecDeque<Option<RangeInclusive<u32>>>,
    size: usize,
}

impl Pool {
    /// Begins behind a place, with so many messages. How long messages are on average tells how to part them by their size.
    pub(super) fn new(ranking: &Ranking, after: Option<Place>, average: f64, size: usize) -> Self {
        let mut sizes: VecDeque<_> = [None].into();
        if ranking.choices.is_empty() {
            let usual = lexemes::size(average as u32).clamp(4, u32::BITS - 4);
            let parts = [0..=usual - 3, usual - 2..=usual - 1, usual..=usual + 1, usual + 2..=u32::BITS];
            let is_before = |sizes: &RangeInclusive<u32>| {
                let longest = u32::try_from((1_u64 << sizes.end()) - 1).unwrap_or(u32::MAX);
                after.is_some_and(|after| ranking.brevity.score(1.0, longest) > after.score)
            };
            sizes = parts.into_iter().filter(|sizes| !is_before(sizes)).map(Some).collect();
        }
        Self { waiting: BinaryHeap::new(), told: after, sizes, size }
    }

    /// Adds a message that the server does not rank.
    pub(super) fn add(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
    }

    /// Asks the server for more, unless it is clear which message comes next.
    pub(super) async fn fill<P: Postings>(&mut self, postings: &P, ranking: &Ranking) -> Result<(), P::Error> {
        while self.next().is_none()
            && let Some(sizes) = self.sizes.front()
        {
            let parted;
            let ranking = match sizes {
                None => ranking,
                Some(sizes) => {
                    let all = ranking.whole.iter().cloned().chain([Wanted::sizes(sizes.clone())]).collect();
                    parted = Ranking { whole: Some(Wanted::All(all)), ..ranking.clone() };
                    &parted
                }
            };
            let more = postings.ranked(ranking, self.told, self.size).await?;
            if more.len() < self.size {
                self.sizes.pop_front();
            }
            self.told = more.last().map(|last| last.place).or(self.told);
            self.size = (self.size * MORE).min(MOST);
            self.waiting.extend(more.into_iter().map(|candidate| Waiting { candidate, is_guess: false }));
        }
        Ok(())
    }

    /// The message that comes next, if that is clear.
    fn next(&self) -> Option<&Waiting> {
        let next = self.waiting.peek()?;
        let is_told = |told: Place| !next.candidate.place.is_after(&told);
        (self.sizes.is_empty() || self.told.is_some_and(is_told)).then_some(next)
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
