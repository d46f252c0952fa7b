//! What an import tells.

use crate::{SessionId, StateCounts, StoreError};

/// The most findings that are told one by one; all are counted.
pub const MAX_FINDINGS: usize = 1_000;

/// What an import came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Sessions that were imported.
    pub sessions: u64,
    /// The messages in them.
    pub messages: u64,
    /// The same by state.
    pub states: StateCounts,
    /// Sessions that were there already, with the same content.
    pub skipped: u64,
    /// Sessions that were there already, with other content. They were left as they are.
    pub conflicts: u64,
    /// Conversations that were moved to the trash, where they had been.
    pub trashed: u64,
    /// Conversations that got a pin or tags from a line with nothing else.
    pub marked: u64,
    /// Lines that could not be read.
    pub bad: u64,
    /// What a person should know, in the order of the lines, at most [`MAX_FINDINGS`].
    pub findings: Vec<Finding>,
}

/// Something about a line that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1.
    pub line: u64,
    /// The session, if the line tells.
    pub session: Option<SessionId>,
    /// What kind of thing it is.
    pub kind: FindingKind,
    /// What it is, as the end of a sentence.
    pub what: String,
}

/// What kind of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// The line could not be read.
    Bad,
    /// The session is there with other content.
    Conflict,
    /// The session was imported under another title.
    Title,
    /// The session was imported without its parent.
    Parent,
    /// A column was not imported.
    Column,
}

impl ImportReport {
    pub(super) fn find(&mut self, line: u64, session: Option<&SessionId>, kind: FindingKind, what: String) {
        match kind {
            FindingKind::Bad => self.bad += 1,
            FindingKind::Conflict => self.conflicts += 1,
            FindingKind::Title | FindingKind::Parent | FindingKind::Column => {}
        }
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(Finding { line, session: session.cloned(), kind, what });
        }
    }
}

/// Why an import stopped. What was imported by then stays; it can be run again from the start.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The input could not be read.
    #[error("could not read line {line}: {source}")]
    Read {
        /// The line, from 1.
        line: u64,
        /// The error underneath.
        source: std::io::Error,
    },
    /// A line is no session, and the import was to stop at the first of them.
    #[error("line {line} {what}")]
    Bad {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
