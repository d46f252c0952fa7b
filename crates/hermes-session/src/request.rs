//! Data that every change carries besides its content: its time, an idempotency key, and the state that it relies on.

use crate::live::Fence;
use crate::{MessageId, RequestKey, Timestamp};

/// Time of a change, the idempotency key under which it may be retried, and the state that it relies on.
///
/// The caller provides the time: a store never reads a clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Time that is stored wherever the change records one.
    pub at: Timestamp,
    /// Idempotency key. The same change under the same key is applied once and returns the same result.
    pub key: Option<RequestKey>,
    /// Token of the lease under which the caller owns the conversation. The change happens only while that lease is the
    /// current one; otherwise it is [`Conflict::Fenced`](crate::Conflict::Fenced).
    pub fence: Option<Fence>,
    /// Newest message of the session's transcript that the caller knows; id 0 for an empty one. If another message is
    /// the newest, the change is [`Conflict::Moved`](crate::Conflict::Moved).
    pub after: Option<MessageId>,
}

impl Request {
    /// Creates a request at `at` without a key: a repetition is a new change.
    pub const fn at(at: Timestamp) -> Self {
        Self { at, key: None, fence: None, after: None }
    }

    /// Sets the key, so that the change can be retried when its answer was lost.
    #[must_use]
    pub fn keyed(self, key: RequestKey) -> Self {
        Self { key: Some(key), ..self }
    }

    /// Sets the token of the lease under which the caller owns the conversation.
    #[must_use]
    pub fn fenced(self, fence: Fence) -> Self {
        Self { fence: Some(fence), ..self }
    }

    /// Sets the newest message that the caller knows.
    #[must_use]
    pub fn after(self, newest: MessageId) -> Self {
        Self { after: Some(newest), ..self }
    }
}
