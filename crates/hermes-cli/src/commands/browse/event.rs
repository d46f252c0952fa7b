//! Events that the picker receives, and effects that it requests. Both are plain values, so that the logic between them
//! can be tested without a terminal, a store or a clock.

use super::rows::Row;
use hermes_session::{Message, MessageId, SessionId, Tag, Title};
use std::path::PathBuf;
use std::time::Duration;

/// An event for the picker.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Event {
    /// Input by the user.
    Input(Input),
    /// New size of the terminal, in columns and lines.
    Resized(u16, u16),
    /// The next conversations of the list.
    Rows { rows: Vec<Row>, is_last: bool },
    /// The list could not be read further, with the reason.
    ListFailed(String),
    /// Rows of the list that can't be read: their number, and the error of the first.
    Unreadable { count: u64, first: String },
    /// Hits of a text search; `question` is the number of the search.
    Found { question: u64, hits: Vec<Hit>, is_partial: bool },
    /// A text search failed.
    SearchFailed { question: u64, why: String },
    /// The content of a preview.
    Previewed { wanted: Wanted, preview: Preview },
    /// A conversation was renamed.
    Renamed { id: SessionId, title: Title },
    /// Conversations were deleted.
    Deleted { ids: Vec<SessionId>, told: Notice },
    /// Conversations were pinned or unpinned; `failed` reports that the others were not.
    Pinned { ids: Vec<SessionId>, is_pinned: bool, failed: Option<Notice> },
    /// Conversations have these tags now; `failed` reports that the others were not changed.
    Tagged { tags: Vec<(SessionId, Vec<Tag>)>, failed: Option<Notice> },
    /// The file of an export exists already.
    Exists { ids: Vec<SessionId>, file: PathBuf },
    /// A notice for the user.
    Told(Notice),
}

impl Event {
    /// Returns the text of a failure, if the event reports that a change failed.
    pub(super) fn failure(self) -> Option<String> {
        match self {
            Self::Told(told) | Self::Deleted { told, .. } => told.is_error.then_some(told.text),
            Self::Pinned { failed, .. } | Self::Tagged { failed, .. } => failed.map(|failed| failed.text),
            Self::Exists { file, .. } => Some(format!("{} was not exported: it is there already", file.display())),
            _ => None,
        }
    }
}

/// An input of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Left,
    Right,
    /// Scrolls the preview by this many lines; positive is down.
    ScrollPreview(i32),
    Enter,
    Escape,
    /// Leaves the picker in any mode.
    Quit,
    /// Ctrl-D: the end of the input if nothing is typed, else deletes the character after the cursor.
    EndOfFile,
    Backspace,
    /// Clears the text before the cursor.
    Clear,
    /// Clears the word before the cursor.
    ClearWord,
    Mark,
    MarkUp,
    Preview,
    Rename,
    Pin,
    Tag,
    Delete,
    Export,
    Help,
    Suspend,
    Text(String),
    /// The mouse wheel turned over this position; positive `lines` is down.
    Wheel {
        lines: i32,
        column: u16,
        row: u16,
    },
    /// A click; `at` is the time since the start.
    Click {
        column: u16,
        row: u16,
        at: Duration,
    },
}

/// A request to the world outside the picker.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Effect {
    /// Searches the messages after a pause in typing. Replaces the previous search.
    Search {
        question: u64,
        text: String,
    },
    /// Cancels the last search.
    StopSearch,
    /// Reads messages for the preview, unless another preview is requested soon.
    Preview(Wanted),
    Rename {
        id: SessionId,
        title: Title,
    },
    /// Pins or unpins conversations.
    Pin {
        ids: Vec<SessionId>,
        is_pinned: bool,
    },
    /// Adds and removes tags of conversations.
    Tag {
        ids: Vec<SessionId>,
        add: Vec<Tag>,
        remove: Vec<Tag>,
    },
    Delete(Vec<SessionId>),
    /// Writes conversations to a file. An existing file is replaced only if `is_overwriting` is set.
    Export {
        ids: Vec<SessionId>,
        file: PathBuf,
        is_overwriting: bool,
    },
    Suspend,
    /// Leaves, with the chosen conversation.
    Leave(Option<SessionId>),
}

/// A part of a conversation: around a message, or the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) id: SessionId,
    /// A session of the conversation, and a message in it.
    pub(super) place: Option<(SessionId, MessageId)>,
}

/// The messages of a preview, or the reason why they could not be read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Preview {
    Messages(Vec<Message>),
    Failed(String),
}

/// A conversation with a match in its messages.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hit {
    /// The row to show if the list does not contain the conversation.
    pub(super) row: Row,
    /// The session and the message of the best match.
    pub(super) place: (SessionId, MessageId),
}

/// A notice for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) text: String,
    pub(super) is_error: bool,
}

impl Notice {
    pub(super) fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    pub(super) fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_error: true }
    }
}
