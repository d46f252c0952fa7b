//! Import: puts the content of an export back, whatever its size.
//!
//! A store takes a session in pieces ([`Maintenance::import`](crate::Maintenance::import)) and shows it when it is
//! complete. This module parses the lines, recognises sessions that exist already, and links sessions to parents that
//! come after them, once for all stores.

pub(crate) mod compare;
mod extra;
mod fields;
pub(crate) mod lacking;
mod line;
mod link;
mod live;
mod rehearsal;
mod report;
pub(crate) mod rows;
mod run;
pub(crate) mod send;
mod trashed;

pub use report::{Finding, FindingKind, ImportError, ImportReport, MAX_FINDINGS};
pub use rows::{LeftOut, TableRow, count_left_out};
pub use run::{ImportOptions, Progress, import};
pub use trashed::InTrash;

use crate::{Invalid, Message, MessageId, Relation, Session, SessionId};

/// Largest message id that is kept. Beyond it a store might run out of ids.
pub const MAX_KEPT_ID: MessageId = MessageId(1 << 53);

/// Validates a link between two sessions. Providers call this first.
///
/// # Errors
/// If they are the same session, or the relation is that of a root.
pub fn checked_link(
    child: &SessionId,
    parent: &SessionId,
    relation: Relation,
) -> Result<(SessionId, SessionId), Invalid> {
    let odd = |why: &'static str| Invalid::new("parent session", why, "name the parent session and the relation to it");
    match relation {
        Relation::Root => Err(odd("is given for a root")),
        _ if child == parent => Err(odd("is the session itself")),
        _ => Ok((child.clone(), parent.clone())),
    }
}

/// A session to be imported, or a piece of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportPiece {
    /// The session in its final form.
    pub session: Session,
    /// Number of its messages in earlier pieces.
    pub start: u64,
    /// Messages of this piece, with their original ids.
    pub messages: Vec<Message>,
    /// Whether this is the last piece.
    pub is_last: bool,
}

/// Result of importing a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// This many of its messages were taken; the session waits for the rest. Zero means that rows were in the way and
    /// some of them were removed: the same piece can be sent again.
    Partly(u64),
    /// The session is complete.
    Whole {
        /// Title that it got: its own, or the next free one if another session has that title.
        title: Option<String>,
        /// Parent that it got; `None` if the parent does not exist.
        parent: Option<SessionId>,
    },
    /// A session with that id exists, or another writer wrote to this one meanwhile. Nothing of it was changed.
    Exists,
}
