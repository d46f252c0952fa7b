//! What a match is, in the plainest way: for tests to compare with. It is slow.

use super::Tier;
use crate::search::fold::fold;
use crate::search::query::{Node, Query, Term};
use crate::search::tokens::is_border;

/// How a text matches, if it does. [`super::Matcher::tier`] says the same, sooner.
pub fn tier(query: &Query, text: &str) -> Option<Tier> {
    tier_of(query.root(), text)
}

/// How a text matches a part of a question.
pub fn tier_of(node: &Node, text: &str) -> Option<Tier> {
    [Tier::Words, Tier::Pieces].into_iter().find(|tier| holds(node, text, *tier))
}

fn holds(node: &Node, text: &str, tier: Tier) -> bool {
    match node {
        Node::Term(term) => occurs(term, text, tier),
        Node::All(nodes) => nodes.iter().all(|node| holds(node, text, tier)),
        Node::Any(nodes) => nodes.iter().any(|node| holds(node, text, tier)),
        Node::Not(node) => !holds(node, text, Tier::Pieces),
    }
}

fn occurs(term: &Term, text: &str, tier: Tier) -> bool {
    let mut wanted: Vec<char> = fold(&term.text).chars().collect();
    let mut text: Vec<char> = text.chars().collect();
    if wanted.is_empty() {
        wanted = term.text.chars().collect();
    } else {
        text = fold(&text.iter().collect::<String>()).chars().collect();
    }
    let at = |place: usize| text.get(place).copied();
    (0..=text.len()).any(|start| {
        let end = start + wanted.len();
        let is_here = (start..end).map(at).eq(wanted.iter().copied().map(Some));
        let begins = start == 0 || is_border(at(start - 1), at(start));
        let ends = term.is_prefix || end == 0 || is_border(at(end - 1), at(end));
        is_here && (tier == Tier::Pieces || begins && ends)
    })
}
