//! Import: what an export holds, put back, whatever its size.
//!
//! A store takes a session in pieces ([`Maintenance::import`](crate::Maintenance::import)) and shows it when it is whole. Reading the lines, telling what is
//! there already, and linking sessions to parents that come after them is done here, once for all stores.

pub(crate) mod compare;
mod extra;
mod fields;
pub(crate) mod lacking;
mod line;
mod link;
mod rehearsal;
mod report;
mod run;
pub(crate) mod send;
mod trashed;

pub use report::{Finding, FindingKind, ImportError, ImportReport, MAX_FINDINGS};
pub use run::{ImportOptions, Progress, import};
pub use trashed::InTrash;

use crate::{Invalid, Message, MessageId, Relation, Session, SessionId};

/// The largest message id that is kept: beyond it a store might run out of ids.
pub const MAX_KEPT_ID: MessageId = MessageId(1 << 53);

/// Takes a link between two sessions. Providers call this first.
///
/// # Errors
/// If they are one, or the relation is that of a root.
pub fn checked_link(
    child: &SessionId,
    parent: &SessionId,
    relation: Relation,
) -> Result<(SessionId, SessionId), Invalid> {
    let odd =
        |why: &'static str| Invalid::new("parent session", why, "name the session it comes from and what it is to it");
    match relation {
        Relation::Root => Err(odd("is given for a root")),
        _ if child == parent => Err(odd("is the session itself")),
        _ => Ok((child.clone(), parent.clone())),
    }
}

/// A session to be imported, or a piece of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportPiece {
    /// The session as it should be in the end.
    pub session: Session,
    /// How many of its messages went before, in other pieces.
    pub start: u64,
    /// The messages that follow, with the ids they had.
    pub messages: Vec<Message>,
    /// Whether these are the last.
    pub is_last: bool,
}

/// What became of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Imported {
    /// So many of its messages were taken; the session waits for the rest. None at all means that something was in the way and some of
    /// it was removed: the same piece can be sent again.
    Partly(u64),
    /// The session is there as a whole.
    Whole {
        /// The title it has: its own, or the next free one if another session has that.
        title: Option<String>,
        /// The parent it has: nothing if that is not there.
        parent: Option<SessionId>,
    },
    /// There is a session of that id, or somebody else wrote to this one meanwhile. Nothing of it was changed.
    Exists,
}
