//! Ranking of hits.
//!
//! A query that matches as a whole weighs its terms in one message. A relaxed one looks for a *conversation*: the words
//! of a question are seldom in one message, and often in a few consecutive ones. So a conversation counts by its best
//! *stretch*, messages that are close to each other, and a little by its best message. The length of a conversation
//! then does not help it, and need not be known.

use crate::MessageId;
use std::cmp::Ordering;

/// Saturation of term frequency (BM25).
const K1: f64 = 1.2;
/// Influence of the message length (BM25).
const B: f64 = 0.75;

/// Maximum distance between messages of a stretch, in ids. Where many conversations run in parallel, the ids of one are
/// further apart than its messages.
const STRETCH: i64 = 32;
/// Saturation of the number of messages with a word in a stretch. The presence of a word counts most.
const STRETCH_K: f64 = 0.5;
/// Weight of the best message, relative to the best stretch.
const BEST: f64 = 0.25;

/// Returns the weight of a term that occurs in `having` of `all` messages: the rarer, the higher.
pub fn weight(having: u64, all: u64) -> f64 {
    let (having, all) = (having as f64, all.max(having) as f64);
    (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
}

/// Returns the factor for each term in a message of this length, given the average length: the shorter, the higher.
pub fn brevity(length: u32, average: f64) -> f64 {
    // If messages are empty on average, there is no length to compare with.
    (K1 + 1.0) / (1.0 + K1 * (1.0 - B + B * f64::from(length) / average.max(1.0)))
}

/// A message with some of the words of a relaxed query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The message.
    pub message: MessageId,
    /// Number of its conversation: any number that is equal for all messages of one conversation.
    pub conversation: u32,
    /// The words it contains, one bit each.
    pub words: u64,
    /// Number of its tokens.
    pub length: u32,
}

/// Returns messages in the order of a relaxed answer, with their scores: the best message of each conversation, best
/// conversation first, then the second of each, and so on.
///
/// Scores are between 0 and 1 and decrease along the order; of equals the newer message comes first. So score and
/// message determine the position of a hit. The order of `found` does not matter.
pub fn relaxed(found: &[Found], weights: &[f64], average: f64) -> Vec<(MessageId, f64)> {
    let weights = &weights[..weights.len().min(64)];
    let mut scored: Vec<Scored> = found.iter().map(|found| Scored::new(*found, weights, average)).collect();
    scored.sort_unstable_by_key(|scored| (scored.found.conversation, scored.found.message));
    let most = weights.iter().sum::<f64>() * (STRETCH_K + 1.0 + BEST * brevity(0, average));
    let mut conversations: Vec<(f64, &[Scored])> = Vec::new();
    for messages in scored.chunk_by_mut(|left, right| left.found.conversation == right.found.conversation) {
        let stretch = best_stretch(messages, weights);
        messages.sort_unstable_by(|left, right| best_first(&left.hit(), &right.hit()));
        let score = stretch + BEST * messages.first().map_or(0.0, |best| best.score);
        conversations.push((if most > 0.0 { (score / most).clamp(0.0, 1.0) } else { 0.0 }, messages));
    }
    conversations.sort_unstable_by(|left, right| right.0.total_cmp(&left.0));
    let mut order = Vec::with_capacity(found.len());
    for round in 0.. {
        conversations.retain(|(_, messages)| messages.len() > round);
        if conversations.is_empty() {
            break;
        }
        let start = order.len();
        let hit = |(share, messages): &(f64, &[Scored])| (messages[round].found.message, within(round, *share));
        order.extend(conversations.iter().map(hit));
        for equal in order[start..].chunk_by_mut(|left, right| left.1 == right.1) {
            equal.sort_unstable_by(best_first);
        }
    }
    order
}

/// Maps a share to the scores of a round: the first has those from 1/2 to 1, the second those from 1/3 to 1/2, and so
/// on.
fn within(round: usize, share: f64) -> f64 {
    let (low, high) = (1.0 / (round as f64 + 2.0), 1.0 / (round as f64 + 1.0));
    low + share * (high - low)
}

fn best_first(left: &(MessageId, f64), right: &(MessageId, f64)) -> Ordering {
    right.1.total_cmp(&left.1).then(right.0.cmp(&left.0))
}

#[derive(Debug, Clone, Copy)]
struct Scored {
    found: Found,
    score: f64,
}

impl Scored {
    fn new(found: Found, weights: &[f64], average: f64) -> Self {
        let score = bits(found.words, weights).map(|word| weights[word]).sum::<f64>() * brevity(found.length, average);
        Self { found, score }
    }

    fn hit(&self) -> (MessageId, f64) {
        (self.found.message, self.score)
    }
}

/// Returns the words of a message that have weights.
fn bits(words: u64, weights: &[f64]) -> impl Iterator<Item = usize> + use<> {
    let mut left = if weights.len() < 64 { words & ((1 << weights.len()) - 1) } else { words };
    std::iter::from_fn(move || {
        let word = left.trailing_zeros();
        left &= left.checked_sub(1)?;
        Some(word as usize)
    })
}

/// Returns the highest score of messages of a conversation within a [`STRETCH`]. They are given in the order of their
/// ids.
fn best_stretch(messages: &[Scored], weights: &[f64]) -> f64 {
    let mut having = [0u32; 64];
    let mut first = 0;
    let mut best = 0.0f64;
    for last in messages {
        bits(last.found.words, weights).for_each(|word| having[word] += 1);
        while last.found.message.0.saturating_sub(messages[first].found.message.0) > STRETCH {
            bits(messages[first].found.words, weights).for_each(|word| having[word] -= 1);
            first += 1;
        }
        let counted = weights.iter().zip(having).filter(|(_, having)| *having > 0);
        best = best.max(counted.map(|(weight, having)| weight * saturated(having)).sum());
    }
    best
}

fn saturated(having: u32) -> f64 {
    let having = f64::from(having);
    having * (STRETCH_K + 1.0) / (having + STRETCH_K)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEIGHTS: [f64; 3] = [1.0, 2.0, 4.0];

    fn found(message: i64, conversation: u32, words: u64) -> Found {
        Found { message: MessageId(message), conversation, words, length: 10 }
    }

    fn order(all: &[Found]) -> Vec<i64> {
        relaxed(all, &WEIGHTS, 10.0).into_iter().map(|(message, _)| message.0).collect()
    }

    #[test]
    fn the_rarer_a_term_the_more_it_weighs() {
        assert!(weight(1, 100) > weight(2, 100));
        assert!(weight(100, 100) > 0.0);
        assert_eq!(weight(5, 3), weight(5, 5), "messages that came while they were counted");
    }

    #[test]
    fn the_shorter_a_message_the_more_it_counts() {
        assert!(brevity(5, 10.0) > brevity(10, 10.0));
        assert!((brevity(10, 10.0) - 1.0).abs() < 1e-12);
        assert!(brevity(0, 0.0).is_finite());
    }

    #[test]
    fn words_that_answer_each_other_beat_one_message() {
        let alone = found(90, 1, 0b100);
        assert_eq!(order(&[found(10, 0, 0b001), found(12, 0, 0b010), alone]), [90, 12, 10]);
        assert_eq!(order(&[found(10, 0, 0b011), found(12, 0, 0b100), alone]), [12, 90, 10]);
    }

    #[test]
    fn words_far_apart_do_not_count_together() {
        let (near, far) = ([found(1, 0, 0b011), found(33, 0, 0b100)], [found(50, 1, 0b011), found(83, 1, 0b100)]);
        assert_eq!(order(&[near, far].concat())[..2], [33, 83]);
        let (near, far) = ([found(1, 0, 0b011), found(34, 0, 0b100)], [found(50, 1, 0b011), found(82, 1, 0b100)]);
        assert_eq!(order(&[near, far].concat())[..2], [82, 34]);
    }

    #[test]
    fn a_word_again_and_again_does_not_beat_another_word() {
        let again: Vec<Found> = (1..=30).map(|message| found(message, 0, 0b010)).collect();
        let both = [found(100, 1, 0b010), found(101, 1, 0b001)];
        assert_eq!(order(&[&again[..], &both].concat())[..2], [100, 30]);
    }

    #[test]
    fn each_conversation_is_heard_before_one_is_heard_again() {
        let all = [found(1, 0, 0b111), found(2, 0, 0b110), found(3, 0, 0b001), found(4, 1, 0b001), found(5, 2, 0b010)];
        assert_eq!(order(&all), [1, 5, 4, 2, 3]);
    }

    #[test]
    fn the_newer_comes_first_among_equals() {
        assert_eq!(order(&[found(7, 0, 1), found(8, 1, 1), found(6, 2, 1)]), [8, 7, 6]);
        assert_eq!(order(&[found(7, 0, 1), found(8, 0, 1)]), [8, 7]);
    }

    #[test]
    fn scores_fall_along_the_order_whatever_order_they_come_in() {
        let mut all: Vec<Found> =
            (0..500).map(|message| found(message, message as u32 * 7 % 23, message as u64 * 13 % 8)).collect();
        let first = relaxed(&all, &WEIGHTS, 10.0);
        all.reverse();
        assert_eq!(first, relaxed(&all, &WEIGHTS, 10.0));
        assert!(first.iter().all(|(_, score)| (0.0..=1.0).contains(score)));
        assert!(first.windows(2).all(|pair| best_first(&pair[0], &pair[1]) == Ordering::Less));
        assert_eq!(first.len(), 500);
    }

    #[test]
    fn nothing_in_nothing_out() {
        assert_eq!(relaxed(&[], &WEIGHTS, 10.0), []);
        assert_eq!(relaxed(&[found(1, 0, 0b1000)], &[], 0.0).len(), 1, "a word without a weight counts nothing");
    }
}
