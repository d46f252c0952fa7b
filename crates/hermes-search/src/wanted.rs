//! Conditions on a list of lexemes.

use crate::lexemes::{self, BEGINNING};
use crate::postings::Ranking;
use std::ops::RangeInclusive;

/// A condition on the lexemes of a message. Whether the message matches is decided by its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// This lexeme.
    Lexeme(String),
    /// A lexeme with this prefix.
    Beginning(String),
    /// All of these.
    All(Vec<Wanted>),
    /// One of these; if empty, no message meets it.
    Any(Vec<Wanted>),
    /// These at consecutive positions. Where there are no positions, all of these.
    Row(Vec<Wanted>),
}

impl Wanted {
    /// Returns the condition for a whole word.
    pub fn word(word: &str) -> Self {
        let data = Self::Lexeme(lexemes::data(word));
        if lexemes::is_known(word) { Self::Any(vec![Self::Lexeme(lexemes::word(word)), data]) } else { data }
    }

    /// Returns the condition for a word with this prefix.
    pub fn prefix(prefix: &str) -> Self {
        let data = Self::data(prefix);
        if lexemes::is_known(prefix) { Self::Any(vec![Self::Beginning(lexemes::word(prefix)), data]) } else { data }
    }

    /// Returns the condition for a word of the vocabulary.
    pub fn term(term: &str) -> Self {
        Self::Lexeme(lexemes::word(term))
    }

    /// Returns the condition for a word with this prefix that is outside the vocabulary.
    pub fn data(prefix: &str) -> Self {
        let is_short = prefix.chars().nth(BEGINNING).is_none();
        let data = lexemes::data(prefix);
        if is_short { Self::Beginning(data) } else { Self::Lexeme(data) }
    }

    /// Returns the condition for any word outside the vocabulary.
    pub fn any_data() -> Self {
        Self::Lexeme(lexemes::ANY_DATA.to_string())
    }

    /// Returns the condition for one of these words of the vocabulary, or any word outside it.
    pub fn terms(terms: &[String]) -> Self {
        Self::Any(terms.iter().map(|term| Self::term(term)).chain([Self::any_data()]).collect())
    }

    /// Returns the condition for a message of one of these size classes, see [`lexemes::size`].
    pub fn sizes(sizes: RangeInclusive<u32>) -> Self {
        Self::Any(sizes.map(|size| Self::Lexeme(lexemes::length(size))).collect())
    }

    /// Returns whether it asks for consecutive words.
    pub fn has_row(&self) -> bool {
        match self {
            Self::Lexeme(_) | Self::Beginning(_) => false,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::has_row),
            Self::Row(_) => true,
        }
    }

    /// Returns the condition for messages without positions.
    #[must_use]
    pub fn without_rows(&self) -> Self {
        let each = |parts: &[Self]| parts.iter().map(Self::without_rows).collect();
        match self {
            Self::Lexeme(_) | Self::Beginning(_) => self.clone(),
            Self::Any(parts) => Self::Any(each(parts)),
            Self::All(parts) | Self::Row(parts) => Self::All(each(parts)),
        }
    }
}

impl Ranking<Wanted> {
    /// Returns the condition on messages with an alternative (or any, if `None`): the alternative, `whole` and the
    /// sizes.
    pub fn wanted(&self, choice: Option<&Wanted>) -> Option<Wanted> {
        let whole = self.whole.as_ref().filter(|_| !self.is_covered).cloned();
        let sizes = self.sizes.clone().map(Wanted::sizes);
        let mut parts: Vec<Wanted> = [choice.cloned(), whole, sizes].into_iter().flatten().collect();
        if parts.len() > 1 { Some(Wanted::All(parts)) } else { parts.pop() }
    }
}
