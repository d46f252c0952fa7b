//! Undone messages: taken back by a person, kept by the store.

use crate::{Invalid, Message, MessageId, SessionId, Timestamp};

/// Result of an undo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Undone {
    /// Number of the batch. A later undo of the same session has a greater one.
    pub batch: i64,
    /// Number of messages that are no longer part of the transcript.
    pub messages: u64,
}

/// A message that was undone.
#[derive(Debug, Clone, PartialEq)]
pub struct UndoneMessage {
    /// The batch it was undone with; `None` if the agent did it, which records none.
    pub batch: Option<i64>,
    /// Time of the undo; `None` if the agent did it.
    pub undone_at: Option<Timestamp>,
    /// The message. Its state is [`Undone`](crate::MessageState::Undone).
    pub message: Message,
}

/// Returns the error for an undo from a message that is not part of the session's transcript.
pub fn not_in_transcript(session: &SessionId, from: MessageId) -> Invalid {
    let hint = "read the session and name a message of its transcript";
    Invalid::new("message", format!("{} is not part of the transcript of session {session}", from.0), hint)
}
