//! Candidates from the full-text index of an agent, in a file that is not adopted.
//!
//! Such a file has no vocabulary of ours, so its index misses messages: those that have a word only as a piece of
//! another, behind a JSON escape, or with an accent that its tokenizer keeps. A scan finds all of them. If time runs out
//! before it ends, the index gives candidates among the messages that were not read.

use super::leaf;
use crate::index::indexes::{Index, Kind};
use crate::write::database::Database;
use hermes_session::script::is_paired;
use hermes_session::search::fold::fold;
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::tokens;

/// Maximum number of messages, the newest ones, that are checked before the scan.
const MAX_CANDIDATES: usize = 2_000;

/// Returns candidate messages up to `newest`, in order. Empty if the file is adopted or its index can't answer.
pub(super) fn candidates(database: &Database, query: &Query, newest: i64) -> Vec<i64> {
    if database.memory().is_none() || database.layout().look(Index::Words).kind == Kind::Missing {
        return Vec::new();
    }
    let Some(fts) = question(query.root()) else { return Vec::new() };
    // A damaged index yields no candidates; the scan finds the messages without it.
    let mut ids = leaf::Asked::default().matching(database, &fts).unwrap_or_default();
    ids.retain(|id| *id <= newest);
    ids.sort_unstable();
    ids.split_off(ids.len().saturating_sub(MAX_CANDIDATES))
}

/// Returns the FTS5 query; `None` if it can't express a part that has to match.
fn question(node: &Node) -> Option<String> {
    match node {
        Node::Not(_) => None,
        Node::Term(term) => phrase(term),
        Node::Any(nodes) => {
            let parts: Vec<String> = nodes.iter().map(question).collect::<Option<_>>()?;
            Some(format!("({})", parts.join(" OR ")))
        }
        Node::All(nodes) => {
            let parts: Vec<String> = nodes.iter().filter_map(question).collect();
            (!parts.is_empty()).then(|| format!("({})", parts.join(" AND ")))
        }
    }
}

fn phrase(term: &Term) -> Option<String> {
    let folded = fold(&term.text);
    if folded.chars().any(is_paired) {
        return None;
    }
    let words: Vec<&str> = tokens::words(&folded).map(|word| &folded[word]).collect();
    let star = if term.is_prefix { " *" } else { "" };
    (!words.is_empty()).then(|| format!("{}{star}", leaf::quoted(&words.join(" "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_what_fts5_understands() {
        for (query, expect) in [
            ("fox", Some("\"fox\"")),
            ("fox den*", Some("(\"fox\" AND \"den\" *)")),
            ("fox OR den", Some("(\"fox\" OR \"den\")")),
            ("fox NOT den", Some("(\"fox\")")),
            ("main.rs", Some("\"main rs\"")),
            ("大别山", None),
            ("🚀", None),
        ] {
            assert_eq!(question(Query::parse(query).root()).as_deref(), expect, "{query}");
        }
    }
}
