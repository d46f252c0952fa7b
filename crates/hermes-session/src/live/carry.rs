//! Live data that a transfer carries from one store to another: routes, cursors, open turns, mail, causes of resets.

use super::{
    Account, Fence, InboxId, InboxItem, InboxState, Outbound, OutboundId, OutboundState, ResetCause, Route, RouteKey,
    Turn, TurnId,
};
use crate::SessionId;

/// Live data of a store.
#[derive(Debug, Clone, PartialEq)]
pub enum LiveRecord {
    /// A route.
    Route(Box<Route>),
    /// A former key of a route.
    Alias {
        /// The former key.
        old: RouteKey,
        /// The key of the route.
        key: Box<RouteKey>,
    },
    /// The cursor of an account.
    Cursor {
        /// The account.
        account: Account,
        /// The cursor.
        value: String,
    },
    /// An open turn.
    Turn(Box<Turn>),
    /// A received message.
    Inbox(Box<InboxItem>),
    /// A part of a reply.
    Outbound(Box<Outbound>),
    /// The cause of the reset that ended a session.
    Cause {
        /// The session.
        session: SessionId,
        /// The cause.
        cause: ResetCause,
    },
}

/// Kinds of live data, in the order in which they are carried: what another kind refers to comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LiveKind {
    /// Routes.
    Route,
    /// Former keys of routes.
    Alias,
    /// Cursors of accounts.
    Cursor,
    /// Open turns.
    Turn,
    /// Received messages.
    Inbox,
    /// Parts of replies.
    Outbound,
    /// Causes of resets.
    Cause,
}

impl LiveKind {
    /// Every kind, in order.
    pub const ALL: [Self; 7] =
        [Self::Route, Self::Alias, Self::Cursor, Self::Turn, Self::Inbox, Self::Outbound, Self::Cause];
}

/// Answer to one imported record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carried {
    /// It was stored.
    Stored,
    /// The store has one of this [identity](LiveRecord::identity) already, which stays as it is.
    Known,
    /// It can't be stored, for this reason.
    Left(&'static str),
}

impl LiveRecord {
    /// Returns the kind.
    pub const fn kind(&self) -> LiveKind {
        match self {
            Self::Route(_) => LiveKind::Route,
            Self::Alias { .. } => LiveKind::Alias,
            Self::Cursor { .. } => LiveKind::Cursor,
            Self::Turn(_) => LiveKind::Turn,
            Self::Inbox(_) => LiveKind::Inbox,
            Self::Outbound(_) => LiveKind::Outbound,
            Self::Cause { .. } => LiveKind::Cause,
        }
    }

    /// Returns the values that identify the record in any store. Two records of a store never share them.
    pub fn identity(&self) -> (LiveKind, Vec<String>) {
        let values = match self {
            Self::Route(route) => vec![route.key.to_stored()],
            Self::Alias { old, .. } => vec![old.to_stored()],
            Self::Cursor { account, .. } => vec![account.to_string()],
            Self::Turn(turn) => vec![turn.conversation.to_string()],
            Self::Inbox(item) => {
                vec![item.account.to_string(), item.inbound.chat.clone(), item.inbound.message_id.clone()]
            }
            Self::Outbound(part) => vec![
                part.account.to_string(),
                part.destination.clone(),
                part.content.nonce.clone(),
                part.part.to_string(),
                part.created_at.seconds().to_bits().to_string(),
            ],
            Self::Cause { session, .. } => vec![session.to_string()],
        };
        (self.kind(), values)
    }

    /// Returns the record without the values that have a meaning in one store only. A part that is being sent is one
    /// that may have been delivered.
    #[must_use]
    pub fn portable(self) -> Self {
        match self {
            Self::Turn(turn) => Self::Turn(Box::new(Turn { fence: None::<Fence>, ..*turn })),
            Self::Inbox(item) => {
                Self::Inbox(Box::new(InboxItem { id: InboxId(0), turn: None::<TurnId>, stored_message: None, ..*item }))
            }
            Self::Outbound(part) => {
                Self::Outbound(Box::new(Outbound { id: OutboundId(0), ..part.carried(false, true) }))
            }
            other => other,
        }
    }
}

impl InboxItem {
    /// Returns the message as it is stored in another store, which may lack its turn or the message of the transcript.
    /// Without its turn it is done: its text is in the transcript.
    #[must_use]
    pub fn carried(mut self, has_turn: bool, has_message: bool) -> Self {
        self.turn = self.turn.filter(|_| has_turn);
        self.stored_message = self.stored_message.filter(|_| has_message);
        if self.state == InboxState::Taken && self.turn.is_none() {
            self.state = InboxState::Done;
            self.settled_at = Some(self.received_at);
            self.inbound.payload.clear();
        }
        self
    }
}

impl Outbound {
    /// Returns the part as it is stored in another store, which may lack its turn or its session. One that was being
    /// sent may have been delivered.
    #[must_use]
    pub fn carried(self, has_turn: bool, has_session: bool) -> Self {
        let is_sending = self.state == OutboundState::Sending;
        Self {
            turn: self.turn.filter(|_| has_turn),
            session: self.session.filter(|_| has_session),
            state: if is_sending { OutboundState::Waiting } else { self.state },
            doubtful: self.doubtful || is_sending,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::live::NewPart;

    #[test]
    fn kinds_are_in_order() {
        assert!(LiveKind::ALL.is_sorted());
    }

    #[test]
    fn a_part_that_is_being_sent_is_doubtful_elsewhere() {
        let part = Outbound {
            id: OutboundId(7),
            turn: Some(TurnId(3)),
            session: None,
            account: Account::from_stored("telegram:1"),
            destination: "d".into(),
            part: 0,
            parts: 1,
            content: NewPart { body: "b".into(), plain: None, nonce: "n".into() },
            state: OutboundState::Sending,
            attempts: 1,
            doubtful: false,
            not_before: None,
            holder: Some("h".into()),
            platform_id: None,
            last_error: None,
            created_at: Timestamp::from_seconds(1.0).unwrap(),
            settled_at: None,
        };
        let identity = LiveRecord::Outbound(Box::new(part.clone())).identity();
        let LiveRecord::Outbound(carried) = LiveRecord::Outbound(Box::new(part)).portable() else { panic!("a part") };
        assert_eq!((carried.state, carried.doubtful, carried.attempts), (OutboundState::Waiting, true, 1));
        assert_eq!(LiveRecord::Outbound(carried).identity(), identity);
    }
}
