//! What is wrong with a value somebody gave us, and how to give a better one.

use std::borrow::Cow;

/// A value that can't be taken: which one, why, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} {why}")]
pub struct Invalid {
    /// The kind of value in a word or two: `session id`, `title`, `limit`.
    pub what: &'static str,
    /// What is wrong with it, as the rest of the sentence.
    pub why: String,
    /// What the person can do instead.
    pub hint: Cow<'static, str>,
}

impl Invalid {
    /// Names the value, what is wrong with it and the way out.
    pub fn new(what: &'static str, why: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { what, why: why.into(), hint: hint.into() }
    }
}
