//! Requests for messages of a session.

use crate::{MessageId, MessageState};

/// Request for messages of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRequest {
    /// Position of the range.
    pub window: Window,
    /// Maximum number of messages.
    pub limit: u32,
    /// States of the messages to return.
    pub extent: Extent,
}

/// Selection of messages by their [state](MessageState).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Extent {
    /// The transcript that is replayed: active messages.
    #[default]
    Transcript,
    /// Everything that search finds: active and compacted messages.
    Said,
    /// Every stored message, including undone ones.
    Every,
}

impl Extent {
    /// Returns whether messages of this state are selected.
    pub const fn has(self, state: MessageState) -> bool {
        match self {
            Self::Transcript => state.is_active(),
            Self::Said => state.is_said(),
            Self::Every => true,
        }
    }
}

impl MessageRequest {
    /// Requests up to `limit` messages of the transcript, next to the edge that the window gives.
    pub const fn new(window: Window, limit: u32) -> Self {
        Self { window, limit, extent: Extent::Transcript }
    }

    /// Requests the first `limit` messages.
    pub const fn first(limit: u32) -> Self {
        Self::new(Window::After(None), limit)
    }

    /// Requests the last `limit` messages.
    pub const fn last(limit: u32) -> Self {
        Self::new(Window::Before(None), limit)
    }

    /// Requests the `limit` messages after one.
    pub const fn after(id: MessageId, limit: u32) -> Self {
        Self::new(Window::After(Some(id)), limit)
    }

    /// Extends the request to everything that search finds: active and compacted messages.
    pub const fn as_said(self) -> Self {
        Self { extent: Extent::Said, ..self }
    }

    /// Extends the request to every stored message, whatever its state.
    pub const fn every(self) -> Self {
        Self { extent: Extent::Every, ..self }
    }
}

/// A range of messages, given by its edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// From the start, or from after a message.
    After(Option<MessageId>),
    /// Up to the end, or up to before a message.
    Before(Option<MessageId>),
}
