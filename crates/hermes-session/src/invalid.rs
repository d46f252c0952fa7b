//! Error for an invalid value, with advice.

use std::borrow::Cow;

/// An invalid value: its kind, the reason, and advice.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {why}")]
pub struct Invalid {
    /// The kind of value in a word or two: `session id`, `title`, `limit`.
    pub what: &'static str,
    /// The reason, as the rest of the sentence.
    pub why: String,
    /// Advice for the user.
    pub hint: Cow<'static, str>,
}

impl Invalid {
    /// Creates the error from the kind of value, the reason and the advice.
    pub fn new(what: &'static str, why: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { what, why: why.into(), hint: hint.into() }
    }
}
