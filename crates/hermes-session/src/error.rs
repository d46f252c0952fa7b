//! Errors of a store. There are few kinds; each calls for a different reaction of the caller.

mod location;
mod refusal;

pub use location::Location;
pub use refusal::{Purpose, Refusal, ServerProblem, TargetProblem};

use crate::live::{InboxId, TurnId};
use crate::{Invalid, MessageId, RequestKey, SessionId};
use std::path::Path;
use std::time::Duration;

/// Underlying error, as the driver made it.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Reason why a store call failed. Nothing was written, except possibly with `InDoubt`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The session does not exist.
    #[error("there is no session {0:?}")]
    NotFound(String),

    /// The change conflicts with stored data.
    #[error(transparent)]
    Conflict(#[from] Conflict),

    /// A given value is invalid.
    #[error(transparent)]
    Invalid(#[from] Invalid),

    /// Another process held the store's lock until the deadline passed.
    #[error("{location} was locked for {:.1} s while trying to {op}{}", waited.as_secs_f64(), held(holder.as_deref()))]
    Busy {
        /// Location of the store.
        location: Location,
        /// The operation, as a verb.
        op: &'static str,
        /// Time spent waiting.
        waited: Duration,
        /// The lock holder, in words, if it is known.
        holder: Option<String>,
        /// The driver's error.
        source: Cause,
    },

    /// Stored data is damaged.
    #[error("{location} is damaged: {what}")]
    Corrupt {
        /// Location of the store.
        location: Location,
        /// The object: a table and id, or the file.
        what: String,
        /// The driver's error, if it was one.
        source: Option<Cause>,
    },

    /// A file or a server is not a store that this program may use, or a file can't be created.
    #[error("{location} {refusal}")]
    Refused {
        /// The file, or the server.
        location: Location,
        /// Reason for the refusal.
        refusal: Refusal,
    },

    /// There is no space left for the write.
    #[error("could not {op}: no disk space left for {location}")]
    NoRoom {
        /// Location of the store.
        location: Location,
        /// The operation, as a verb.
        op: &'static str,
        /// The driver's error.
        source: Cause,
    },

    /// The store is open for reading only.
    #[error("could not {op}: {location} {reason}")]
    ReadOnly {
        /// The operation, as a verb.
        op: &'static str,
        /// Location of the store.
        location: Location,
        /// Reason why it is not written.
        reason: ReadOnlyReason,
    },

    /// Outcome unknown: the write was made, but it may not be durable because the disk failed, or its answer was lost.
    #[error("outcome unknown: the attempt to {op} in {location} may or may not have succeeded: {source}")]
    InDoubt {
        /// Location of the store.
        location: Location,
        /// The operation, as a verb.
        op: &'static str,
        /// Underlying error.
        source: Cause,
    },

    /// The store can't be reached or the driver failed.
    #[error("could not {op} in {location}: {source}")]
    Backend {
        /// Location of the store.
        location: Location,
        /// The operation, as a verb.
        op: &'static str,
        /// The driver's error.
        source: Cause,
    },
}

/// Reason why a store is open for reading only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadOnlyReason {
    /// The file, its folder or the account does not permit writing.
    NotWritable,
    /// The caller opened it read-only.
    Requested,
}

impl std::fmt::Display for ReadOnlyReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NotWritable => "can't be written here",
            Self::Requested => "was opened for reading only",
        })
    }
}

impl StoreError {
    /// Returns the error for a session that does not exist.
    pub fn no_session(id: &SessionId) -> Self {
        Self::NotFound(id.as_str().to_owned())
    }

    /// Returns the name of the variant, for logs: the error's text may quote titles and other stored text.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "not found",
            Self::Conflict(_) => "conflict",
            Self::Invalid(_) => "invalid",
            Self::Busy { .. } => "busy",
            Self::Corrupt { .. } => "corrupt",
            Self::Refused { .. } => "refused",
            Self::NoRoom { .. } => "no room",
            Self::ReadOnly { .. } => "read only",
            Self::InDoubt { .. } => "in doubt",
            Self::Backend { .. } => "backend",
        }
    }

    /// Returns the error for a file that is refused.
    pub fn refused(path: &Path, refusal: Refusal) -> Self {
        Self::Refused { location: path.into(), refusal }
    }

    /// Returns the error for a file that can't be created.
    pub fn no_target(path: &Path, purpose: Purpose, problem: TargetProblem) -> Self {
        Self::refused(path, Refusal::Target { purpose, problem })
    }
}

fn held(holder: Option<&str>) -> String {
    holder.map_or_else(String::new, |holder| format!("; it is held by {holder}"))
}

/// Conflict between a change and stored data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The id is taken.
    #[error("session {0} already exists")]
    Exists(SessionId),

    /// The title belongs to another session.
    #[error("title {title:?} is in use by session {holder}")]
    TitleTaken {
        /// The title.
        title: String,
        /// Session that has the title.
        holder: SessionId,
    },

    /// The session was compressed already. Two continuations would split the conversation.
    #[error("session {parent} already has a continuation: {continuation}")]
    AlreadySplit {
        /// The session.
        parent: SessionId,
        /// Its continuation.
        continuation: SessionId,
    },

    /// The session is linked to another topic.
    #[error("session {session} is already linked to thread {thread_id} of chat {chat_id}")]
    TopicTaken {
        /// The session.
        session: SessionId,
        /// The chat.
        chat_id: String,
        /// The thread in it.
        thread_id: String,
    },

    /// The request key was used for another change.
    #[error("request key {0} was used for another change")]
    KeyReused(RequestKey),

    /// The caller's lease is not the current one of the session's conversation.
    #[error("session {0} has another owner")]
    Fenced(SessionId),

    /// The transcript changed since the caller read it.
    #[error("session {session} has changed since it was read")]
    Moved {
        /// The session.
        session: SessionId,
        /// Newest message of its transcript.
        newest: Option<MessageId>,
    },

    /// The conversation has an open turn.
    #[error("session {session} is in turn {turn}")]
    TurnOpen {
        /// The session.
        session: SessionId,
        /// The open turn.
        turn: TurnId,
    },

    /// The turn is not open.
    #[error("turn {0} is not open")]
    TurnClosed(TurnId),

    /// A received message does not wait for an answer.
    #[error("received message {} does not wait for an answer", .0.0)]
    InboxSettled(InboxId),
}
