//! Changes since a mark, for terminals, chats and pages that follow conversations.

use crate::SessionId;

/// A position in the sequence of changes of a store. Its text is for the store that returned it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ChangeMark(pub String);

/// The kinds of change that a session went through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds {
    /// Messages were added.
    pub messages: bool,
    /// Messages were changed, undone, replaced or deleted: a reader of the transcript has to read it again.
    pub rewritten: bool,
    /// A value of the session changed: title, end, usage, settings, archive, place in its lineage, handoff.
    pub session: bool,
    /// The owner of its conversation changed, or a turn was opened or closed. Reported for the conversation's first
    /// session.
    pub owner: bool,
    /// The session was created, or came back from the trash.
    pub created: bool,
    /// The session was deleted.
    pub deleted: bool,
}

impl Kinds {
    /// Messages were added, and nothing else.
    pub const MESSAGES: Self = Self::from_bits(1);
    /// Messages were rewritten, and nothing else.
    pub const REWRITTEN: Self = Self::from_bits(2);
    /// A value of the session changed, and nothing else.
    pub const SESSION: Self = Self::from_bits(4);
    /// The owner or the turn changed, and nothing else.
    pub const OWNER: Self = Self::from_bits(8);
    /// The session was created, and nothing else.
    pub const CREATED: Self = Self::from_bits(16);
    /// The session was deleted, and nothing else.
    pub const DELETED: Self = Self::from_bits(32);

    /// Returns whether all kinds of the other one are among these.
    pub const fn contain(self, other: Self) -> bool {
        self.bits() & other.bits() == other.bits()
    }

    /// Returns the kinds of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            messages: self.messages || other.messages,
            rewritten: self.rewritten || other.rewritten,
            session: self.session || other.session,
            owner: self.owner || other.owner,
            created: self.created || other.created,
            deleted: self.deleted || other.deleted,
        }
    }

    /// Returns the kinds as bits, for storage.
    pub const fn bits(self) -> i64 {
        self.messages as i64
            | (self.rewritten as i64) << 1
            | (self.session as i64) << 2
            | (self.owner as i64) << 3
            | (self.created as i64) << 4
            | (self.deleted as i64) << 5
    }

    /// Returns the kinds of stored bits. Unknown bits count as nothing.
    pub const fn from_bits(bits: i64) -> Self {
        Self {
            messages: bits & 1 != 0,
            rewritten: bits & 2 != 0,
            session: bits & 4 != 0,
            owner: bits & 8 != 0,
            created: bits & 16 != 0,
            deleted: bits & 32 != 0,
        }
    }
}

/// A session that changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The session.
    pub session: SessionId,
    /// First session of its conversation; `None` if the session is gone.
    pub conversation: Option<SessionId>,
    /// Kinds of change since the mark. A store may report a kind once more than it happened, never less.
    pub kinds: Kinds,
}

/// Changes since a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changes {
    /// The sessions that changed, each once, in the order of their ids.
    pub changed: Vec<Changed>,
    /// The mark is too old or of another store: the reader has to read everything again.
    pub is_reset: bool,
    /// Mark for the next call.
    pub next: ChangeMark,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_back() {
        for bits in 0..64 {
            assert_eq!(Kinds::from_bits(bits).bits(), bits);
        }
        let both = Kinds::MESSAGES.and(Kinds::OWNER);
        assert_eq!(both.and(Kinds::SESSION), Kinds::from_bits(13));
        assert!(both.contain(Kinds::OWNER) && both.contain(both) && !both.contain(Kinds::OWNER.and(Kinds::DELETED)));
    }
}
