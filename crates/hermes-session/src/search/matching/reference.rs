//! The simplest definition of a match, for tests to compare with. It is slow.

use super::Tier;
use crate::search::fold::fold;
use crate::search::query::{Node, Query, Term};
use crate::search::tokens::is_border;

/// Returns how a text matches; `None` if it does not. [`super::Matcher::tier`] returns the same, faster.
pub fn tier(query: &Query, text: &str) -> Option<Tier> {
    tier_of(query.root(), text)
}

/// Returns how a text matches a part of a query; `None` if it does not.
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
