//! What a list of lexemes has to have.

use super::lexemes::{self, BEGINNING};
use std::ops::RangeInclusive;

/// A condition on the lexemes of a message. Whether the message is meant, its text decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// This lexeme.
    Lexeme(String),
    /// One that begins so.
    Beginning(String),
    /// All of these.
    All(Vec<Wanted>),
    /// One of these; of none, nothing.
    Any(Vec<Wanted>),
    /// These, each at the place behind the one before it. Where there are no places, all of these.
    Row(Vec<Wanted>),
}

impl Wanted {
    /// A whole word.
    pub fn word(word: &str) -> Self {
        let data = Self::Lexeme(lexemes::data(word));
        if lexemes::is_known(word) { Self::Any(vec![Self::Lexeme(lexemes::word(word)), data]) } else { data }
    }

    /// A word that begins so.
    pub fn prefix(prefix: &str) -> Self {
        let data = Self::data(prefix);
        if lexemes::is_known(prefix) { Self::Any(vec![Self::Beginning(lexemes::word(prefix)), data]) } else { data }
    }

    /// A word of the vocabulary.
    pub fn term(term: &str) -> Self {
        Self::Lexeme(lexemes::word(term))
    }

    /// A word that begins so and that the vocabulary does not know.
    pub fn data(prefix: &str) -> Self {
        let is_short = prefix.chars().nth(BEGINNING).is_none();
        let data = lexemes::data(prefix);
        if is_short { Self::Beginning(data) } else { Self::Lexeme(data) }
    }

    /// Any word that the vocabulary does not know.
    pub fn any_data() -> Self {
        Self::Lexeme(lexemes::ANY_DATA.to_string())
    }

    /// One of these words of the vocabulary, or any word that it does not know.
    pub fn terms(terms: &[String]) -> Self {
        Self::Any(terms.iter().map(|term| Self::term(term)).chain([Self::any_data()]).collect())
    }

    /// A message of one of these sizes, see [`lexemes::size`].
    pub fn sizes(sizes: RangeInclusive<u32>) -> Self {
        Self::Any(sizes.map(|size| Self::Lexeme(lexemes::length(size))).collect())
    }

    /// Whether it asks for words in a row.
    pub fn has_row(&self) -> bool {
        match self {
            Self::Lexeme(_) | Self::Beginning(_) => false,
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::has_row),
            Self::Row(_) => true,
        }
    }

    /// The same, for messages without places.
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
