//! The language of search: words, `"literals"`, `prefix*`, `AND`, `OR`, `NOT` and parentheses. Everything else is text.
//!
//! A text is read in two steps, both in one pass and without recursion: `lex` cuts it into terms, operators and the parentheses that
//! group, `parse` joins them to a tree. `canonical` says which of many trees with one meaning is kept, `print` writes it as text again.
//! `docs/search-syntax.md` is the same for those who type.

mod canonical;
mod lex;
mod parse;
mod print;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

/// How deep groups may be nested. Parentheses beyond are text, parts beyond are left out of [`Query::new`].
///
/// It bounds the depth of every tree, so that walking or dropping one by recursion is safe.
pub const MAX_DEPTH: usize = 50;

/// A question, parsed.
///
/// Its tree is in canonical form: [`Node::All`] and [`Node::Any`] have two parts or more, no two of them equal and none of their own kind;
/// nothing is negated twice; the text of a term is neither blank nor are there blanks around it; groups are nested no deeper than [`MAX_DEPTH`].
/// The empty question is a [`Node::All`] of no parts.
///
/// Printing loses nothing: the printed text is parsed as the same question.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Query {
    root: Node,
}

/// A part of a question.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// A term is in the message.
    Term(Term),
    /// All of these hold; of none, everything.
    All(Vec<Node>),
    /// One of these holds.
    Any(Vec<Node>),
    /// This does not hold.
    Not(Box<Node>),
}

/// Something that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// As it was written, without quotes; never blank.
    pub text: String,
    /// Whether words that go on behind it count as whole words.
    pub is_prefix: bool,
}

impl Query {
    /// Takes a text for a question. Every text is one, and it takes time in proportion to its length.
    pub fn parse(text: &str) -> Self {
        Self::of(parse::parse(text))
    }

    /// Makes a question of a tree, in canonical form.
    ///
    /// What asks for nothing is left out: blank terms, parts without parts, their negation. So is what would be in more than [`MAX_DEPTH`]
    /// parentheses. The tree may be as deep as it likes.
    pub fn new(root: Node) -> Self {
        Self::of(canonical::canonical(root))
    }

    fn of(root: Option<Node>) -> Self {
        Self { root: root.unwrap_or_else(|| Node::All(Vec::new())) }
    }

    /// The whole.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Whether it asks for nothing in particular.
    pub fn is_empty(&self) -> bool {
        matches!(&self.root, Node::All(parts) if parts.is_empty())
    }

    /// The terms that are not under a `NOT`, each once, in order.
    pub fn terms(&self) -> Vec<&Term> {
        let mut terms = Vec::new();
        self.root.wanted(&mut terms);
        let mut seen = HashSet::new();
        terms.retain(|term| seen.insert(*term));
        terms
    }

    /// Whether nothing is asked for but that things are absent, if anything: all its terms are under a `NOT`.
    pub fn is_negative(&self) -> bool {
        !self.root.wants()
    }
}

impl Node {
    fn wants(&self) -> bool {
        match self {
            Self::Term(_) => true,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::wants),
            Self::Not(_) => false,
        }
    }

    fn wanted<'n>(&'n self, terms: &mut Vec<&'n Term>) {
        match self {
            Self::Term(term) => terms.push(term),
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.wanted(terms)),
            Self::Not(_) => {}
        }
    }
}

/// Whether a character stands between words: white space, or a control character such as NUL.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}
