//! What a search has to find, told as plainly as can be: every message is looked at, and nothing is clever.
//!
//! It knows of the domain what is the same ([`fold`]) and where words end ([`tokens`]), and nothing of how anything is found.

use hermes_session::search::fold::fold;
use hermes_session::search::matching::Tier;
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::{Hit, SearchRequest, SearchStore, tokens};
use hermes_session::{PageRequest, StoreError};

/// How a text matches a query, if it does.
pub fn tier(query: &Query, text: &str) -> Option<Tier> {
    let folded = fold(text);
    if !holds(query.root(), &folded, Tier::Pieces) {
        None
    } else if holds(query.root(), &folded, Tier::Words) {
        Some(Tier::Words)
    } else {
        Some(Tier::Pieces)
    }
}

fn holds(node: &Node, folded: &str, tier: Tier) -> bool {
    match node {
        Node::Term(term) => occurs(term, folded, tier),
        Node::All(nodes) => nodes.iter().all(|node| holds(node, folded, tier)),
        Node::Any(nodes) => nodes.iter().any(|node| holds(node, folded, tier)),
        // What is excluded is excluded wherever it stands.
        Node::Not(node) => !holds(node, folded, Tier::Pieces),
    }
}

fn occurs(term: &Term, folded: &str, tier: Tier) -> bool {
    let needle = fold(&term.text);
    // Every place is tried, also those that lie over one another.
    folded.char_indices().map(|(at, _)| at).chain([folded.len()]).any(|at| {
        let Some(rest) = folded[at..].strip_prefix(needle.as_ref()) else { return false };
        let begins = tokens::is_border(folded[..at].chars().next_back(), needle.chars().next());
        let ends = term.is_prefix || tokens::is_border(needle.chars().next_back(), rest.chars().next());
        tier == Tier::Pieces || (begins && ends)
    })
}

/// The hits of every page, each page after the last hit of the one before.
///
/// # Errors
/// Whatever the store answers.
///
/// # Panics
/// If pages go on beyond all reason, or time ran out.
pub async fn every_page<S: SearchStore + ?Sized>(store: &S, request: &SearchRequest) -> Result<Vec<Hit>, StoreError> {
    let mut request = request.clone();
    let mut hits = Vec::new();
    for _ in 0..1_000_000 {
        let answer = store.search(&request).await?;
        assert!(!answer.served.is_partial, "time ran out: {:?}", answer.served);
        hits.extend(answer.hits);
        request.page = PageRequest::first(request.page.limit());
        match answer.next {
            Some(next) => request.after = Some(next),
            None => return Ok(hits),
        }
    }
    panic!("the pages do not end");
}
