//! Samples a few words, independent of the order in which they are met.

use crate::Message;
use crate::script::is_paired;
use crate::search::fold::fold;
use crate::search::tokens::words;
use std::collections::BTreeMap;

/// Number of words kept. Some occur too often to be compared.
const KEPT: usize = 36;
/// Number of characters examined per message.
const LOOKED_AT: usize = 400;
/// Minimum and maximum length of a word, in characters. In scripts without spaces two characters are taken.
const SHORTEST: usize = 4;
const LONGEST: usize = 30;

/// Words of messages, each equally likely to be chosen however often it occurs.
#[derive(Debug, Default)]
pub(super) struct Sample {
    /// By a hash of the word; those with the smallest hashes stay.
    words: BTreeMap<u64, String>,
}

impl Sample {
    /// Samples words of a message.
    pub(super) fn add(&mut self, message: &Message) {
        let text = message.body.plain_text();
        let start = text.char_indices().nth(LOOKED_AT).map_or(&*text, |(end, _)| &text[..end]);
        let folded = fold(start);
        let found: Vec<_> = words(&folded).collect();
        for (at, range) in found.iter().enumerate() {
            let word = &folded[range.clone()];
            if word.starts_with(is_paired) {
                // Two adjacent characters.
                match found.get(at + 1) {
                    Some(next) if next.start == range.end && folded[next.clone()].starts_with(is_paired) => {
                        self.take(&folded[range.start..next.end]);
                    }
                    _ => {}
                }
            } else if (SHORTEST..=LONGEST).contains(&word.chars().count()) && found.len() > 1 {
                self.take(word);
            }
        }
    }

    fn take(&mut self, word: &str) {
        let number = number(word);
        if self.words.len() >= KEPT && self.words.last_key_value().is_some_and(|(last, _)| *last <= number) {
            return;
        }
        self.words.entry(number).or_insert_with(|| word.to_owned());
        if self.words.len() > KEPT {
            self.words.pop_last();
        }
    }

    /// Returns the words.
    pub(super) fn words(self) -> impl Iterator<Item = String> {
        self.words.into_values()
    }
}

/// Returns a hash of a word (FNV-1a, mixed).
fn number(word: &str) -> u64 {
    let hash = word
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MessageBody, MessageId, Role, SessionId, Timestamp};

    fn sampled(texts: &[&str]) -> Vec<String> {
        let mut sample = Sample::default();
        for text in texts {
            let body = MessageBody::new(Role::User, *text);
            sample.add(&Message::new(MessageId(1), SessionId::from_stored("s"), Timestamp::EPOCH, body));
        }
        sample.words().collect()
    }

    #[test]
    fn words_and_pairs_are_taken_whatever_the_order() {
        let mut found = sampled(&["The Größe of it", "去大别山 now", "alone"]);
        found.sort();
        assert_eq!(found, ["grosse", "别山", "去大", "大别"]);
        let many: Vec<String> = (0..500).map(|number| format!("word{number} and")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let backwards: Vec<&str> = many.iter().rev().copied().collect();
        assert_eq!(sampled(&many).len(), KEPT);
        assert_eq!(sampled(&many), sampled(&backwards));
    }
}
