//! What a question asks of an index: too much at times, never too little.
//!
//! A term is cut into words as texts are cut. A word between two others stands in the text as it is; the first may be the end of a longer one
//! there and the last the beginning of one. Whatever is told by an index is looked at again in the text, so that of a long term a part is
//! enough.

use super::lexemes::{self, is_sign};
use super::wanted::Wanted;
use hermes_session::script::{self, is_paired};
use hermes_session::search::fold::fold;
use hermes_session::search::matching::Tier;
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::tokens;
use std::cmp::Reverse;
use std::collections::HashSet;

#[cfg(test)]
pub(super) mod tests;

/// So many parts of a query that all have to hold are asked for; the texts are asked about the others.
const MAX_PARTS: usize = 32;
/// More parts of which one has to hold are no question to an index.
const MAX_CHOICES: usize = 512;
/// Of a longer row so many words at its beginning and at its end are asked for.
const MAX_PHRASE: usize = 12;
/// The beginning of a word that is no longer than this is in nearly every message.
const VAGUE: usize = 1;
/// A word that is no longer than this, in bytes, tells so little that signs beside it tell more.
const SHORT: usize = 2;
/// How many pairs of a long run are asked for.
const MAX_RUN: usize = 12;
/// How many pairs are asked for in all.
const MAX_PAIRS: usize = 64;
/// How many signs are asked for.
const MAX_SIGNS: usize = 12;

/// A question to an index.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Ask {
    /// No index knows anything of it: any message may be meant.
    Unknown,
    /// All of these, two or more.
    All(Vec<Ask>),
    /// One of these, two or more.
    Any(Vec<Ask>),
    /// A whole word.
    Word(String),
    /// A word that begins so.
    Prefix(String),
    /// Words one after the other: [`Ask::Word`], at the beginning also [`Ask::Ending`], and at the end [`Ask::Prefix`].
    Row(Vec<Ask>),
    /// A word that ends so. The vocabulary knows such words.
    Ending(String),
    /// A word that has this in it. The vocabulary knows such words.
    Piece(String),
    /// Two characters in a row, of a script that is searched by pairs.
    Pair(String),
    /// A character of such a script.
    Character(char),
    /// A sign.
    Sign(char),
}

impl Ask {
    /// What a query asks for, in whole words or in pieces.
    pub fn of_query(query: &Query, tier: Tier) -> Self {
        Self::of_node(query.root(), tier)
    }

    /// What a part of a query asks for.
    pub fn of_node(node: &Node, tier: Tier) -> Self {
        match node {
            // An index that tells too much can't tell what is nowhere.
            Node::Not(_) => Self::Unknown,
            Node::Term(term) => Self::of_term(term, tier),
            Node::Any(nodes) if nodes.len() > MAX_CHOICES => Self::Unknown,
            Node::Any(nodes) => Self::any(nodes.iter().map(|node| Self::of_node(node, tier))),
            Node::All(nodes) => {
                let mut telling: Vec<&Node> = nodes.iter().filter(|node| !matches!(node, Node::Not(_))).collect();
                // Pieces of words are looked up one by one, and the longer ones tell more.
                if tier == Tier::Pieces {
                    telling.sort_by_key(|node| Reverse(if let Node::Term(term) = node { term.text.len() } else { 0 }));
                }
                Self::all(telling.into_iter().take(MAX_PARTS).map(|node| Self::of_node(node, tier)))
            }
        }
    }

    /// What a term asks for.
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
        // Signs tell little where there are words, unless these are as short as in `C++`.
        if parts.is_empty() || matches!(words[..], [word] if word.len() <= SHORT) {
            let mut signs: Vec<char> = folded.chars().filter(|character| is_sign(*character)).collect();
            signs.sort_unstable();
            signs.dedup();
            // The rarest signs are far up in Unicode.
            parts.extend(signs.into_iter().rev().take(MAX_SIGNS).map(Self::Sign));
        }
        Self::all(parts)
    }

    /// The parts that the vocabulary has to be asked for, in order.
    pub fn lookups(&self) -> Vec<&Self> {
        match self {
            Self::Ending(_) | Self::Piece(_) => vec![self],
            Self::All(parts) | Self::Any(parts) | Self::Row(parts) => parts.iter().flat_map(Self::lookups).collect(),
            _ => Vec::new(),
        }
    }

    /// The lexemes that are asked for; nothing if any message may be meant.
    ///
    /// `terms` tells the words of the vocabulary that a part from [`Ask::lookups`] stands for, or nothing if they are too many.
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
                // A word that the vocabulary does not know has a place, but nobody can tell where it ends.
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

    /// All of these; those that no index knows are left to the text.
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

    /// One of these; if no index knows one of them, any message may be meant.
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

/// The terms of which one is enough, in order, each once: of these a message may have more or fewer.
pub fn choices(query: &Query) -> Vec<&Term> {
    fn collect<'q>(node: &'q Node, is_choice: bool, terms: &mut Vec<&'q Term>) {
        match node {
            Node::Term(term) if is_choice => terms.push(term),
            Node::Term(_) | Node::Not(_) => {}
            Node::Any(nodes) => nodes.iter().for_each(|node| collect(node, true, terms)),
            Node::All(nodes) => nodes.iter().for_each(|node| collect(node, is_choice, terms)),
        }
    }
    let mut terms = Vec::new();
    collect(query.root(), false, &mut terms);
    let mut seen = HashSet::new();
    terms.retain(|term| seen.insert(*term));
    terms
}

/// Words one after the other, of which the first may be the end of one and the last the beginning.
///
/// Both need not be asked for where others are: what begins with one letter is in nearly every message, and an end costs a look
/// into the vocabulary, which pairs of characters make up for.
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

/// The pairs in the runs of paired scripts.
fn pairs(folded: &str) -> Vec<Ask> {
    let mut asks: Vec<Ask> = Vec::new();
    for run in script::runs(folded) {
        let mut pairs = String::new();
        script::push_pairs(&run, &mut pairs);
        let mut pairs: Vec<&str> = pairs.split_terminator(' ').collect();
        // The last character alone is listed only where the run ends; one that is a run begins something listed wherever it stands.
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
