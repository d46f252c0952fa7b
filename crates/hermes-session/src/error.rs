//! Everything a store can answer instead of what was asked. Few kinds: each leads a caller to do something else.

mod location;
mod refusal;

pub use location::Location;
pub use refusal::{Purpose, Refusal, ServerProblem, TargetProblem};

use crate::{Invalid, RequestKey, SessionId};
use std::path::Path;
use std::time::Duration;

/// The error underneath, as its driver made it.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why a store did not do what it was asked. Nothing was written, unless it is `InDoubt`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such session.
    #[error("there is no session {0:?}")]
    NotFound(String),

    /// It can't be done next to what is there already.
    #[error(transparent)]
    Conflict(#[from] Conflict),

    /// A value that was given can't be taken.
    #[error(transparent)]
    Invalid(#[from] Invalid),

    /// Somebody else held the store until the deadline passed.
    #[error("{location} was locked for {:.1} s while trying to {op}{}", waited.as_secs_f64(), held(holder.as_deref()))]
    Busy {
        /// Where the store is.
        location: Location,
        /// What was being done, as a verb.
        op: &'static str,
        /// How long it was waited for.
        waited: Duration,
        /// Who held it, in words, as far as that can be told.
        holder: Option<String>,
        /// The driver's error.
        source: Cause,
    },

    /// What is stored can't be read as what it should be.
    #[error("{location} is damaged: {what}")]
    Corrupt {
        /// Where the store is.
        location: Location,
        /// The object: a table and id, or the file.
        what: String,
        /// The driver's error, if it was one.
        source: Option<Cause>,
    },

    /// A file or a server is no store that this program may use, or a file can't be created.
    #[error("{location} {refusal}")]
    Refused {
        /// The file, or the server.
        location: Location,
        /// Why it is refused.
        refusal: Refusal,
    },

    /// There is no room left for what should be written.
    #[error("could not {op}: there is no room left for {location}")]
    NoRoom {
        /// Where the store is.
        location: Location,
        /// What was being done, as a verb.
        op: &'static str,
        /// The driver's error.
        source: Cause,
    },

    /// The store is open for reading only.
    #[error("could not {op}: {location} {reason}")]
    ReadOnly {
        /// What was being done, as a verb.
        op: &'static str,
        /// Where the store is.
        location: Location,
        /// Why it is not written.
        reason: ReadOnlyReason,
    },

    /// It was done, but it can't be told whether it will last: the disk failed, or the answer was lost.
    #[error("could not {op} for certain in {location}: {source}")]
    InDoubt {
        /// Where the store is.
        location: Location,
        /// What was being done, as a verb.
        op: &'static str,
        /// What failed.
        source: Cause,
    },

    /// The store can't be reached or the driver failed.
    #[error("could not {op} in {location}: {source}")]
    Backend {
        /// Where the store is.
        location: Location,
        /// What was being done, as a verb.
        op: &'static str,
        /// The driver's error.
        source: Cause,
    },
}

/// Why a store is open for reading only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadOnlyReason {
    /// The file, its folder or the account does not permit writing.
    NotWritable,
    /// The caller opened it so.
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
    /// The error for a session that is not there.
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

/// Two things that can't both be true.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The id is taken.
    #[error("there is a session {0} already")]
    Exists(SessionId),

    /// The title belongs to another session.
    #[error("title {title:?} is in use by session {holder}")]
    TitleTaken {
        /// The title.
        title: String,
        /// Whose it is.
        holder: SessionId,
    },

    /// The session was compressed already; two continuations would tear the conversation apart.
    #[error("session {parent} has a continuation already: {continuation}")]
    AlreadySplit {
        /// The session.
        parent: SessionId,
        /// Where it goes on.
        continuation: SessionId,
    },

    /// The session has another topic.
    #[error("session {session} is linked to thread {thread_id} of chat {chat_id} already")]
    TopicTaken {
        /// The session.
        session: SessionId,
        /// The chat.
        chat_id: String,
        /// The thread in it.
        thread_id: String,
    },

    /// The request key was used for something else.
    #[error("request key {0} was used for another change")]
    KeyReused(RequestKey),
}
