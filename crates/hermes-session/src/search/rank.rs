//! Which hits come first.

use crate::MessageId;

/// How soon more of a word stops to count.
const K1: f64 = 1.2;
/// How much the length of a message counts.
const B: f64 = 0.75;

/// What a term weighs that is in `having` of `all` messages: the rarer, the more.
pub fn weight(having: u64, all: u64) -> f64 {
    let (having, all) = (having as f64, all.max(having) as f64);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// What a message of a length counts for each term in it, if it is `average` on average: the shorter, the more.
pub fn brevity(length: u32, average: f64) -> f64 {
    (K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * f64::from(length) / average))
}

/// A message that has some of the words of a relaxed query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The message.
    pub message: MessageId,
    /// Its conversation, as any number that is the same for all its messages.
    pub conversation: u32,
    /// Which words it has, a bit for each.
    pub words: u64,
    /// How many tokens it has.
    pub length: u32,
}

/// Messages in the order of a relaxed answer, with their scores: the best message of each conversation first, the best conversation first,
/// then the second of each.
pub fn relaxed(found: &[Found], weights: &[f64], average: f64) -> Vec<(MessageId, f64)> {
    let score = |found: &Found| -> f64 {
        let weight = |(word, weight): (usize, &f64)| if found.words >> word & 1 == 1 { *weight } else { 0.0 };
        weights.iter().enumerate().map(weight).sum::<f64>() * brevity(found.length, average)
    };
    let mut order: Vec<(MessageId, f64)> = found.iter().map(|found| (found.message, score(found))).collect();
    order.sort_by(|left, right| right.1.total_cmp(&left.1).then(right.0.cmp(&left.0)));
    order
}
