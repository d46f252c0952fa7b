//! Deletion: what goes with a session, and what went.

use crate::{Lineage, SessionId};

/// What a deletion takes with the session that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeleteExtent {
    /// The conversation that the session is part of: its chain and its delegates.
    Conversation,
    /// The chain that the session is part of, with the delegates of that chain ([`Lineage::chain`]).
    ///
    /// A session of the conversation's own chain stands for the conversation. A delegate stands for itself: the conversation that it was sent
    /// from stays, as if it had never been sent, and its last activity is recomputed at once. No chain is ever cut: a session in its middle, or
    /// its tip, stands for all of it.
    Chain,
    /// The session alone. Each session that comes from it, whatever its relation, stays as a conversation without a parent, together with the
    /// sessions that come from that one. The rest of the conversation that it was part of stays one.
    ///
    /// This is how the agent deletes; it is for programs that call us as they call the agent.
    Session,
}

impl DeleteExtent {
    /// Returns the sessions that go with one.
    pub fn sessions(self, lineage: &Lineage, id: &SessionId) -> Vec<SessionId> {
        match self {
            Self::Conversation => lineage.conversation(id),
            Self::Chain => lineage.chain(id),
            Self::Session => vec![id.clone()],
        }
    }
}

/// What a deletion took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deleted {
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
}
