//! Turns: from a person's message to the stored answer.

use super::{Fence, InboxId, NewOutbound, RouteKey};
use crate::{Invalid, MessageId, NewMessage, SessionId, Timestamp, UsageUpdate};
use std::fmt;

/// Identifies a turn. Ids are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TurnId(pub i64);

impl fmt::Display for TurnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reason for a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TurnKind {
    /// A person said something.
    Person,
    /// A conversation arrived on another surface.
    Handoff,
    /// The model is asked what to remember before a reset.
    Memory,
    /// A webhook or a scheduled task.
    Hook,
}

impl TurnKind {
    /// Returns the stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Handoff => "handoff",
            Self::Memory => "memory",
            Self::Hook => "hook",
        }
    }

    /// Returns the kind for a stored word; `None` for an unknown word.
    pub fn from_stored(word: &str) -> Option<Self> {
        [Self::Person, Self::Handoff, Self::Memory, Self::Hook].into_iter().find(|kind| kind.as_str() == word)
    }
}

/// A message that opens a turn, with the inbox row that it came from.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The message.
    pub message: NewMessage,
    /// Its inbox row; `None` for a message from a terminal.
    pub inbox: Option<InboxId>,
}

impl From<NewMessage> for Said {
    fn from(message: NewMessage) -> Self {
        Self { message, inbox: None }
    }
}

/// A turn to be opened.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTurn {
    /// Session that the messages are appended to.
    pub session: SessionId,
    /// Reason for the turn.
    pub kind: TurnKind,
    /// Route by which the messages came.
    pub route: Option<RouteKey>,
    /// Description of the process for people.
    pub opened_by: String,
    /// Messages that open the turn, one row each.
    pub said: Vec<Said>,
}

impl NewTurn {
    /// Rejects a description with a NUL or of more than 255 bytes, and an inbox row that is named twice. Providers call
    /// this first.
    pub fn check(&self) -> Result<(), Invalid> {
        if self.opened_by.contains('\0') || self.opened_by.len() > crate::MAX_ID_BYTES {
            return Err(Invalid::new("turn", "has an unusable description", "use up to 255 bytes without a NUL"));
        }
        let mut rows: Vec<InboxId> = self.said.iter().filter_map(|said| said.inbox).collect();
        let count = rows.len();
        rows.sort();
        rows.dedup();
        if rows.len() < count {
            return Err(Invalid::new("turn", "names an inbox message twice", "name each message once"));
        }
        Ok(())
    }

    /// Returns the messages in their stored form, or the first reason why one of them is invalid.
    pub fn checked_messages(&self) -> Result<Vec<NewMessage>, Invalid> {
        self.said.iter().map(|said| said.message.clone().checked()).collect()
    }
}

/// An open turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// First session of its conversation.
    pub conversation: SessionId,
    /// Session that messages are appended to. A split moves the turn to the continuation.
    pub session: SessionId,
    /// Reason for it.
    pub kind: TurnKind,
    /// Route by which its messages came.
    pub route: Option<RouteKey>,
    /// Fencing token of the owner that opened or resumed it; `None` if it was opened without one.
    pub fence: Option<Fence>,
    /// Number of attempts: 1 after it was opened, one more for each time it was resumed.
    pub attempts: u32,
    /// Time when it was opened.
    pub opened_at: Timestamp,
    /// Description of the process that opened it.
    pub opened_by: String,
}

/// A turn that was just opened.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenedTurn {
    /// The turn.
    pub turn: Turn,
    /// Ids of the messages that opened it.
    pub messages: Vec<MessageId>,
    /// Turn of an earlier owner that was closed as interrupted.
    pub interrupted: Option<TurnId>,
    /// Notice of the route, which this turn delivers; the route has none from now on.
    pub notice: Option<String>,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TurnClose {
    /// Messages to append: the answer, or what there was of it.
    pub messages: Vec<NewMessage>,
    /// Change of the usage counters.
    pub usage: Option<UsageUpdate>,
    /// Prompt tokens of the last call to the model, stored with the turn's route.
    pub prompt_tokens: Option<i64>,
    /// Replies to deliver.
    pub outbound: Vec<NewOutbound>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    #[test]
    fn kinds_are_read_back() {
        for kind in [TurnKind::Person, TurnKind::Handoff, TurnKind::Memory, TurnKind::Hook] {
            assert_eq!(TurnKind::from_stored(kind.as_str()), Some(kind));
        }
        assert_eq!(TurnKind::from_stored(""), None);
    }

    #[test]
    fn an_inbox_message_opens_a_turn_once() {
        let said = |id| Said { message: NewMessage::new(Role::User, "x"), inbox: Some(InboxId(id)) };
        let turn = |said| NewTurn {
            session: SessionId::from_stored("s"),
            kind: TurnKind::Person,
            route: None,
            opened_by: "test".into(),
            said,
        };
        assert!(turn(vec![said(1), said(2), NewMessage::new(Role::User, "y").into()]).check().is_ok());
        assert!(turn(vec![said(1), said(2), said(1)]).check().is_err());
    }
}
