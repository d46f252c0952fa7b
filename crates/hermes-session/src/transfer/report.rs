//! What a transfer tells.

use crate::{SessionId, StateCounts, StoreError};
use std::collections::BTreeSet;

/// The most findings that are told one by one; all are counted.
pub const MAX_FINDINGS: usize = 1_000;

/// How far a transfer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// How much of it is done, in messages; in sessions where no messages are read.
    pub done: u64,
    /// All of it, as far as that is known.
    pub total: u64,
}

/// What a transfer does, in this order.
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

/// What a transfer came to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransferReport {
    /// Sessions that were copied.
    pub sessions: u64,
    /// The messages in them.
    pub messages: u64,
    /// The same by state.
    pub states: StateCounts,
    /// Sessions that were there already, and are the same as far as a glance tells.
    pub skipped: u64,
    /// Sessions that were there already and got what was said since.
    pub caught_up: u64,
    /// Sessions that are there with other content. They were left as they are.
    pub conflicts: BTreeSet<SessionId>,
    /// Sessions that could not be carried at all.
    pub unreadable: u64,
    /// Values beside the sessions that were copied.
    pub values: u64,
    /// Rows about topics of chats that were copied.
    pub topics: u64,
    /// Conversations that got a pin or tags.
    pub pins_and_tags: u64,
    /// Where it went on, if a transfer before had not come to its end.
    pub resumed_after: Option<SessionId>,
    /// How many things were found that a person should know.
    pub found: u64,
    /// The first of them, at most [`MAX_FINDINGS`].
    pub findings: Vec<Finding>,
}

/// Something that a person should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What kind of thing it is.
    pub kind: FindingKind,
    /// The session, if it is about one.
    pub session: Option<SessionId>,
    /// What it is, as the end of a sentence.
    pub what: String,
}

/// What kind of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// The session is there with other content.
    Conflict,
    /// A session, or another row, can't be read or can't be kept by any store.
    Unreadable,
    /// A column was not carried, or not as it was.
    Column,
    /// The session has another title, because its own is taken.
    Title,
    /// The session has no parent there.
    Parent,
    /// The session changed or went while it was read.
    Changed,
    /// A value beside the sessions is there with other content.
    Value,
    /// A row about topics of chats was not carried.
    Topic,
    /// Something that another program keeps in the source has no place in the target.
    Foreign,
}

impl FindingKind {
    /// The kind in one word, for programs.
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

/// Why a transfer stopped. What was copied by then stays, and it can be run again.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The target holds sessions that the source does not, and nobody said that this is meant.
    #[error("the target holds {count} sessions that are not in the source, such as {example}")]
    OtherData {
        /// How many.
        count: u64,
        /// One of them.
        example: SessionId,
    },
    /// The transfer that did not end came from another store.
    #[error("the transfer that was not finished there came from {from}")]
    OtherSource {
        /// From where.
        from: String,
    },
    /// Somebody asked to stop.
    #[error("stopped")]
    Stopped,
    /// A store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
