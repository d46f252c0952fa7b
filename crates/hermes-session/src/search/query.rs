//! The query language: words, `"literals"`, `prefix*`, `AND`, `OR`, `NOT` and parentheses. Everything else is text.
//!
//! A text is parsed in two steps, both in one pass and without recursion: `lex` cuts it into terms, operators and
//! grouping parentheses, `parse` joins them to a tree. `canonical` chooses one of the many trees with the same meaning,
//! `print` writes it as text again. `docs/search-syntax.md` describes the language for users.

mod canonical;
mod lex;
mod parse;
mod print;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

/// Maximum nesting of groups. Parentheses beyond it are text; parts beyond it are left out by [`Query::new`].
///
/// It bounds the depth of every tree, so that walking or dropping one recursively is safe.
pub const MAX_DEPTH: usize = 50;

/// A parsed query.
///
/// Its tree is in canonical form: [`Node::All`] and [`Node::Any`] have two parts or more, no two of them equal and none
/// of their own kind; nothing is negated twice; the text of a term is neither blank nor surrounded by blanks; groups
/// are nested no deeper than [`MAX_DEPTH`]. The empty query is a [`Node::All`] without parts.
///
/// Printing is lossless: the printed text parses to the same query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Query {
    root: Node,
}

/// A part of a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Node {
    /// The message contains a term.
    Term(Term),
    /// All of these hold. Without parts it matches everything.
    All(Vec<Node>),
    /// One of these holds.
    Any(Vec<Node>),
    /// This does not hold.
    Not(Box<Node>),
}

/// A term to search for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// The text as written, without quotes; never blank.
    pub text: String,
    /// Whether longer words that start with it count as whole words.
    pub is_prefix: bool,
}

impl Query {
    /// Parses a text. Every text is a valid query, and parsing takes linear time.
    pub fn parse(text: &str) -> Self {
        Self::of(parse::parse(text))
    }

    /// Creates a query from a tree, in canonical form.
    ///
    /// Leaves out empty parts: blank terms, groups without parts, and their negation. Also leaves out parts that would
    /// need more than [`MAX_DEPTH`] parentheses. The tree may have any depth.
    pub fn new(root: Node) -> Self {
        Self::of(canonical::canonical(root))
    }

    fn of(root: Option<Node>) -> Self {
        Self { root: root.unwrap_or_else(|| Node::All(Vec::new())) }
    }

    /// Returns the root of the tree.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// Returns whether the query is empty, which matches everything.
    pub fn is_empty(&self) -> bool {
        matches!(&self.root, Node::All(parts) if parts.is_empty())
    }

    /// Returns the distinct terms that are not under a `NOT`, in order.
    pub fn terms(&self) -> Vec<&Term> {
        let mut terms = Vec::new();
        self.root.wanted(&mut terms);
        let mut seen = HashSet::new();
        terms.retain(|term| seen.insert(*term));
        terms
    }

    /// Returns whether the query has no wanted term: it is empty, or all its terms are under a `NOT`.
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

/// Returns whether a character separates words: white space, or a control character such as NUL.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}
