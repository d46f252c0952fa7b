//! Decides whether a message matches: the reference that every store agrees with.
//!
//! A term matches where its folded text occurs in the folded text of the message, even across words, punctuation and
//! spaces. A term that folds to nothing, such as an accent alone, is searched for as written. `NOT` means that a term
//! occurs nowhere, not even as a part of a word.

use super::fold::{Folded, fold, fold_with};
use super::query::{Node, Query, Term};
use needle::{Key, Needle};
use std::collections::HashMap;
use std::ops::Range;

mod needle;
pub mod reference;

/// Maximum number of highlighted places in a text.
pub const MAX_MARKS: usize = 1_000;

/// How a message matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// In whole words: each term begins at the start of a word, and ends at the end of one unless it is a prefix.
    Words,
    /// Only as a part of words.
    Pieces,
}

/// A query, prepared for matching many messages.
#[derive(Debug, Clone)]
pub struct Matcher {
    root: Part,
    /// Each distinct term once.
    needles: Vec<Needle>,
    /// Which of them are wanted, and not excluded.
    wanted: Vec<bool>,
}

#[derive(Debug, Clone)]
enum Part {
    /// Index of a needle.
    Term(usize),
    All(Vec<Part>),
    Any(Vec<Part>),
    Not(Box<Part>),
}

/// Buffers that are reused from text to text.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    folded: String,
    known: Vec<Known>,
}

/// Facts about a term in a text.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    /// Its first position; `Some(None)` if it does not occur, `None` if that is not known yet.
    first: Option<Option<usize>>,
    /// Whether it occurs as whole words; `None` if that is not known yet.
    whole: Option<bool>,
}

impl Matcher {
    /// Prepares a query.
    pub fn new(query: &Query) -> Self {
        Self::of(query.root())
    }

    /// Prepares a part of a query.
    pub fn of(node: &Node) -> Self {
        let mut matcher = Self { root: Part::All(Vec::new()), needles: Vec::new(), wanted: Vec::new() };
        matcher.root = matcher.part(node, true, &mut HashMap::new());
        matcher
    }

    fn part(&mut self, node: &Node, is_wanted: bool, known: &mut HashMap<Key, usize>) -> Part {
        let mut all =
            |nodes: &[Node], known: &mut _| nodes.iter().map(|node| self.part(node, is_wanted, known)).collect();
        match node {
            Node::All(nodes) => Part::All(all(nodes, known)),
            Node::Any(nodes) => Part::Any(all(nodes, known)),
            Node::Term(term) => Part::Term(self.needle(term, is_wanted, known)),
            Node::Not(node) => Part::Not(Box::new(self.part(node, !is_wanted, known))),
        }
    }

    fn needle(&mut self, term: &Term, is_wanted: bool, known: &mut HashMap<Key, usize>) -> usize {
        let needle = Needle::new(term);
        let number = *known.entry(needle.key()).or_insert(self.needles.len());
        if number == self.needles.len() {
            self.needles.push(needle);
            self.wanted.push(false);
        }
        self.wanted[number] |= is_wanted;
        number
    }

    /// Returns how a text matches; `None` if it does not.
    pub fn tier(&self, text: &str) -> Option<Tier> {
        self.tier_with(text, &mut Scratch::default())
    }

    /// Returns how a text matches, reusing buffers for many texts; `None` if it does not match.
    pub fn tier_with(&self, text: &str, scratch: &mut Scratch) -> Option<Tier> {
        let folded = if self.needles.is_empty() { text } else { fold_with(text, &mut scratch.folded) };
        self.look(text, folded, &mut scratch.known)
    }

    /// Returns how a text matches whose folded form is known; `None` if it does not match.
    pub fn tier_of_folded(&self, text: &str, folded: &str, scratch: &mut Scratch) -> Option<Tier> {
        self.look(text, folded, &mut scratch.known)
    }

    fn look(&self, raw: &str, folded: &str, known: &mut Vec<Known>) -> Option<Tier> {
        known.clear();
        known.resize(self.needles.len(), Known::default());
        let mut look = Look { needles: &self.needles, raw, folded, known };
        if !look.holds(&self.root, Tier::Pieces) {
            None
        } else if look.holds(&self.root, Tier::Words) {
            Some(Tier::Words)
        } else {
            Some(Tier::Pieces)
        }
    }

    /// Returns where wanted terms occur in a text, in order; of each term only whole words if there are any.
    ///
    /// Places that overlap or touch are merged. They are whole characters with their accents, and at most the first
    /// [`MAX_MARKS`].
    pub fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let folded = Folded::new(text);
        let mut marks = Vec::new();
        for (needle, _) in self.needles.iter().zip(&self.wanted).filter(|(_, is_wanted)| **is_wanted) {
            if needle.is_raw {
                marks.extend(needle.places(text, MAX_MARKS));
            } else {
                marks.extend(needle.places(&folded.text, MAX_MARKS).into_iter().map(|place| folded.original(place)));
            }
        }
        marks.sort_unstable_by_key(|mark| (mark.start, mark.end));
        marks.dedup_by(|mark, before| {
            let joins = mark.start <= before.end;
            if joins {
                before.end = before.end.max(mark.end);
            }
            joins
        });
        marks.truncate(MAX_MARKS);
        marks
    }
}

/// Evaluation of one text, in which each term is searched once.
struct Look<'m> {
    needles: &'m [Needle],
    raw: &'m str,
    folded: &'m str,
    known: &'m mut [Known],
}

impl Look<'_> {
    fn holds(&mut self, part: &Part, tier: Tier) -> bool {
        match part {
            Part::Term(number) => self.has(*number, tier),
            Part::All(parts) => parts.iter().all(|part| self.holds(part, tier)),
            Part::Any(parts) => parts.iter().any(|part| self.holds(part, tier)),
            Part::Not(part) => !self.holds(part, Tier::Pieces),
        }
    }

    fn has(&mut self, number: usize, tier: Tier) -> bool {
        let (needle, known) = (&self.needles[number], &mut self.known[number]);
        let text = if needle.is_raw { self.raw } else { self.folded };
        let Some(first) = *known.first.get_or_insert_with(|| needle.first(text)) else { return false };
        match tier {
            Tier::Pieces => true,
            Tier::Words => *known.whole.get_or_insert_with(|| needle.is_whole_from(text, first)),
        }
    }
}

#[cfg(test)]
mod tests;
