//! Deletion: its extent and its result.

use crate::{Lineage, SessionId};

/// The sessions that a deletion removes together with the named one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeleteExtent {
    /// The conversation that the session is part of: its chain and its delegates.
    Conversation,
    /// The chain that the session is part of, with the delegates of that chain ([`Lineage::chain`]).
    ///
    /// A session of the conversation's own chain stands for the conversation. A delegate stands for itself: the
    /// conversation that started it stays, as if the delegate had never existed, and its last activity is recomputed at
    /// once. No chain is ever cut: a session in its middle, or its tip, stands for the whole chain.
    Chain,
    /// The session alone. Each of its children, whatever its relation, stays as a conversation without a parent,
    /// together with its own descendants. The rest of the deleted session's conversation stays one conversation.
    ///
    /// This is how the agent deletes. It is for programs that call us as they call the agent.
    Session,
}

impl DeleteExtent {
    /// Returns the sessions that are deleted together with `id`.
    pub fn sessions(self, lineage: &Lineage, id: &SessionId) -> Vec<SessionId> {
        match self {
            Self::Conversation => lineage.conversation(id),
            Self::Chain => lineage.chain(id),
            Self::Session => vec![id.clone()],
        }
    }
}

/// Numbers of deleted rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deleted {
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
}
