//! Requests that a search sends to a server.
//!
//! One value answers one search, within one transaction: it knows the filter of the request and returns admitted
//! messages only.

use super::wanted::Wanted;
use hermes_session::search::{Hit, rank};
use hermes_session::{Role, SessionId, Source, Timestamp};
use std::ops::RangeInclusive;

/// An index of lexemes, a vocabulary, and the messages.
pub trait Postings: Sync {
    /// Reason why a request failed.
    type Error: Send;

    /// Returns the id of the newest message, admitted or not; 0 if there is none.
    fn newest(&self) -> impl Future<Output = Result<i64, Self::Error>> + Send;

    /// Returns the approximate number of messages and their average length.
    fn totals(&self) -> impl Future<Output = Result<Totals, Self::Error>> + Send;

    /// Returns at most `limit` words of the vocabulary, in any order unless [`Lookup`] says otherwise.
    fn terms(&self, lookup: Lookup<'_>, limit: usize) -> impl Future<Output = Result<Vec<String>, Self::Error>> + Send;

    /// Returns for each of several lookups what [`terms`](Self::terms) returns. A store that scans its vocabulary scans it once.
    fn terms_of_each(
        &self,
        lookups: &[Lookup<'_>],
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Vec<String>>, Self::Error>> + Send {
        async move {
            let mut found = Vec::with_capacity(lookups.len());
            for lookup in lookups {
                found.push(self.terms(*lookup, limit).await?);
            }
            Ok(found)
        }
    }

    /// Returns the approximate number of messages that match each of these. `are_next` says that the messages that have one of
    /// them are ranked next, so that a store may keep what it finds.
    fn counts(&self, wanted: &[Wanted], are_next: bool) -> impl Future<Output = Result<Vec<u64>, Self::Error>> + Send;

    /// Returns the best messages after a place, in order: at most `limit`, and fewer only if there are no more.
    /// Messages that are not listed are left out.
    fn ranked(
        &self,
        ranking: &Ranking,
        after: Option<Place>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Candidate>, Self::Error>> + Send;

    /// Returns the newest messages before an id that match `wanted` (any if `None`), and those that are not listed;
    /// with their lengths, newest first. At most `limit`, and fewer only if there are no more.
    fn latest(
        &self,
        wanted: Option<&Wanted>,
        before: i64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<(i64, u32)>, Self::Error>> + Send;

    /// Returns the messages up to an id that are not listed, with their lengths.
    fn unlisted(&self, newest: i64) -> impl Future<Output = Result<Vec<(i64, u32)>, Self::Error>> + Send;

    /// Returns these messages, in any order, if they are admitted and their session exists.
    fn said(&self, ids: &[i64]) -> impl Future<Output = Result<Vec<Said>, Self::Error>> + Send;

    /// Returns the conversations of messages, by any name that is the same for all messages of a conversation.
    fn conversations(&self, ids: &[i64]) -> impl Future<Output = Result<Vec<(i64, String)>, Self::Error>> + Send;

    /// Recovers from a statement that was given up because it took too long, so that the hits found so far are
    /// returned. Returns any other error.
    fn forgive(&self, error: Self::Error) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Adds to each hit the current session of its conversation, the title of that session, and the neighbouring
    /// messages.
    fn surround(&self, hits: &mut [Hit]) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// Totals of a store.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals {
    /// Number of messages.
    pub messages: u64,
    /// Average number of words of a message.
    pub average: f64,
}

/// A lookup in the vocabulary: words that contain this text, end with it, or begin with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// Anywhere.
    Containing(&'a str),
    /// At the end.
    Ending(&'a str),
    /// At the beginning; the words are returned in order.
    Beginning(&'a str),
}

/// Which messages are ranked, and how.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// Condition that all of them meet, as far as an index knows.
    pub whole: Option<Wanted>,
    /// Alternatives by which they differ, with their weights; at most 64. Without any, all weigh the same.
    pub choices: Vec<(Wanted, f64)>,
    /// Whether exactly the messages with one of the alternatives match, regardless of `whole`.
    pub is_covered: bool,
    /// Their size classes, see [`super::lexemes::size`]; all if `None`.
    pub sizes: Option<RangeInclusive<u32>>,
    /// Influence of the length.
    pub brevity: Brevity,
    /// Id of the newest message that is considered.
    pub newest: i64,
}

impl Ranking {
    /// Returns the condition on messages with an alternative (or any, if `None`): the alternative, `whole` and the
    /// sizes.
    pub fn wanted(&self, choice: Option<&Wanted>) -> Option<Wanted> {
        let whole = self.whole.as_ref().filter(|_| !self.is_covered).cloned();
        let sizes = self.sizes.clone().map(Wanted::sizes);
        let mut parts: Vec<Wanted> = [choice.cloned(), whole, sizes].into_iter().flatten().collect();
        if parts.len() > 1 { Some(Wanted::All(parts)) } else { parts.pop() }
    }

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
    pub session: SessionId,
    /// Source of the session.
    pub source: Source,
    /// Model of the session.
    pub model: Option<String>,
    /// Title of the session.
    pub title: Option<String>,
    /// Start time of the session.
    pub started_at: Timestamp,
    /// Role of the speaker.
    pub role: Role,
    /// Time of the message.
    pub said_at: Timestamp,
    /// Name of the tool, if it is the result of one.
    pub tool_name: Option<String>,
    /// Text as a person wrote it.
    pub text: String,
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
        let choice = |weight| (Wanted::Any(Vec::new()), weight);
        let choices = vec![choice(0.1), choice(0.2), choice(0.3)];
        let mut ranking =
            Ranking { whole: None, choices, is_covered: false, sizes: None, brevity: Brevity::new(1.0), newest: 0 };
        assert_eq!([0, 1, 2, 5, 7].map(|has| ranking.weight(has)), [0.0, 0.1, 0.2, 0.1 + 0.3, 0.1 + 0.2 + 0.3]);
        ranking.choices.clear();
        assert_eq!(ranking.weight(0), 1.0);
    }
}
