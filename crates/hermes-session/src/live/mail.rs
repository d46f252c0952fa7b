//! Mail: messages received from platforms, and replies to deliver.

use super::{RouteKey, TurnId};
use crate::{Invalid, MAX_ID_BYTES, MessageId, SessionId, Timestamp};
use std::fmt;

/// Maximum size of the payload of a received message, and of the text of a part, in bytes.
pub const MAX_PAYLOAD: usize = 8 * 1024 * 1024;

/// Maximum length of a cursor, in bytes.
pub const MAX_CURSOR: usize = 4_096;

/// An account on a platform: the platform's name, a colon, and a hash of the account's secret.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account(String);

impl Account {
    /// Parses an account of 1 to 255 bytes without a NUL.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        check_id("account", &text)?;
        Ok(Self(text))
    }

    /// Takes an account as a store holds it.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the account as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Identifies a received message within one store. A later one has the larger id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InboxId(pub i64);

/// Identifies a part of a reply within one store. A later one has the larger id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutboundId(pub i64);

/// A message that a platform delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbound {
    /// The chat, by the platform's id.
    pub chat: String,
    /// The platform's id of the message. Account, chat and this id name the message: it is stored once.
    pub message_id: String,
    /// Route that it belongs to.
    pub route: Option<RouteKey>,
    /// Session that it is meant for, if it was sent to one directly.
    pub session: Option<SessionId>,
    /// The message, in the receiver's own form.
    pub payload: String,
}

impl Inbound {
    /// Rejects an unusable id and a payload that is over-long or contains a NUL. Providers call this first.
    pub fn check(&self) -> Result<(), Invalid> {
        check_id("chat", &self.chat)?;
        check_id("message id", &self.message_id)?;
        check_payload("payload", &self.payload)?;
        self.route.as_ref().map_or(Ok(()), RouteKey::check)
    }
}

/// Rejects a cursor that contains a NUL or is longer than 4 KiB. Providers call this first.
pub fn check_cursor(cursor: Option<&str>) -> Result<(), Invalid> {
    if cursor.is_some_and(|cursor| cursor.contains('\0') || cursor.len() > MAX_CURSOR) {
        return Err(Invalid::new("cursor", "is unusable", "use up to 4,096 bytes without a NUL"));
    }
    Ok(())
}

/// Answer to one received message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Received {
    /// It is stored now.
    New(InboxId),
    /// It was stored before.
    Known(InboxId),
}

/// State of a received message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InboxState {
    /// It waits for a turn.
    Waiting,
    /// A turn that is open has it.
    Taken,
    /// It was answered or dismissed. Its payload is empty.
    Done,
}

impl InboxState {
    /// Returns the stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Taken => "taken",
            Self::Done => "done",
        }
    }

    /// Returns the state for a stored word; `None` for an unknown word.
    pub fn from_stored(word: &str) -> Option<Self> {
        [Self::Waiting, Self::Taken, Self::Done].into_iter().find(|state| state.as_str() == word)
    }
}

/// A received message as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct InboxItem {
    /// Its id.
    pub id: InboxId,
    /// Account that received it.
    pub account: Account,
    /// The message.
    pub inbound: Inbound,
    /// Its state.
    pub state: InboxState,
    /// The turn that has or had it.
    pub turn: Option<TurnId>,
    /// The message of the transcript that was made of it.
    pub stored_message: Option<MessageId>,
    /// Number of turns that took it.
    pub attempts: u32,
    /// Time when it was received.
    pub received_at: Timestamp,
    /// Time when it was done.
    pub settled_at: Option<Timestamp>,
}

/// A part of a reply to be delivered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPart {
    /// The text, in the platform's markup.
    pub body: String,
    /// The text without markup, for a platform that refuses the markup.
    pub plain: Option<String>,
    /// Value by which a platform recognises a repetition.
    pub nonce: String,
}

/// A reply to be delivered, in parts that the platform takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewOutbound {
    /// Account that delivers it.
    pub account: Account,
    /// The destination, in the deliverer's own form. Parts for one destination are delivered in order.
    pub destination: String,
    /// The parts, in order.
    pub parts: Vec<NewPart>,
}

impl NewOutbound {
    /// Rejects an unusable destination or nonce, and a text that is over-long or contains a NUL. Providers call this
    /// first.
    pub fn check(&self) -> Result<(), Invalid> {
        check_id("destination", &self.destination)?;
        for part in &self.parts {
            check_id("nonce", &part.nonce)?;
            check_payload("reply", &part.body)?;
            check_payload("reply", part.plain.as_deref().unwrap_or_default())?;
        }
        Ok(())
    }

    /// Checks all of them.
    pub fn check_all(all: &[Self]) -> Result<(), Invalid> {
        all.iter().try_for_each(Self::check)
    }
}

/// State of a part of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutboundState {
    /// It waits for a deliverer.
    Waiting,
    /// A deliverer has it.
    Sending,
    /// The platform has it.
    Sent,
    /// The platform refused it for good.
    Refused,
    /// It was given up.
    GivenUp,
}

impl OutboundState {
    /// Every state.
    pub const ALL: [Self; 5] = [Self::Waiting, Self::Sending, Self::Sent, Self::Refused, Self::GivenUp];

    /// Returns the stored word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Sending => "sending",
            Self::Sent => "sent",
            Self::Refused => "refused",
            Self::GivenUp => "given_up",
        }
    }

    /// Returns the state for a stored word; `None` for an unknown word.
    pub fn from_stored(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Returns whether the part needs no further attempt.
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Sent | Self::Refused | Self::GivenUp)
    }
}

/// A part of a reply as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Outbound {
    /// Its id.
    pub id: OutboundId,
    /// The turn that it answers.
    pub turn: Option<TurnId>,
    /// The session of that turn.
    pub session: Option<SessionId>,
    /// Account that delivers it.
    pub account: Account,
    /// The destination.
    pub destination: String,
    /// Its index among the parts of the reply, from 0.
    pub part: u32,
    /// Number of parts of the reply.
    pub parts: u32,
    /// The text.
    pub content: NewPart,
    /// Its state.
    pub state: OutboundState,
    /// Number of attempts so far. The last one is named when the part is settled.
    pub attempts: u32,
    /// Whether an attempt ended without an answer, so that the platform may have it already.
    pub doubtful: bool,
    /// Time before which it is not tried again.
    pub not_before: Option<Timestamp>,
    /// The deliverer that has or had it ([`Holder::key`](super::Holder::key)).
    pub holder: Option<String>,
    /// The platform's id of the delivered message.
    pub platform_id: Option<String>,
    /// Error of the last attempt.
    pub last_error: Option<String>,
    /// Time when it was queued.
    pub created_at: Timestamp,
    /// Time when it was settled.
    pub settled_at: Option<Timestamp>,
}

/// Result of an attempt to deliver a part.
#[derive(Debug, Clone, PartialEq)]
pub enum Settled {
    /// The platform has it.
    Sent {
        /// The platform's id of the message.
        platform_id: Option<String>,
    },
    /// It has to be tried again.
    Later {
        /// Time of the next attempt.
        not_before: Timestamp,
        /// Whether it is certain that the platform does not have it.
        certain: bool,
        /// The error.
        error: String,
    },
    /// The platform refused it for good.
    Refused {
        /// The error.
        error: String,
    },
    /// It is given up.
    GivenUp {
        /// The reason.
        error: String,
    },
}

impl Settled {
    /// Rejects a text with a NUL. Providers call this first.
    pub fn check(&self) -> Result<(), Invalid> {
        match self {
            Self::Sent { platform_id } => {
                platform_id.as_ref().map_or(Ok(()), |text| check_id("platform's message id", text))
            }
            Self::Later { error, .. } | Self::Refused { error } | Self::GivenUp { error } => {
                check_payload("error", error)
            }
        }
    }
}

impl Outbound {
    /// Returns whether a deliverer may take it now. The caller knows that it is the first unsettled part of its
    /// destination.
    pub fn is_due(&self, holder: &str, now: Timestamp) -> bool {
        match self.state {
            OutboundState::Waiting => self.not_before.is_none_or(|time| time <= now),
            // Only another deliverer takes it: one process does not start a second attempt beside its first.
            OutboundState::Sending => self.holder.as_deref() != Some(holder),
            _ => false,
        }
    }

    /// Returns the part as taken by a deliverer. If another one had it, its attempt ended without an answer.
    #[must_use]
    pub fn taken(self, holder: &str) -> Self {
        Self {
            doubtful: self.doubtful || self.state == OutboundState::Sending,
            state: OutboundState::Sending,
            attempts: self.attempts.saturating_add(1),
            holder: Some(holder.to_owned()),
            ..self
        }
    }

    /// Returns the part after an attempt; `None` if `attempt` is not the current one.
    pub fn settled(self, attempt: u32, how: &Settled, now: Timestamp) -> Option<Self> {
        if self.state != OutboundState::Sending || self.attempts != attempt {
            return None;
        }
        let done = |state: OutboundState, error: Option<&String>, part: Self| Self {
            state,
            last_error: error.cloned(),
            settled_at: Some(now),
            ..part
        };
        Some(match how {
            Settled::Sent { platform_id } => {
                done(OutboundState::Sent, None, Self { platform_id: platform_id.clone(), ..self })
            }
            Settled::Later { not_before, certain, error } => Self {
                state: OutboundState::Waiting,
                not_before: Some(*not_before),
                doubtful: self.doubtful || !certain,
                last_error: Some(error.clone()),
                ..self
            },
            Settled::Refused { error } => done(OutboundState::Refused, Some(error), self),
            Settled::GivenUp { error } => done(OutboundState::GivenUp, Some(error), self),
        })
    }
}

pub(super) fn check_id(what: &'static str, text: &str) -> Result<(), Invalid> {
    if text.is_empty() || text.len() > MAX_ID_BYTES || text.contains('\0') {
        return Err(Invalid::new(what, "is unusable", "use 1 to 255 bytes without a NUL"));
    }
    Ok(())
}

fn check_payload(what: &'static str, text: &str) -> Result<(), Invalid> {
    if text.contains('\0') {
        return Err(Invalid::new(what, "contains a NUL character", "remove it"));
    }
    if text.len() > MAX_PAYLOAD {
        return Err(Invalid::new(what, format!("is {} bytes long", text.len()), "use at most 8 MiB"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_seconds(seconds).unwrap()
    }

    fn part() -> Outbound {
        Outbound {
            id: OutboundId(1),
            turn: None,
            session: None,
            account: Account::parse("telegram:1").unwrap(),
            destination: "d".into(),
            part: 0,
            parts: 1,
            content: NewPart { body: "b".into(), plain: None, nonce: "n".into() },
            state: OutboundState::Waiting,
            attempts: 0,
            doubtful: false,
            not_before: None,
            holder: None,
            platform_id: None,
            last_error: None,
            created_at: at(0.0),
            settled_at: None,
        }
    }

    #[test]
    fn an_attempt_without_an_answer_makes_a_part_doubtful() {
        let first = part().taken("a");
        assert!(!first.doubtful && !first.is_due("a", at(9.0)) && first.is_due("b", at(9.0)));
        let second = first.clone().taken("b");
        assert!(second.doubtful && second.attempts == 2);
        assert_eq!(second.clone().settled(1, &Settled::Sent { platform_id: None }, at(1.0)), None);
        let later = |certain| Settled::Later { not_before: at(5.0), certain, error: "429".into() };
        assert!(!first.clone().settled(1, &later(true), at(1.0)).unwrap().doubtful);
        let waiting = first.settled(1, &later(false), at(1.0)).unwrap();
        assert!(waiting.doubtful && !waiting.is_due("a", at(4.9)) && waiting.is_due("a", at(5.0)));
        let sent = second.settled(2, &Settled::Sent { platform_id: Some("7".into()) }, at(2.0)).unwrap();
        assert!(sent.state.is_settled() && sent.settled_at == Some(at(2.0)));
        assert_eq!(sent.settled(2, &Settled::Refused { error: "x".into() }, at(3.0)), None);
    }

    #[test]
    fn states_are_read_back() {
        for state in OutboundState::ALL {
            assert_eq!(OutboundState::from_stored(state.as_str()), Some(state));
        }
        for state in [InboxState::Waiting, InboxState::Taken, InboxState::Done] {
            assert_eq!(InboxState::from_stored(state.as_str()), Some(state));
        }
    }
}
