//! Report of a transfer.

use crate::{SessionId, StateCounts, StoreError};
use std::collections::BTreeSet;

/// Maximum number of findings in a report. All are counted.
pub const MAX_FINDINGS: usize = 1_000;

/// Progress of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Current phase.
    pub phase: Phase,
    /// Amount done, in messages; in sessions where no messages are read.
    pub done: u64,
    /// Total amount, as far as it is known.
    pub total: u64,
}

/// Phases of a transfer, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Looks for sessions in the target that are not in the source.
    Looking,
    /// Copies sessions and their messages.
    Copying,
    /// Links sessions to their parents.
    Linking,
    /// Compares every session on both sides.
    Proving,
    /// Searches both sides for the same words.
    Searching,
}

/// Result of a transfer.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransferReport {
    /// Sessions that were copied.
    pub sessions: u64,
    /// Their messages.
    pub messages: u64,
    /// Messages of these sessions by state.
    pub states: StateCounts,
    /// Sessions that existed already and look equal in the list.
    pub skipped: u64,
    /// Sessions that existed already in an earlier state and were brought up to date.
    pub caught_up: u64,
    /// Sessions that exist with other content. They were left unchanged.
    pub conflicts: BTreeSet<SessionId>,
    /// Sessions that could not be copied at all.
    pub unreadable: u64,
    /// Values beside the sessions that were copied.
    pub values: u64,
    /// Rows about topics of chats that were copied.
    pub topics: u64,
    /// Conversations that got a pin or tags.
    pub pins_and_tags: u64,
    /// Records of live data that were copied: routes, cursors, open turns, mail, causes of resets.
    pub live: u64,
    /// Position from which an unfinished transfer was continued, if there was one.
    pub resumed_after: Option<SessionId>,
    /// Number of findings.
    pub found: u64,
    /// The first of them, at most [`MAX_FINDINGS`].
    pub findings: Vec<Finding>,
}

/// A fact that the user should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Its kind.
    pub kind: FindingKind,
    /// The session it is about, if any.
    pub session: Option<SessionId>,
    /// The finding in words, as the end of a sentence.
    pub what: String,
}

/// Kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// The session exists with other content.
    Conflict,
    /// A session, or another row, can't be read or can't be kept by any store.
    Unreadable,
    /// A column was not copied, or was changed.
    Column,
    /// The session has another title, because its own is taken.
    Title,
    /// The session has no parent in the target.
    Parent,
    /// The session changed or was deleted while it was read.
    Changed,
    /// A value beside the sessions exists with other content.
    Value,
    /// A row about topics of chats was not copied.
    Topic,
    /// A record of live data has no place in the target.
    Live,
    /// Something that another program keeps in the source has no place in the target.
    Foreign,
}

impl FindingKind {
    /// Returns the kind as one word, for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Conflict => "conflict",
            Self::Unreadable => "unreadable",
            Self::Column => "column",
            Self::Title => "title",
            Self::Parent => "parent",
            Self::Changed => "changed",
            Self::Value => "value",
            Self::Topic => "topic",
            Self::Live => "live",
            Self::Foreign => "foreign",
        }
    }
}

impl TransferReport {
    pub(super) fn find(&mut self, kind: FindingKind, session: Option<&SessionId>, what: impl Into<String>) {
        match (kind, session) {
            (FindingKind::Conflict, Some(id)) => _ = self.conflicts.insert(id.clone()),
            (FindingKind::Unreadable, _) => self.unreadable += 1,
            _ => {}
        }
        self.found += 1;
        if self.findings.len() < MAX_FINDINGS {
            self.findings.push(Finding { kind, session: session.cloned(), what: what.into() });
        }
    }
}

/// Reason why a transfer stopped. Sessions copied by then stay, and it can be run again.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The target holds sessions that the source does not have, and the options do not permit that.
    #[error("the target holds {count} sessions that are not in the source, such as {example}")]
    OtherData {
        /// Their number.
        count: u64,
        /// One of them.
        example: SessionId,
    },
    /// The unfinished transfer came from another store.
    #[error("the unfinished transfer came from {from}")]
    OtherSource {
        /// Its source.
        from: String,
    },
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
