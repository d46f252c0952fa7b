//! Whether a message is meant: the reference that every store agrees with.

use super::fold::{Folded, fold};
use super::query::{Node, Query, Term};
use super::tokens::is_border;
use std::ops::Range;

/// How a message matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// In whole words: each term begins where a word does, and ends where one does unless it is a prefix.
    Words,
    /// Only as a piece of words.
    Pieces,
}

/// A question, ready to be put to many messages.
#[derive(Debug, Clone)]
pub struct Matcher {
    root: Part,
}

#[derive(Debug, Clone)]
enum Part {
    Term(Needle),
    All(Vec<Part>),
    Any(Vec<Part>),
    Not(Box<Part>),
}

#[derive(Debug, Clone)]
struct Needle {
    folded: String,
    is_prefix: bool,
}

impl Matcher {
    /// Makes a question ready.
    pub fn new(query: &Query) -> Self {
        Self { root: Part::of(query.root()) }
    }

    /// How a text matches, if it does.
    pub fn tier(&self, text: &str) -> Option<Tier> {
        let folded = fold(text);
        if !self.root.holds(&folded, Tier::Pieces) {
            None
        } else if self.root.holds(&folded, Tier::Words) {
            Some(Tier::Words)
        } else {
            Some(Tier::Pieces)
        }
    }

    /// Where terms that are not excluded occur in a text, in order, without overlap; whole words alone if there are any.
    pub fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let folded = Folded::new(text);
        let mut needles = Vec::new();
        self.root.wanted(&mut needles);
        let mut marks = Vec::new();
        for needle in needles {
            for (at, _) in folded.text.match_indices(&needle.folded) {
                marks.push(folded.original(at..at + needle.folded.len()));
            }
        }
        marks.sort_by_key(|mark: &Range<usize>| mark.start);
        marks.dedup_by(|later, before| later.start < before.end);
        marks
    }
}

impl Part {
    fn of(node: &Node) -> Self {
        let all = |nodes: &[Node]| nodes.iter().map(Self::of).collect();
        match node {
            Node::Term(Term { text, is_prefix }) => {
                Self::Term(Needle { folded: fold(text).into_owned(), is_prefix: *is_prefix })
            }
            Node::All(nodes) => Self::All(all(nodes)),
            Node::Any(nodes) => Self::Any(all(nodes)),
            Node::Not(node) => Self::Not(Box::new(Self::of(node))),
        }
    }

    fn holds(&self, text: &str, tier: Tier) -> bool {
        match self {
            Self::Term(needle) => match tier {
                Tier::Pieces => text.contains(&needle.folded),
                Tier::Words => text.match_indices(&needle.folded).any(|(at, found)| {
                    let end = at + found.len();
                    is_border(text[..at].chars().next_back(), found.chars().next())
                        && (needle.is_prefix || is_border(found.chars().next_back(), text[end..].chars().next()))
                }),
            },
            Self::All(parts) => parts.iter().all(|part| part.holds(text, tier)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(text, tier)),
            Self::Not(part) => !part.holds(text, Tier::Pieces),
        }
    }

    fn wanted<'p>(&'p self, needles: &mut Vec<&'p Needle>) {
        match self {
            Self::Term(needle) => needles.push(needle),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.wanted(needles)),
            Self::Not(_) => {}
        }
    }
}
