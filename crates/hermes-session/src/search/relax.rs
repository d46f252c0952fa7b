//! What is left of a query that matches nothing as a whole: its words, without those that say nothing, by their stems.

use super::query::{Node, Query};
use super::{fold::fold, tokens};

/// The most words of a relaxed query.
pub const MAX_WORDS: usize = 64;

/// A word of a relaxed query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The word itself, folded.
    pub word: String,
    /// What every form of it begins with.
    pub prefix: String,
}

impl Word {
    /// Whether a folded word is a form of it.
    pub fn takes(&self, word: &str) -> bool {
        self.word == word
    }
}

/// The words to look for; none if there is nothing to relax.
pub fn words(query: &Query) -> Vec<Word> {
    let mut out = Vec::new();
    fn walk(node: &Node, out: &mut Vec<Word>) {
        match node {
            Node::Term(term) => {
                let folded = fold(&term.text);
                for range in tokens::words(&folded) {
                    out.push(Word { word: folded[range.clone()].to_owned(), prefix: folded[range].to_owned() });
                }
            }
            Node::All(nodes) | Node::Any(nodes) => nodes.iter().for_each(|node| walk(node, out)),
            Node::Not(_) => {}
        }
    }
    walk(query.root(), &mut out);
    out.truncate(MAX_WORDS);
    out
}
