//! Data that every change carries besides its content: its time, and an idempotency key.

use crate::{RequestKey, Timestamp};

/// Time of a change, and the idempotency key under which it may be retried.
///
/// The caller provides the time: a store never reads a clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Time that is stored wherever the change records one.
    pub at: Timestamp,
    /// Idempotency key. The same change under the same key is applied once and returns the same result.
    pub key: Option<RequestKey>,
}

impl Request {
    /// Creates a request at `at` without a key: a repetition is a new change.
    pub const fn at(at: Timestamp) -> Self {
        Self { at, key: None }
    }

    /// Sets the key, so that the change can be retried when its answer was lost.
    #[must_use]
    pub fn keyed(self, key: RequestKey) -> Self {
        Self { key: Some(key), ..self }
    }
}
