//! How well a message matches, told without its text.

use super::plan::Plan;
use hermes_session::search::SearchCursor;
use hermes_session::search::matching::Tier;
use std::cmp::Ordering;

/// A message with how well it matches.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scored {
    pub(super) score: f64,
    pub(super) id: i64,
}

impl Scored {
    /// Whether it comes after the hit that the page before ended with.
    pub(super) fn is_after(&self, cursor: Option<&SearchCursor>) -> bool {
        cursor.is_none_or(|cursor| {
            cursor.tier == Tier::Words
                && self.score.total_cmp(&cursor.score).then(self.id.cmp(&cursor.message.0)) == Ordering::Less
        })
    }
}

/// The better one is the greater; of equals the newer one.
impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scored {}

/// What the choices weigh that a message has, for messages in order.
pub(super) struct Choices<'p> {
    lists: Vec<(&'p [i64], f64)>,
}

impl<'p> Choices<'p> {
    pub(super) fn new(plan: &'p Plan<'_>, weights: &[f64]) -> Self {
        Self { lists: plan.choices.iter().zip(weights).map(|((_, ids), weight)| (ids.as_slice(), *weight)).collect() }
    }

    /// The weight of a message; ids have to rise from call to call.
    pub(super) fn weight(&mut self, id: i64) -> f64 {
        if self.lists.is_empty() {
            return 1.0;
        }
        let mut sum = 0.0;
        for (ids, weight) in &mut self.lists {
            while let [first, rest @ ..] = *ids
                && *first < id
            {
                *ids = rest;
            }
            if ids.first() == Some(&id) {
                sum += *weight;
            }
        }
        sum
    }
}

/// About how many tokens a text has that no index knows.
pub(super) fn length(text: &str) -> u32 {
    u32::try_from(text.len() / 6).unwrap_or(u32::MAX)
}
