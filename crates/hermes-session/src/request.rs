//! What every change carries besides its content: when it happened, and under which name it may be repeated.

use crate::{RequestKey, Timestamp};

/// When a change happens, and the key under which it may be sent again.
///
/// The clock belongs to the caller: a store never looks at one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The time that is written wherever the change leaves one.
    pub at: Timestamp,
    /// Under the same key the same change is applied once and answers the same.
    pub key: Option<RequestKey>,
}

impl Request {
    /// A change that happens at `at` and can't be told from another one like it.
    pub const fn at(at: Timestamp) -> Self {
        Self { at, key: None }
    }

    /// The same change under a key, so that it can be sent again when its answer was lost.
    #[must_use]
    pub fn keyed(self, key: RequestKey) -> Self {
        Self { key: Some(key), ..self }
    }
}
