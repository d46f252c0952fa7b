//! Which messages of a session are read.

use crate::{MessageId, MessageState};

/// Which messages of a session, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageRequest {
    /// Where the stretch lies.
    pub window: Window,
    /// How many messages at most.
    pub limit: u32,
    /// Which states of messages are returned.
    pub extent: Extent,
}

/// Which messages of a session are meant, by their [state](MessageState).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Extent {
    /// The transcript that is replayed: active messages.
    #[default]
    Transcript,
    /// Everything that search finds: active and compacted messages.
    Said,
    /// Every message that is stored: also those that were undone.
    Every,
}

impl Extent {
    /// Returns whether a message of this state is meant.
    pub const fn has(self, state: MessageState) -> bool {
        match self {
            Self::Transcript => state.is_active(),
            Self::Said => state.is_said(),
            Self::Every => true,
        }
    }
}

impl MessageRequest {
    /// The `limit` messages of the transcript at the edge of a stretch.
    pub const fn new(window: Window, limit: u32) -> Self {
        Self { window, limit, extent: Extent::Transcript }
    }

    /// The first `limit` messages.
    pub const fn first(limit: u32) -> Self {
        Self::new(Window::After(None), limit)
    }

    /// The last `limit` messages.
    pub const fn last(limit: u32) -> Self {
        Self::new(Window::Before(None), limit)
    }

    /// The `limit` messages after one.
    pub const fn after(id: MessageId, limit: u32) -> Self {
        Self::new(Window::After(Some(id)), limit)
    }

    /// Asks for everything that search finds: the transcript, and messages that were compacted out of it.
    pub const fn as_said(self) -> Self {
        Self { extent: Extent::Said, ..self }
    }

    /// Asks for every message that is stored, whatever its state.
    pub const fn every(self) -> Self {
        Self { extent: Extent::Every, ..self }
    }
}

/// A stretch of a transcript, given by its edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Window {
    /// From the start, or from behind a message on.
    After(Option<MessageId>),
    /// Up to the end, or up to before a message.
    Before(Option<MessageId>),
}
