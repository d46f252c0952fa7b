//! Requests that a search sends to a store.
//!
//! One value answers one search, within one transaction: it knows the filter of the request and returns admitted
//! messages only.

use hermes_session::search::matching::Tier;
use hermes_session::search::query::{Query, Term};
use hermes_session::search::relax::Word;
use hermes_session::search::{Hit, rank};
use hermes_session::{Role, SessionId, Source, Timestamp};
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Instant;

/// The index and the messages of a store.
///
/// Futures need not be `Send`: the future of a search is, if those of the store are.
pub trait Postings {
    /// Reason why a request failed.
    type Error;

    /// Condition on messages that the index evaluates. It may over-approximate, but never misses a match.
    type Wanted: Clone;

    /// Maximum number of messages to read at once: many if each reading is a round trip, one if it is a function call.
    const READ_AT_ONCE: usize;

    /// Returns the id of the newest message, admitted or not; 0 if there is none.
    fn newest(&self) -> impl Future<Output = Result<i64, Self::Error>>;

    /// Returns the approximate number of messages and their average length.
    fn totals(&self) -> impl Future<Output = Result<Totals, Self::Error>>;

    /// Returns the condition for messages that match a query in whole words or in pieces; `None` if any message may
    /// match. Stops at `end`; the condition then excludes less.
    fn of_query(
        &self,
        query: &Query,
        tier: Tier,
        end: Instant,
    ) -> impl Future<Output = Result<Option<Self::Wanted>, Self::Error>>;

    /// Returns the condition for messages that have a term in whole words; `None` if any message may have it.
    fn of_term(&self, term: &Term) -> impl Future<Output = Result<Option<Self::Wanted>, Self::Error>>;

    /// Returns the conditions for messages that have a form of each of these words. Stops at `end`; the conditions then
    /// miss forms.
    fn of_words(&self, words: &[Word], end: Instant) -> impl Future<Output = Result<Vec<Self::Wanted>, Self::Error>>;

    /// Returns the approximate number of messages that match each of these. `are_next` says that the messages that have
    /// one of them are ranked next, so that a store may keep what it finds.
    fn counts(&self, wanted: &[Self::Wanted], are_next: bool) -> impl Future<Output = Result<Vec<u64>, Self::Error>>;

    /// Returns the size classes (see [`crate::lexemes::size`]) in which ranked messages are requested, given the average
    /// length: together all of them. More than one if the store can tell the best of a class without looking at the others.
    fn parts(&self, average: f64) -> Vec<RangeInclusive<u32>>;

    /// Returns the best messages after a place, in order: at most `limit`, and fewer only if there are no more.
    /// Messages that are not listed are left out.
    fn ranked(
        &self,
        ranking: &Ranking<Self::Wanted>,
        after: Option<Place>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Candidate>, Self::Error>>;

    /// Returns the newest messages before an id that match `wanted` (any if `None`), and those that are not listed;
    /// with their lengths, newest first. At most `limit`, and fewer only if there are no more or time is over.
    fn latest(
        &self,
        wanted: Option<&Self::Wanted>,
        before: i64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<(i64, u32)>, Self::Error>>;

    /// Returns the messages up to an id that are not listed, with their lengths.
    fn unlisted(&self, newest: i64) -> impl Future<Output = Result<Vec<(i64, u32)>, Self::Error>>;

    /// Returns whether [`Postings::ranked`] returns a message that matches, given its `whole`. `false` if the index may
    /// lack it.
    fn is_ranked(&self, whole: &Self::Wanted, id: i64) -> bool;

    /// Returns these messages, in any order, if they are admitted and their session exists.
    fn said(&self, ids: &[i64]) -> impl Future<Output = Result<Vec<Said>, Self::Error>>;

    /// Returns the conversations of messages, by any name that is the same for all messages of a conversation.
    fn conversations(&self, ids: &[i64]) -> impl Future<Output = Result<Vec<(i64, String)>, Self::Error>>;

    /// Recovers from a statement that was given up because it took too long, so that the hits found so far are
    /// returned. Returns any other error.
    fn forgive(&self, error: Self::Error) -> impl Future<Output = Result<(), Self::Error>>;

    /// Adds to each hit the current session of its conversation, the title of that session, and, if they are wanted, the
    /// neighbouring messages.
    fn surround(&self, hits: &mut [Hit], with_neighbours: bool) -> impl Future<Output = Result<(), Self::Error>>;
}

/// Totals of a store.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals {
    /// Number of messages.
    pub messages: u64,
    /// Average number of words of a message.
    pub average: f64,
}

/// Which messages are ranked, and how.
#[derive(Debug, Clone)]
pub struct Ranking<W> {
    /// Condition that all of them meet, as far as an index knows.
    pub whole: Option<W>,
    /// Alternatives by which they differ, with their weights; at most 64. Without any, all weigh the same.
    pub choices: Vec<(W, f64)>,
    /// Whether exactly the messages with one of the alternatives match, regardless of `whole`.
    pub is_covered: bool,
    /// Their size classes, see [`crate::lexemes::size`]; all if `None`.
    pub sizes: Option<RangeInclusive<u32>>,
    /// Influence of the length.
    pub brevity: Brevity,
    /// Id of the newest message that is considered.
    pub newest: i64,
}

impl<W> Ranking<W> {
    /// Returns the weight of a message that has these alternatives, one bit for each.
    pub fn weight(&self, has: u64) -> f64 {
        if self.choices.is_empty() {
            return 1.0;
        }
        let weights = self.choices.iter().enumerate();
        weights.fold(0.0, |sum, (place, (_, weight))| sum + (has >> place & 1) as f64 * weight)
    }
}

/// Influence of the length of a message, in a form that a server can compute with the same result as this process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Brevity {
    /// Divisor of the weight for a message without words.
    pub base: f64,
    /// Amount added to the divisor for each word.
    pub step: f64,
}

impl Brevity {
    /// Returns the form of [`rank::brevity`] for messages of this average length.
    pub fn new(average: f64) -> Self {
        const FAR: u32 = 1 << 16;
        let base = 1.0 / rank::brevity(0, average);
        Self { base, step: (1.0 / rank::brevity(FAR, average) - base) / f64::from(FAR) }
    }

    /// Returns the score of a message.
    pub fn score(&self, weight: f64, length: u32) -> f64 {
        weight / (self.base + self.step * f64::from(length))
    }
}

/// A message that may match.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Its id and score.
    pub place: Place,
    /// Number of words.
    pub length: u32,
    /// Alternatives that it has, one bit for each.
    pub has: u64,
}

/// A place in the order of an answer: better score first, then newer message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Score of the message.
    pub score: f64,
    /// Id of the message.
    pub id: i64,
}

impl Place {
    /// Returns whether it comes after another place.
    pub fn is_after(&self, other: &Self) -> bool {
        self.score.total_cmp(&other.score).then(self.id.cmp(&other.id)).is_lt()
    }
}

/// A message with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// Its id.
    pub id: i64,
    /// Its session.
    pub session: Arc<Card>,
    /// Role of the speaker.
    pub role: Role,
    /// Time of the message.
    pub said_at: Timestamp,
    /// Name of the tool, if it is the result of one.
    pub tool_name: Option<String>,
    /// Text as a person wrote it.
    pub text: String,
}

/// The fields of a session that hits have.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// Its id.
    pub id: SessionId,
    /// Its source.
    pub source: Source,
    /// Its model.
    pub model: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its start time.
    pub started_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brevity_is_that_of_the_domain() {
        for average in [0.0, 1.0, 33.3, 5_000.0] {
            let brevity = Brevity::new(average);
            for length in [0, 1, 2, 20, 1_000, 123_456, u32::MAX] {
                let (ours, theirs) = (brevity.score(2.0, length), 2.0 * rank::brevity(length, average));
                assert!((ours / theirs - 1.0).abs() < 1e-9, "{length} at {average}: {ours}, {theirs}");
            }
            assert!((0..100_000).is_sorted_by(|left, right| brevity.score(1.0, *left) > brevity.score(1.0, *right)));
        }
    }

    #[test]
    fn weights_are_summed_in_order() {
        let choice = |weight| ((), weight);
        let choices = vec![choice(0.1), choice(0.2), choice(0.3)];
        let mut ranking =
            Ranking { whole: None, choices, is_covered: false, sizes: None, brevity: Brevity::new(1.0), newest: 0 };
        assert_eq!([0, 1, 2, 5, 7].map(|has| ranking.weight(has)), [0.0, 0.1, 0.2, 0.1 + 0.3, 0.1 + 0.2 + 0.3]);
        ranking.choices.clear();
        assert_eq!(ranking.weight(0), 1.0);
    }
}
