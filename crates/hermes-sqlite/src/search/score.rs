//! Scores messages without reading their text.

use super::plan::Plan;
use hermes_session::search::SearchCursor;
use hermes_session::search::fold::is_accent;
use hermes_session::search::matching::{Matcher, Tier};
use hermes_session::search::query::{Node, Query, Term};
use hermes_session::search::tokens::is_word;
use std::cmp::Ordering;

/// A message with its score.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scored {
    pub(super) score: f64,
    pub(super) id: i64,
}

impl Scored {
    /// Returns whether it comes after the last hit of the previous page.
    pub(super) fn is_after(&self, cursor: Option<&SearchCursor>) -> bool {
        cursor.is_none_or(|cursor| {
            cursor.tier == Tier::Words
                && self.score.total_cmp(&cursor.score).then(self.id.cmp(&cursor.message.0)) == Ordering::Less
        })
    }
}

/// A higher score is greater; of equal scores, the newer message.
impl Ord for Scored {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(self.id.cmp(&other.id))
    }
}

impl PartialOrd for Scored {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Scored {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Scored {}

/// Weighs the choices that messages have, visited in the order of ids.
pub(super) struct Choices<'p> {
    lists: Vec<(&'p [i64], f64)>,
}

impl<'p> Choices<'p> {
    pub(super) fn new(plan: &'p Plan<'_>, weights: &[f64]) -> Self {
        Self { lists: plan.choices.iter().zip(weights).map(|((_, ids), weight)| (ids.as_slice(), *weight)).collect() }
    }

    /// Returns the weight of a message. Ids have to ascend from call to call.
    pub(super) fn weight(&mut self, id: i64) -> f64 {
        if self.lists.is_empty() {
            return 1.0;
        }
        let mut sum = 0.0;
        for (ids, weight) in &mut self.lists {
            while let [first, rest @ ..] = *ids
                && *first < id
            {
                *ids = rest;
            }
            if ids.first() == Some(&id) {
                sum += *weight;
            }
        }
        sum
    }
}

/// Returns a matcher for one term.
pub(super) fn alone(term: &Term) -> Matcher {
    Matcher::new(&Query::new(Node::Term(term.clone())))
}

/// Returns the total weight of the choices that a text has in whole words, as the index would find them.
pub(super) fn weight_of(choices: &[Matcher], text: &str, weights: &[f64]) -> f64 {
    if choices.is_empty() {
        return 1.0;
    }
    let has = |choice: &Matcher| choice.tier(text) == Some(Tier::Words);
    choices.iter().zip(weights).filter(|(choice, _)| has(choice)).map(|(_, weight)| weight).sum()
}

/// Returns how many tokens `messages_fts` makes of a text: runs of letters and digits, including combining accents.
///
/// This must equal the count in the index, so that a message keeps its rank if it is indexed between two pages.
pub(super) fn tokens(text: &str) -> u32 {
    let mut is_inside = false;
    let starts = text.chars().filter(|character| {
        let is_word = is_word(*character);
        let is_start = is_word && !is_inside;
        is_inside = is_word || (is_inside && is_accent(*character));
        is_start
    });
    u32::try_from(starts.count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_counted_as_the_index_counts_them() {
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        connection.execute_batch("CREATE VIRTUAL TABLE t USING fts5(x)").unwrap();
        for text in [
            "",
            " ",
            "don't",
            "大别山 项目",
            "e\u{301}t\u{e9} \u{301}x",
            "a\u{301}\u{302}b",
            "a\0b",
            "हिन्दी",
            "v1.2.3_x 🚀 🥰",
            "\u{1112}\u{1161}\u{11ab}",
            "caf\\u00e9 {\"a\": [1, 2]}",
            "ไทย\u{e34} и\u{306}од ① ²",
        ] {
            connection.execute("DELETE FROM t", []).unwrap();
            connection.execute("INSERT INTO t VALUES (?)", [text]).unwrap();
            let size: Vec<u8> = connection.query_row("SELECT sz FROM t_docsize", [], |row| row.get(0)).unwrap();
            assert_eq!(vec![tokens(text) as u8], size, "{text:?}");
        }
    }
}
