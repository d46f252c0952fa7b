//! Needles: byte sequences and rare words by which remains of an erased text are recognised.
//!
//! Before an erasure, needles of the text are collected. Those that also occur in texts that stay are dropped. Then the
//! places where nothing should be left are scanned for the others. Every needle found is reported; none is dismissed as
//! a coincidence.
//!
//! Why not `aho-corasick`: its automaton is slower for many needles. Scanning 64 MiB of words for 100, 2,000 and 50,000
//! needles took 0.21, 0.19 and 0.48 s with the filter below; 1.20, 0.82 and 3.65 s with its contiguous NFA; 0.13, 0.30
//! and 2.76 s with its DFA, which needs 102 MiB for the last (overlapping matches, release build, two busy cores:
//! compare within a row). Needles are also removed one by one, which an automaton does not support.

use crate::search::fold::fold;
use crate::search::tokens;
use std::collections::{BTreeSet, HashMap};

/// Length of a stretch in bytes. A shorter text is searched for as a whole.
const STRETCH: usize = 24;
/// Minimum length of a needle in bytes. Shorter ones would match by chance.
const LEAST: usize = 8;
/// Distance in bytes between the starts of two stretches of a text, as long as it has no more than [`MAX_STRETCHES`].
const APART: usize = 512;
/// Maximum number of stretches of one text.
const MAX_STRETCHES: usize = 256;
/// Minimum length of a word that is searched for, in characters.
const LETTERS: usize = 6;
/// log2 of the filter's size in bits. The filter rules out most positions quickly.
const BITS: u32 = 20;

/// Needles of texts that should be erased.
#[derive(Debug)]
pub struct Needles {
    /// Every needle; `None` for one that was dropped.
    all: Vec<Option<Vec<u8>>>,
    /// Needles by their first bytes.
    by_start: HashMap<u64, Vec<usize>>,
    /// Bit set over the keys of `by_start`, checked first.
    filter: Vec<u64>,
    /// Folded words, each with the needles that are spellings of it.
    words: HashMap<String, Vec<usize>>,
    known: BTreeSet<Vec<u8>>,
}

impl Default for Needles {
    fn default() -> Self {
        Self {
            all: Vec::new(),
            by_start: HashMap::new(),
            filter: vec![0; 1 << (BITS - 6)],
            words: HashMap::new(),
            known: BTreeSet::new(),
        }
    }
}

impl Needles {
    /// Number of bytes by which two chunks of one text have to overlap, so that no needle is cut between them.
    pub const OVERLAP: usize = 64;

    /// Adds needles of a text that should be gone.
    pub fn take(&mut self, text: &[u8]) {
        if text.len() >= LEAST {
            let last = text.len().saturating_sub(STRETCH);
            let apart = APART.max(text.len() / MAX_STRETCHES);
            for start in (0..last).step_by(apart).chain([last]) {
                self.add(&text[start..text.len().min(start + STRETCH)]);
            }
        }
        let text = String::from_utf8_lossy(text);
        let folded = fold(&text);
        for (spelling, length) in words(&text).chain(words(&folded)) {
            let place = self.add(&spelling.as_bytes()[..length]);
            self.words.entry(fold(spelling).into_owned()).or_default().extend(place);
        }
    }

    /// Drops every needle that occurs in a text that stays.
    pub fn keep(&mut self, text: &[u8]) {
        for place in self.within(text) {
            self.all[place] = None;
        }
        if self.words.is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(text);
        let folded = fold(&text);
        for range in tokens::words(&folded) {
            self.forget_word(&folded[range]);
        }
        for place in self.within(folded.as_bytes()) {
            self.all[place] = None;
        }
    }

    fn forget_word(&mut self, word: &str) {
        for place in self.words.remove(word).unwrap_or_default() {
            self.all[place] = None;
        }
    }

    /// Returns the number of needles and the number of words.
    pub fn count(&self) -> (u64, u64) {
        (self.all.iter().flatten().count() as u64, self.words.len() as u64)
    }

    /// Returns whether a vocabulary entry is one of the words.
    pub fn has_word(&self, word: &str) -> bool {
        self.words.contains_key(word)
    }

    /// Returns the first needle in `bytes`, with its offset.
    pub fn find(&self, bytes: &[u8]) -> Option<(usize, &[u8])> {
        self.hits(bytes).next().and_then(|(at, place)| Some((at, self.all[place].as_deref()?)))
    }

    /// Returns whether `bytes` contain a whole stretch. A word or a short text alone may occur for other reasons.
    pub fn has_stretch_of(&self, bytes: &[u8]) -> bool {
        let is_long = |place: usize| self.all[place].as_ref().is_some_and(|needle| needle.len() >= STRETCH);
        self.hits(bytes).any(|(_, place)| is_long(place))
    }

    fn within(&self, bytes: &[u8]) -> Vec<usize> {
        let mut places: Vec<usize> = self.hits(bytes).map(|(_, place)| place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Returns the offset and the place of every needle in `bytes`.
    fn hits<'a>(&'a self, bytes: &'a [u8]) -> impl Iterator<Item = (usize, usize)> + 'a {
        let starts = bytes.windows(LEAST).enumerate().filter_map(|(at, window)| {
            let start = key(window);
            let bit = slot(start);
            (self.filter[bit / 64] >> (bit % 64) & 1 == 1).then_some((at, start))
        });
        starts.flat_map(move |(at, start)| {
            let places = self.by_start.get(&start).map_or(&[][..], Vec::as_slice).iter().copied();
            let stands =
                move |place: &usize| self.all[*place].as_ref().is_some_and(|needle| bytes[at..].starts_with(needle));
            places.filter(stands).map(move |place| (at, place))
        })
    }

    fn add(&mut self, bytes: &[u8]) -> Option<usize> {
        // A run of one repeated byte identifies nothing.
        let is_plain = bytes.iter().all(|byte| *byte == bytes[0]);
        if bytes.len() < LEAST || is_plain || !self.known.insert(bytes.to_vec()) {
            return None;
        }
        let (place, start) = (self.all.len(), key(bytes));
        let bit = slot(start);
        self.filter[bit / 64] |= 1 << (bit % 64);
        self.by_start.entry(start).or_default().push(place);
        self.all.push(Some(bytes.to_vec()));
        Some(place)
    }
}

/// Returns the words of a text that are long enough, each with the number of its bytes that are searched for.
fn words(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let long = tokens::words(text).map(|range| &text[range]).filter(|word| word.chars().count() >= LETTERS);
    long.map(|word| (word, word.floor_char_boundary(Needles::OVERLAP)))
}

fn key(bytes: &[u8]) -> u64 {
    bytes.iter().take(LEAST).fold(0, |key, byte| key << 8 | u64::from(*byte))
}

fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Needles {
        let mut needles = Needles::default();
        needles.take(text.as_bytes());
        needles
    }

    #[test]
    fn a_text_is_known_by_its_start_its_end_and_its_words() {
        let text = format!("The secret of Kilimanjaro is {} hidden under the ninth stone", "x ".repeat(2_000));
        let needles = of(&text);
        for left in [&text[..24], &text[text.len() - 24..], "…Kilimanjaro…", "kilimanjaro", &text[1_024..1_048]] {
            assert!(needles.find(left.as_bytes()).is_some(), "{left}");
        }
        for other in ["The secret of", "ninth", "KILIMANJARO", "stone under hidden the"] {
            assert!(needles.find(other.as_bytes()).is_none(), "{other}");
        }
        assert!(needles.has_word("kilimanjaro") && needles.has_word("secret") && !needles.has_word("ninth"));
        assert_eq!(needles.find(b"0123 kilimanjaro").unwrap().0, 5);
    }

    #[test]
    fn what_stays_is_no_sign() {
        let mut needles = of("meet at Kilimanjaro tomorrow morning at eight o'clock");
        needles.keep("KILIMANJARO is high; tomorrow".as_bytes());
        assert!(!needles.has_word("kilimanjaro") && needles.find(b"Kilimanjaro").is_none());
        assert!(needles.has_word("morning") && needles.find(b"meet at Kilimanjaro tomo").is_some());
        needles.keep("… meet at Kilimanjaro tomorrow …".as_bytes());
        assert!(needles.find(b"meet at Kilimanjaro tomo").is_none());
        assert!(needles.find(b"morning at eight o'clock").is_some(), "its end is a sign still");
        assert!(needles.find(b"orning at eight o'clock").is_none());
    }

    #[test]
    fn a_stretch_is_distinguished_from_a_word() {
        let needles = of("the delegation was completed at Kilimanjaro");
        assert!(!needles.has_stretch_of(b"completed") && !needles.has_stretch_of(b"Kilimanjaro, delegation"));
        assert!(needles.has_stretch_of(b"{\"result\": \"the delegation was completed at Kilimanjaro\"}"));
    }

    #[test]
    fn short_and_plain_texts_are_no_signs() {
        assert_eq!(of("short").count(), (0, 0));
        assert_eq!(of(&"-".repeat(100)).count(), (0, 0));
        let cjk = of("大别山项目的进展");
        assert!(cjk.find("…大别山项目的进展".as_bytes()).is_some() && cjk.find("大别山项".as_bytes()).is_none());
        assert_eq!(of("\u{fffd}x").count(), (0, 0));
        let mut bytes = Needles::default();
        bytes.take(b"\xff\xfe\x00\x01binary\x80\x81\x82");
        assert!(bytes.find(b"..\xff\xfe\x00\x01binary\x80\x81\x82..").is_some());
    }
}
