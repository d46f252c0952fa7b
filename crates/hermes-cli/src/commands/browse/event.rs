//! What comes to the picker, and what it asks for in turn. Both are plain values, so that all between them can be tested without a
//! terminal, a store or a clock.

use super::rows::Row;
use hermes_session::{Message, MessageId, SessionId, Title};
use std::path::PathBuf;
use std::time::Duration;

/// Something happened.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Event {
    /// Somebody did something.
    Input(Input),
    /// The terminal has so many columns and lines now.
    Resized(u16, u16),
    /// The next conversations of the list came.
    Rows { rows: Vec<Row>, is_last: bool },
    /// The list ends here, and why.
    ListFailed(String),
    /// Rows of the list can't be read: how many, and what is wrong with the first.
    Unreadable { count: u64, first: String },
    /// What the texts of conversations hold; the number is that of the question.
    Found { question: u64, hits: Vec<Hit>, is_partial: bool },
    /// The texts could not be searched.
    SearchFailed { question: u64, why: String },
    /// What was said in a conversation.
    Previewed { wanted: Wanted, preview: Preview },
    /// A conversation has another title.
    Renamed { id: SessionId, title: Title },
    /// Conversations are gone.
    Deleted { ids: Vec<SessionId>, told: Notice },
    /// A file of that name is there.
    Exists { ids: Vec<SessionId>, file: PathBuf },
    /// There is something to tell.
    Told(Notice),
}

impl Event {
    /// What of something that was begun did not come about, if this tells of it.
    pub(super) fn failure(self) -> Option<String> {
        match self {
            Self::Told(told) | Self::Deleted { told, .. } => told.is_error.then_some(told.text),
            Self::Exists { file, .. } => Some(format!("{} was not exported: it is there already", file.display())),
            _ => None,
        }
    }
}

/// What somebody did.
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
    /// The preview goes so many lines down, or up.
    ScrollPreview(i32),
    Enter,
    Escape,
    /// Leaves, whatever is going on.
    Quit,
    Backspace,
    /// Takes away what was typed.
    Clear,
    /// Takes away the last word.
    ClearWord,
    Mark,
    MarkUp,
    Preview,
    Rename,
    Delete,
    Export,
    Help,
    Suspend,
    Text(String),
    /// The wheel went so many lines down, or up, over this place.
    Wheel {
        lines: i32,
        column: u16,
        row: u16,
    },
    /// A click, so long after the start.
    Click {
        column: u16,
        row: u16,
        at: Duration,
    },
}

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Effect {
    /// Looks for a text in what was said, once nothing else is typed for a while. It takes the place of the search before it.
    Search {
        question: u64,
        text: String,
    },
    /// The last search is not wanted any more.
    StopSearch,
    /// Reads what was said, unless something else is wanted soon.
    Preview(Wanted),
    Rename {
        id: SessionId,
        title: Title,
    },
    Delete(Vec<SessionId>),
    /// Writes conversations to a file. One that is there is replaced only if that was asked.
    Export {
        ids: Vec<SessionId>,
        file: PathBuf,
        is_overwriting: bool,
    },
    Suspend,
    /// Ends, with the conversation that was chosen.
    Leave(Option<SessionId>),
}

/// A part of a conversation: around a place in it, or its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) id: SessionId,
    /// A session of the conversation, and a message in it.
    pub(super) place: Option<(SessionId, MessageId)>,
}

/// What was said there.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Preview {
    Messages(Vec<Message>),
    Failed(String),
}

/// A conversation that has what is searched for in its text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Hit {
    /// As it is shown if the list does not know it.
    pub(super) row: Row,
    /// The session that the best place is in, and the message.
    pub(super) place: (SessionId, MessageId),
}

/// Something to tell.
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
