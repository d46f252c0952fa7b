//! What a server is asked for during a search.
//!
//! One value of it answers one search, within one snapshot: it knows the filter of the request, and tells of admitted messages alone.

use super::wanted::Wanted;
use hermes_session::search::{Hit, rank};
use hermes_session::{Role, SessionId, Source, Timestamp};
use std::ops::RangeInclusive;

/// An index of lexemes, a vocabulary, and the messages.
pub trait Postings: Sync {
    /// Why it can't answer.
    type Error: Send;

    /// The newest message there is, admitted or not; 0 if there is none.
    fn newest(&self) -> impl Future<Output = Result<i64, Self::Error>> + Send;

    /// How many messages there are and how long they are, about.
    fn totals(&self) -> impl Future<Output = Result<Totals, Self::Error>> + Send;

    /// Words of the vocabulary, in any order; so many at most.
    fn terms(&self, lookup: Lookup<'_>, limit: usize) -> impl Future<Output = Result<Vec<String>, Self::Error>> + Send;

    /// In how many messages each of these is, about.
    fn counts(&self, wanted: &[Wanted]) -> impl Future<Output = Result<Vec<u64>, Self::Error>> + Send;

    /// The best messages behind a place, in order; so many at most, and fewer only if there are no more. Messages that are not listed are left out.
    fn ranked(
        &self,
        ranking: &Ranking,
        after: Option<Place>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<Candidate>, Self::Error>> + Send;

    /// The newest messages before an id that have something, or any if nothing is said, and those that are not listed; with their
    /// lengths, newest first. So many at most, and fewer only if there are no more.
    fn latest(
        &self,
        wanted: Option<&Wanted>,
        before: i64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<(i64, u32)>, Self::Error>> + Send;

    /// The messages up to an id that are not listed, with their lengths.
    fn unlisted(&self, newest: i64) -> impl Future<Output = Result<Vec<(i64, u32)>, Self::Error>> + Send;

    /// These messages, in any order, as far as they are admitted and their session is there.
    fn said(&self, ids: &[i64]) -> impl Future<Output = Result<Vec<Said>, Self::Error>> + Send;

    /// The conversations of messages, by any name that is the same for all messages of one.
    fn conversations(&self, ids: &[i64]) -> impl Future<Output = Result<Vec<(i64, String)>, Self::Error>> + Send;

    /// Goes on after a question that was given up because it took too long: what was found until then is told. Any other error is given back.
    fn forgive(&self, error: Self::Error) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Tells of each hit where its conversation goes on, what that is called, and the messages beside it.
    fn surround(&self, hits: &mut [Hit]) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// What a store has in all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Totals {
    /// How many messages there are.
    pub messages: u64,
    /// How many words one has on average.
    pub average: f64,
}

/// A question to the vocabulary: words with this in them, at their end, or at their beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lookup<'a> {
    /// Anywhere.
    Containing(&'a str),
    /// At the end.
    Ending(&'a str),
    /// At the beginning; the words come in order.
    Beginning(&'a str),
}

/// Which messages are ranked, and how.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// What they all have, as far as an index knows.
    pub whole: Option<Wanted>,
    /// What tells them apart, with its weight; 64 at most. Without any, all weigh the same.
    pub choices: Vec<(Wanted, f64)>,
    /// Whether those that have a choice are all that are meant, whatever `whole` says.
    pub is_covered: bool,
    /// Their sizes, see [`super::lexemes::size`]; all if nothing is said.
    pub sizes: Option<RangeInclusive<u32>>,
    /// How much their length counts.
    pub brevity: Brevity,
    /// The newest of them.
    pub newest: i64,
}

impl Ranking {
    /// What a message has that has one of the choices, or of which none is asked for: as a whole, in its size, and the choice.
    pub fn wanted(&self, choice: Option<&Wanted>) -> Option<Wanted> {
        let whole = self.whole.as_ref().filter(|_| !self.is_covered).cloned();
        let sizes = self.sizes.clone().map(Wanted::sizes);
        let mut parts: Vec<Wanted> = [choice.cloned(), whole, sizes].into_iter().flatten().collect();
        if parts.len() > 1 { Some(Wanted::All(parts)) } else { parts.pop() }
    }

    /// What a message weighs that has these choices, a bit for each.
    pub fn weight(&self, has: u64) -> f64 {
        if self.choices.is_empty() {
            return 1.0;
        }
        let weights = self.choices.iter().enumerate();
        weights.fold(0.0, |sum, (place, (_, weight))| sum + (has >> place & 1) as f64 * weight)
    }
}

/// How much the length of a message counts, in a form that a server can calculate with: it gives the same numbers there and here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Brevity {
    /// What a weight is divided by for a message of no words.
    pub base: f64,
    /// What is added to that for each word.
    pub step: f64,
}

impl Brevity {
    /// As [`rank::brevity`] has it, among messages of a length.
    pub fn new(average: f64) -> Self {
        const FAR: u32 = 1 << 16;
        let base = 1.0 / rank::brevity(0, average);
        Self { base, step: (1.0 / rank::brevity(FAR, average) - base) / f64::from(FAR) }
    }

    /// The score of a message.
    pub fn score(&self, weight: f64, length: u32) -> f64 {
        weight / (self.base + self.step * f64::from(length))
    }
}

/// A message that may be meant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Which one, and how good it is.
    pub place: Place,
    /// How many words it has.
    pub length: u32,
    /// Which choices it has, a bit for each.
    pub has: u64,
}

/// A place in the order of an answer: the better score first, and of equals the newer message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// How well a message matches.
    pub score: f64,
    /// The message.
    pub id: i64,
}

impl Place {
    /// Whether it comes after another one.
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
    /// Where that comes from.
    pub source: Source,
    /// Its model.
    pub model: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// When it started.
    pub started_at: Timestamp,
    /// Who said it.
    pub role: Role,
    /// When.
    pub said_at: Timestamp,
    /// The tool, in a tool's result.
    pub tool_name: Option<String>,
    /// What was said, as a person wrote it.
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
