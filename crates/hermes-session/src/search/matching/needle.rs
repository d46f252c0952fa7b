//! A term prepared for searching.

use super::{Term, fold};
use crate::search::tokens::is_border;
use memchr::memmem::Finder;
use std::ops::Range;

/// Identity of a needle. Needles with equal keys match at the same places.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    is_raw: bool,
    is_prefix: bool,
    text: String,
}

#[derive(Debug, Clone)]
pub(super) struct Needle {
    /// Whether it is searched for in the text as written.
    pub(super) is_raw: bool,
    is_prefix: bool,
    text: String,
    finder: Finder<'static>,
}

impl Needle {
    pub(super) fn new(term: &Term) -> Self {
        let folded = fold(&term.text);
        let is_raw = folded.is_empty();
        let text = if is_raw { term.text.clone() } else { folded.into_owned() };
        let finder = Finder::new(&text).into_owned();
        Self { is_raw, is_prefix: term.is_prefix, text, finder }
    }

    /// Returns the identity of the needle.
    pub(super) fn key(&self) -> Key {
        Key { is_raw: self.is_raw, is_prefix: self.is_prefix, text: self.text.clone() }
    }

    /// Returns its first position.
    pub(super) fn first(&self, text: &str) -> Option<usize> {
        self.finder.find(text.as_bytes())
    }

    /// Returns whether it occurs as whole words; `first` is its first position.
    pub(super) fn is_whole_from(&self, text: &str, first: usize) -> bool {
        self.next_whole(text, first).is_some()
    }

    /// Returns the first position from `from` on at which it starts and ends at word borders.
    fn next_whole(&self, text: &str, from: usize) -> Option<usize> {
        let mut at = from;
        loop {
            at += self.finder.find(text.as_bytes().get(at..)?)?;
            if !begins(text, at) {
                // Occurrences overlap, but the next one that counts is after a word border. So a long run of one letter
                // is skipped at once.
                at = next_border(text, at)?;
            } else if self.is_prefix || begins(text, at + self.text.len()) {
                return Some(at);
            } else {
                at += text[at..].chars().next()?.len_utf8();
            }
        }
    }

    /// Returns the places where it occurs as whole words, or all places if there are none. They do not overlap.
    pub(super) fn places(&self, text: &str, most: usize) -> Vec<Range<usize>> {
        if self.text.is_empty() {
            return Vec::new();
        }
        let mut places = Vec::new();
        let mut from = 0;
        while places.len() < most
            && let Some(at) = self.next_whole(text, from)
        {
            from = at + self.text.len();
            places.push(at..from);
        }
        if places.is_empty() {
            let all = self.finder.find_iter(text.as_bytes()).take(most);
            places.extend(all.map(|at| at..at + self.text.len()));
        }
        places
    }
}

/// Returns whether a word may begin, or have ended, at a position.
fn begins(text: &str, at: usize) -> bool {
    is_border(text[..at].chars().next_back(), text[at..].chars().next())
}

/// Returns the next position after this one at which a word may begin.
fn next_border(text: &str, at: usize) -> Option<usize> {
    let mut characters = text[at..].char_indices();
    let (_, mut before) = characters.next()?;
    characters
        .find(|(_, next)| is_border(Some(std::mem::replace(&mut before, *next)), Some(*next)))
        .map(|(length, _)| at + length)
}
