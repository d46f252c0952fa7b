//! Report of an import.

use crate::{SessionId, StateCounts, StoreError};

/// Maximum number of findings in a report. All are counted.
pub const MAX_FINDINGS: usize = 1_000;

/// Result of an import.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ImportReport {
    /// Sessions that were imported.
    pub sessions: u64,
    /// Messages of these sessions.
    pub messages: u64,
    /// Messages of these sessions by state.
    pub states: StateCounts,
    /// Sessions that existed already with the same content.
    pub skipped: u64,
    /// Sessions that existed already with other content. They were left unchanged.
    pub conflicts: u64,
    /// Conversations that were moved back to the trash.
    pub trashed: u64,
    /// Conversations that got a pin or tags from a line that has nothing else.
    pub marked: u64,
    /// Lines that could not be read.
    pub bad: u64,
    /// Findings for the user, in the order of the lines, at most [`MAX_FINDINGS`].
    pub findings: Vec<Finding>,
}

/// A fact about a line that the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1.
    pub line: u64,
    /// The session, if the line names it.
    pub session: Option<SessionId>,
    /// Kind of the finding.
    pub kind: FindingKind,
    /// The finding in words, as the end of a sentence.
    pub what: String,
}

/// Kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingKind {
    /// The line could not be read.
    Bad,
    /// The session exists with other content.
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

/// Reason why an import stopped. Sessions imported by then stay; the import can be run again from the start.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The input could not be read.
    #[error("could not read line {line}: {source}")]
    Read {
        /// The line, from 1.
        line: u64,
        /// Underlying error.
        source: std::io::Error,
    },
    /// A line is not a session, and the options say to stop at the first such line.
    #[error("line {line} {what}")]
    Bad {
        /// The line, from 1.
        line: u64,
        /// The defect.
        what: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
