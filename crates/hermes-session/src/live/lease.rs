//! Leases: exclusive, expiring ownership with a fencing token.

use super::Account;
use crate::{Invalid, MessageId, SessionId, Timestamp};
use std::time::Duration;

/// Maximum length of the name of a hold, in bytes.
pub const MAX_HOLD_NAME: usize = 64;

/// Fencing token of a lease. Every grant draws another one, so a write under an old token is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub i64);

/// The thing that a lease is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// A conversation with its continuations and delegates, named by any of its sessions. A lease names the first one.
    Conversation(SessionId),
    /// An account of a platform: one gateway receives and delivers its messages.
    Account(Account),
    /// A background process that prevents the reset of a conversation.
    Hold {
        /// Any session of the conversation. A lease names the first one.
        session: SessionId,
        /// Name of the process within the conversation.
        name: String,
    },
}

impl Resource {
    /// Prefix of the stored keys of all conversations.
    pub const CONVERSATIONS: &'static str = "c:";
    /// Prefix of the stored keys of all accounts.
    pub const ACCOUNTS: &'static str = "p:";
    /// Prefix of the stored keys of all holds.
    pub const HOLDS: &'static str = "h:";

    /// Returns the stored key. The session must be the first one of its conversation.
    pub fn key(&self) -> String {
        match self {
            Self::Conversation(root) => format!("c:{root}"),
            Self::Account(account) => format!("p:{}", account.as_str()),
            Self::Hold { session, name } => format!("h:{session}:{name}"),
        }
    }

    /// Parses a stored key; `None` if it is of no known kind.
    pub fn from_key(key: &str) -> Option<Self> {
        let (kind, rest) = key.split_at_checked(2)?;
        match kind {
            Self::CONVERSATIONS => Some(Self::Conversation(SessionId::from_stored(rest))),
            Self::ACCOUNTS => Account::parse(rest).ok().map(Self::Account),
            Self::HOLDS => {
                let (session, name) = rest.rsplit_once(':')?;
                Some(Self::Hold { session: SessionId::from_stored(session), name: name.to_owned() })
            }
            _ => None,
        }
    }

    /// Returns the session by which the resource names a conversation; `None` for an account.
    pub const fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Conversation(session) | Self::Hold { session, .. } => Some(session),
            Self::Account(_) => None,
        }
    }

    /// Returns the resource named by the first session of its conversation.
    #[must_use]
    pub fn rooted(self, root: SessionId) -> Self {
        match self {
            Self::Conversation(_) => Self::Conversation(root),
            Self::Hold { name, .. } => Self::Hold { session: root, name },
            account @ Self::Account(_) => account,
        }
    }

    /// Rejects a hold whose name is empty, over-long, or contains a colon or a NUL. Providers call this first.
    pub fn check(&self) -> Result<(), Invalid> {
        let Self::Hold { name, .. } = self else { return Ok(()) };
        if name.is_empty() || name.len() > MAX_HOLD_NAME || name.contains([':', '\0']) {
            return Err(Invalid::new("hold", "has an unusable name", "use 1 to 64 bytes without a colon"));
        }
        Ok(())
    }
}

/// A process that holds leases.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Holder {
    /// The machine or container: boot id and process namespace, or a random value where these are unknown.
    pub host: String,
    /// Process id on that host.
    pub process: i64,
    /// Start time of the process, as the host reports it. A process id that was used again has another one.
    pub born: String,
    /// Description for people, such as `chat on laptop`.
    pub label: String,
}

impl Holder {
    /// Returns the text that identifies the process: host, process id and start time.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.host, self.process, self.born)
    }

    /// Rejects a NUL, which a server can't store, and over-long values. Providers call this first.
    pub fn check(&self) -> Result<(), Invalid> {
        for text in [&self.host, &self.born, &self.label] {
            if text.contains('\0') || text.len() > crate::MAX_ID_BYTES {
                return Err(Invalid::new("holder", "has an unusable value", "use up to 255 bytes without a NUL"));
            }
        }
        Ok(())
    }
}

/// A lease as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Lease {
    /// The resource, named by the first session of its conversation.
    pub resource: Resource,
    /// Fencing token of this grant.
    pub fence: Fence,
    /// The holder.
    pub holder: Holder,
    /// Whether the holder said that it must not be disturbed.
    pub busy: bool,
    /// Time of the grant, by the clock that judges the expiry.
    pub taken_at: Timestamp,
    /// Expiry, by the same clock.
    pub until: Timestamp,
}

/// Condition under which a lease may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Nobody holds it, or it has expired.
    Free,
    /// As `Free`, or its holder is not in a turn.
    Idle,
    /// As `Free`, or it has this token: the caller saw that its process is gone.
    Dead(Fence),
    /// As `Free`, or it has this token: a person decided to take it over.
    Force(Fence),
}

/// Duration and condition of a request for a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// Time until it expires unless it is renewed.
    pub ttl: Duration,
    /// Condition under which it may be taken.
    pub take: Take,
}

impl Terms {
    /// Maximum time to live: that of a hold.
    pub const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

    /// Returns terms that take a lease only if nobody holds it.
    pub const fn free(ttl: Duration) -> Self {
        Self { ttl, take: Take::Free }
    }

    /// Rejects a time to live of more than a day. Providers call this first.
    pub fn check(&self) -> Result<(), Invalid> {
        check_ttl(self.ttl)
    }
}

/// Rejects a time to live of more than a day. Providers call this first when they renew a lease.
pub fn check_ttl(ttl: Duration) -> Result<(), Invalid> {
    if ttl > Terms::MAX_TTL {
        return Err(Invalid::new("lease", "would last longer than a day", "use at most 24 hours, and renew it"));
    }
    Ok(())
}

impl Lease {
    /// Returns whether it has expired.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.until <= now
    }

    /// Returns whether it may be taken. `is_in_turn` says whether its holder has an open turn in the store.
    pub fn yields(&self, take: Take, is_in_turn: bool, now: Timestamp) -> bool {
        self.is_expired(now)
            || match take {
                Take::Free => false,
                Take::Idle => !self.busy && !is_in_turn,
                Take::Dead(fence) | Take::Force(fence) => fence == self.fence,
            }
    }

    /// Returns the expiry of a lease that is granted or renewed now.
    pub fn expiry(now: Timestamp, ttl: Duration) -> Timestamp {
        now.plus(ttl.as_secs_f64())
    }
}

/// A granted lease, with the end of its conversation at the moment of the grant.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    /// The lease.
    pub lease: Lease,
    /// Last session of the conversation; `None` for an account.
    pub tip: Option<SessionId>,
    /// Newest message of that session's transcript, for the first call with [`Request::after`](crate::Request::after).
    pub newest: Option<MessageId>,
}

/// Answer to a request for a lease.
#[derive(Debug, Clone, PartialEq)]
pub enum Acquired {
    /// It was granted.
    Got(Grant),
    /// Another holder has it.
    Held(Lease),
}

/// Answer to a renewal.
#[derive(Debug, Clone, PartialEq)]
pub enum Renewed {
    /// It was renewed.
    Kept(Lease),
    /// It was taken by somebody else, who may have released it since.
    Lost(Option<Lease>),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lease(until: f64, busy: bool) -> Lease {
        let holder = Holder { host: "h".into(), process: 1, born: "b".into(), label: "l".into() };
        let at = |seconds| Timestamp::from_seconds(seconds).unwrap();
        let resource = Resource::Conversation(SessionId::from_stored("a:b"));
        Lease { resource, fence: Fence(7), holder, busy, taken_at: at(0.0), until: at(until) }
    }

    #[test]
    fn a_lease_yields_to_the_right_callers_alone() {
        let now = Timestamp::from_seconds(10.0).unwrap();
        assert!(lease(10.0, true).yields(Take::Free, true, now));
        assert!(!lease(10.5, false).yields(Take::Free, false, now));
        assert!(lease(10.5, false).yields(Take::Idle, false, now));
        assert!(!lease(10.5, true).yields(Take::Idle, false, now));
        assert!(!lease(10.5, false).yields(Take::Idle, true, now));
        for take in [Take::Dead, Take::Force] {
            assert!(lease(10.5, true).yields(take(Fence(7)), true, now));
            assert!(!lease(10.5, false).yields(take(Fence(8)), false, now));
        }
    }

    #[test]
    fn keys_are_read_back() {
        let session = SessionId::from_stored("a:b c");
        for resource in [
            Resource::Conversation(session.clone()),
            Resource::Account(Account::parse("telegram:12ab").unwrap()),
            Resource::Hold { session, name: "build".into() },
        ] {
            assert_eq!(Resource::from_key(&resource.key()), Some(resource));
        }
        assert_eq!(Resource::from_key("x:1"), None);
        assert_eq!(Resource::from_key("é"), None);
        let hold = |name: &str| Resource::Hold { session: SessionId::from_stored("s"), name: name.into() };
        assert!(hold("a:b").check().is_err() && hold("").check().is_err() && hold("ok").check().is_ok());
    }
}
