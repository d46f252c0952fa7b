//! Conditions that a query puts on an index. They may over-approximate, but never miss a match.
//!
//! A term is cut into words in the same way as texts. An inner word occurs in the text as a whole; the first may be the
//! end of a longer word there, and the last the beginning of one. Every candidate is checked against its text, so for a
//! long term a part of it is enough.

use crate::lexemes::{self, is_sign};
use crate::wanted::Wanted;
use hermes_session::script::{self, is_paired};
use hermes_session::search::fold::fold;
use hermes_session::search::matching::Tier;
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::tokens;
use std::cmp::Reverse;
use std::collections::HashSet;

#[cfg(test)]
pub(super) mod tests;

/// Maximum number of conjuncts of a query that are asked for. The others are checked against the text only.
const MAX_PARTS: usize = 32;
/// Maximum number of alternatives that are asked for. With more, the index is not used.
const MAX_CHOICES: usize = 512;
/// Number of words at each end of a longer phrase that are asked for.
const MAX_PHRASE: usize = 12;
/// Maximum length, in characters, of a word prefix that occurs in nearly every message.
const VAGUE: usize = 1;
/// Maximum length, in bytes, of a word that is less selective than the signs beside it.
const SHORT: usize = 2;
/// Number of pairs that are asked for in a long run.
const MAX_RUN: usize = 12;
/// Number of pairs at which no further runs are asked for.
const MAX_PAIRS: usize = 64;
/// Maximum number of signs that are asked for.
const MAX_SIGNS: usize = 12;

/// A condition on an index.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Ask {
    /// No index can answer it: any message may match.
    Unknown,
    /// All of these; two or more.
    All(Vec<Ask>),
    /// One of these; two or more.
    Any(Vec<Ask>),
    /// A whole word.
    Word(String),
    /// A word with this prefix.
    Prefix(String),
    /// Consecutive words: [`Ask::Word`], at the beginning also [`Ask::Ending`], at the end also [`Ask::Prefix`].
    Row(Vec<Ask>),
    /// A word with this suffix. Looked up in the vocabulary.
    Ending(String),
    /// A word that contains this text. Looked up in the vocabulary.
    Piece(String),
    /// Two consecutive characters of a script that is searched by pairs.
    Pair(String),
    /// A character of such a script.
    Character(char),
    /// A sign.
    Sign(char),
}

impl Ask {
    /// Returns the condition of a query, in whole words or in pieces.
    pub fn of_query(query: &Query, tier: Tier) -> Self {
        Self::of_node(query.root(), tier)
    }

    /// Returns the condition of a part of a query.
    pub fn of_node(node: &Node, tier: Tier) -> Self {
        match node {
            // The index over-approximates, so it cannot answer NOT.
            Node::Not(_) => Self::Unknown,
            Node::Term(term) => Self::of_term(term, tier),
            Node::Any(nodes) if nodes.len() > MAX_CHOICES => Self::Unknown,
            Node::Any(nodes) => Self::any(nodes.iter().map(|node| Self::of_node(node, tier))),
            Node::All(nodes) => {
                let mut telling: Vec<&Node> = nodes.iter().filter(|node| !matches!(node, Node::Not(_))).collect();
                // Pieces of words are looked up one by one; longer ones are more selective.
                if tier == Tier::Pieces {
                    telling.sort_by_key(|node| Reverse(if let Node::Term(term) = node { term.text.len() } else { 0 }));
                }
                Self::all(telling.into_iter().take(MAX_PARTS).map(|node| Self::of_node(node, tier)))
            }
        }
    }

    /// Returns the condition of a term.
    pub fn of_term(term: &Term, tier: Tier) -> Self {
        let folded = fold(&term.text);
        let words: Vec<&str> =
            tokens::words(&folded).map(|range| &folded[range]).filter(|word| !word.starts_with(is_paired)).collect();
        let is_open = |end: Option<char>| end.is_some_and(|end| tokens::is_word(end) && !is_paired(end));
        let begins_inside = tier == Tier::Pieces && is_open(folded.chars().next());
        let ends_inside = (tier == Tier::Pieces || term.is_prefix) && is_open(folded.chars().next_back());
        let mut parts = pairs(&folded);
        match words[..] {
            [] => {}
            [piece] if begins_inside && ends_inside => parts.push(Self::Piece(piece.to_owned())),
            ref words => row(words, begins_inside, ends_inside, &mut parts),
        }
        // Signs are less selective than words, unless the word is as short as in `C++`.
        if parts.is_empty() || matches!(words[..], [word] if word.len() <= SHORT) {
            let mut signs: Vec<char> = folded.chars().filter(|character| is_sign(*character)).collect();
            signs.sort_unstable();
            signs.dedup();
            // The rarest signs have high code points.
            parts.extend(signs.into_iter().rev().take(MAX_SIGNS).map(Self::Sign));
        }
        Self::all(parts)
    }

    /// Returns the parts that have to be looked up in the vocabulary, in order.
    pub fn lookups(&self) -> Vec<&Self> {
        match self {
            Self::Ending(_) | Self::Piece(_) => vec![self],
            Self::All(parts) | Self::Any(parts) | Self::Row(parts) => parts.iter().flat_map(Self::lookups).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the lexemes that are asked for, or `None` if any message may match.
    ///
    /// `terms` returns the words of the vocabulary that match a part from [`Ask::lookups`], or `None` if there are too
    /// many.
    pub fn wanted(&self, terms: &impl Fn(&Self) -> Option<Vec<String>>) -> Option<Wanted> {
        Some(match self {
            Self::Unknown => return None,
            Self::All(parts) => {
                let mut parts: Vec<Wanted> = parts.iter().filter_map(|part| part.wanted(terms)).collect();
                if parts.len() > 1 { Wanted::All(parts) } else { parts.pop()? }
            }
            Self::Any(parts) => Wanted::Any(parts.iter().map(|part| part.wanted(terms)).collect::<Option<_>>()?),
            Self::Row(parts) => {
                let (first, rest) = match &parts[..] {
                    [first @ Self::Ending(_), rest @ ..] => (Some(first), rest),
                    all => (None, all),
                };
                let mut rest: Vec<Wanted> = rest.iter().filter_map(|part| part.wanted(terms)).collect();
                let row = |mut parts: Vec<Wanted>| match parts.len() {
                    1 => parts.pop(),
                    _ => Some(Wanted::Row(parts)),
                };
                let Some(ends) = first.and_then(terms) else { return row(rest) };
                // A word outside the vocabulary has a position, but its ending is not indexed.
                let aside = Wanted::All(vec![Wanted::any_data(), row(rest.clone())?]);
                rest.insert(0, Wanted::Any(ends.iter().map(|end| Wanted::term(end)).collect()));
                Wanted::Any(vec![Wanted::Row(rest), aside])
            }
            Self::Word(word) => Wanted::word(word),
            Self::Prefix(prefix) => Wanted::prefix(prefix),
            Self::Ending(_) | Self::Piece(_) => Wanted::terms(&terms(self)?),
            Self::Pair(pair) => Wanted::Lexeme(lexemes::pair(pair)),
            Self::Character(character) => Wanted::Beginning(lexemes::pair(character.encode_utf8(&mut [0; 4]))),
            Self::Sign(sign) => Wanted::Lexeme(lexemes::sign(*sign)),
        })
    }

    /// Returns the conjunction of these. Parts that no index can answer are left to the check of the text.
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut all: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                Self::Unknown => {}
                Self::All(more) => all.extend(more),
                part => all.push(part),
            }
        }
        if all.len() > 1 { Self::All(all) } else { all.pop().unwrap_or(Self::Unknown) }
    }

    /// Returns the disjunction of these. If no index can answer one of them, any message may match.
    pub fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut any: Vec<Self> = Vec::new();
        for part in parts {
            match part {
                Self::Unknown => return Self::Unknown,
                Self::Any(more) => any.extend(more),
                part => any.push(part),
            }
        }
        if any.len() > 1 { Self::Any(any) } else { any.pop().unwrap_or(Self::Unknown) }
    }
}

/// Adds the condition for consecutive words, of which the first may be a suffix and the last a prefix of a longer word.
///
/// Both are left out where other parts suffice: a prefix of one letter is in nearly every message, and a suffix costs a
/// lookup in the vocabulary, for which pairs of characters make up.
fn row(words: &[&str], begins_inside: bool, ends_inside: bool, parts: &mut Vec<Ask>) {
    let mut asks: Vec<Ask> = words.iter().map(|word| Ask::Word((*word).to_owned())).collect();
    if ends_inside && let Some(Ask::Word(last)) = asks.pop() {
        let is_vague = last.chars().count() <= VAGUE;
        if !is_vague || (asks.is_empty() && parts.is_empty()) {
            asks.push(Ask::Prefix(last));
        }
    }
    if begins_inside && !asks.is_empty() {
        match asks.remove(0) {
            Ask::Word(first) if parts.is_empty() => asks.insert(0, Ask::Ending(first)),
            _ => {}
        }
    }
    if asks.len() > 2 * MAX_PHRASE {
        let end = asks.split_off(asks.len() - MAX_PHRASE);
        asks.truncate(MAX_PHRASE);
        parts.push(Ask::Row(end));
    }
    match asks.len() {
        0 => {}
        1 => parts.extend(asks),
        _ => parts.push(Ask::Row(asks)),
    }
}

/// Returns the pairs in the runs of paired scripts.
fn pairs(folded: &str) -> Vec<Ask> {
    let mut asks: Vec<Ask> = Vec::new();
    for run in script::runs(folded) {
        let mut pairs = String::new();
        script::push_pairs(&run, &mut pairs);
        let mut pairs: Vec<&str> = pairs.split_terminator(' ').collect();
        // A single last character is listed only at the end of a run, so it is not asked for. A run of one character is
        // a prefix of a listed pair wherever it occurs.
        let last = pairs.pop().and_then(|last| last.chars().next());
        let step = pairs.len().div_ceil(MAX_RUN).max(1);
        match pairs.last() {
            None => asks.extend(last.map(Ask::Character)),
            Some(end) => asks.extend(pairs.iter().step_by(step).chain([end]).map(|pair| Ask::Pair((*pair).to_owned()))),
        }
        if asks.len() > MAX_PAIRS {
            break;
        }
    }
    let mut seen = HashSet::new();
    asks.retain(|ask| seen.insert(ask.clone()));
    asks
}
