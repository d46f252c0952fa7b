//! State machine of a handoff: requested, claimed by a worker, ended. Each transition returns `None` if the current
//! state does not permit it.

use crate::live::{Fence, Holder, Switch, TurnId};
use crate::{HandoffColumns, Invalid, MAX_ID_BYTES, MessageId, SessionId, Timestamp};
use std::time::Duration;

/// Maximum length of a stored error, in characters.
pub const MAX_HANDOFF_ERROR: usize = 500;

/// Error of a handoff that nobody claimed in time.
pub const TIMED_OUT: &str = "timed out";

/// State of a handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandoffState {
    /// It was requested.
    Pending,
    /// A worker has claimed it.
    Running,
    /// The session arrived.
    Completed,
    /// The session did not arrive; the error says why.
    Failed,
}

impl HandoffState {
    /// Returns the stored word of the agent's column.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// Returns the state for a stored word; `None` for an unknown word.
    pub fn from_stored(word: &str) -> Option<Self> {
        [Self::Pending, Self::Running, Self::Completed, Self::Failed].into_iter().find(|state| state.as_str() == word)
    }
}

/// Fencing token: the right to end a handoff. Each claim is greater than those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim(pub i64);

/// A claimed handoff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimed {
    /// The right to end it.
    pub claim: Claim,
    /// Fencing token of the conversation's lease, which moved to the claimant; `None` if it named no holder.
    pub fence: Option<Fence>,
}

/// A request for a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffRequest {
    /// Target platform.
    pub platform: String,
    /// Target chat, in the platform's form; `None` for the home channel.
    pub destination: Option<String>,
    /// Time after which it can no longer be claimed; `None` for never, as agents request it.
    pub expires: Option<Duration>,
}

impl HandoffRequest {
    /// Returns a request as agents make it: to the home channel, without an expiry.
    pub fn to(platform: impl Into<String>) -> Self {
        Self { platform: platform.into(), destination: None, expires: None }
    }

    /// Rejects a destination that is empty, over-long or contains a NUL. Providers call this first.
    pub fn check(&self) -> Result<(), Invalid> {
        check_text("destination", self.destination.as_deref())
    }
}

/// Progress of a claimed handoff. `None` leaves a value unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandoffProgress {
    /// Time from now until the worker's lease expires.
    pub lease: Duration,
    /// The thread that was opened for the session.
    pub thread: Option<String>,
    /// The turn that introduces the session there.
    pub turn: Option<TurnId>,
    /// First message of that turn.
    pub synthetic_from: Option<MessageId>,
}

impl HandoffProgress {
    /// Rejects a thread that is empty, over-long or contains a NUL. Providers call this first.
    pub fn check(&self) -> Result<(), Invalid> {
        check_text("thread", self.thread.as_deref())
    }
}

fn check_text(what: &'static str, text: Option<&str>) -> Result<(), Invalid> {
    if text.is_some_and(|text| text.is_empty() || text.len() > MAX_ID_BYTES || text.contains('\0')) {
        return Err(Invalid::new(what, "is unusable", "use 1 to 255 bytes without a NUL"));
    }
    Ok(())
}

/// Outcome of a handoff.
#[derive(Debug, Clone, PartialEq)]
pub enum HandoffEnd {
    /// The session arrived.
    Completed,
    /// The session arrived, and the messages of a place belong to it from now on. The expected generation of the switch
    /// is not compared.
    Arrived(Box<Switch>),
    /// The session did not arrive, for this reason. The first [`MAX_HANDOFF_ERROR`] characters of it are stored.
    Failed(String),
}

impl HandoffEnd {
    /// Returns the end with its switch in the stored form, or the first reason why it is invalid. Providers call this
    /// first.
    pub fn checked(self) -> Result<Self, Invalid> {
        match self {
            Self::Arrived(switch) => Ok(Self::Arrived(Box::new(switch.checked()?))),
            end @ (Self::Completed | Self::Failed(_)) => Ok(end),
        }
    }
}

/// A handoff.
#[derive(Debug, Clone, PartialEq)]
pub struct Handoff {
    /// Session that is handed over.
    pub session: SessionId,
    /// State; `None` if it was never requested.
    pub state: Option<HandoffState>,
    /// Target platform.
    pub platform: Option<String>,
    /// Error of a failed handoff.
    pub error: Option<String>,
    /// Time of the request; `None` if an agent made it, which does not record the time.
    pub requested_at: Option<Timestamp>,
    /// Expiry of the worker's lease; `None` if there is no worker, or it is an agent.
    pub lease_until: Option<Timestamp>,
    /// Number of claims so far, which is the claim of the last worker.
    pub claims: i64,
    /// Time after which a pending handoff can no longer be claimed.
    pub expires_at: Option<Timestamp>,
    /// The worker ([`Holder::key`]); `None` if there is none, or it is an agent.
    pub claimed_by: Option<String>,
    /// Target chat; `None` for the home channel.
    pub destination: Option<String>,
    /// The thread that was opened for the session.
    pub thread: Option<String>,
    /// The turn that introduces the session there.
    pub turn: Option<TurnId>,
    /// First message of that turn.
    pub synthetic_from: Option<MessageId>,
}

/// Values that we store beside the agent's columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// State that these values belong to. If the agent's column has another state, only `claims` is valid.
    pub state: String,
    /// See [`Handoff::requested_at`].
    pub requested_at: Option<Timestamp>,
    /// See [`Handoff::lease_until`].
    pub lease_until: Option<Timestamp>,
    /// See [`Handoff::claims`].
    pub claims: i64,
    /// See [`Handoff::expires_at`].
    pub expires_at: Option<Timestamp>,
    /// See [`Handoff::claimed_by`].
    pub claimed_by: Option<String>,
    /// See [`Handoff::destination`].
    pub destination: Option<String>,
    /// See [`Handoff::thread`].
    pub thread: Option<String>,
    /// See [`Handoff::turn`].
    pub turn: Option<TurnId>,
    /// See [`Handoff::synthetic_from`].
    pub synthetic_from: Option<MessageId>,
}

impl Handoff {
    /// Combines the agent's columns with the values stored beside them.
    pub fn from_stored(session: SessionId, columns: HandoffColumns, beside: Option<Beside>) -> Self {
        let claims = beside.as_ref().map_or(0, |beside| beside.claims);
        let beside = beside.filter(|beside| columns.state.as_deref() == Some(beside.state.as_str()));
        let beside = beside.unwrap_or_else(|| Beside::of(String::new(), claims));
        Self {
            session,
            state: columns.state.as_deref().and_then(HandoffState::from_stored),
            platform: columns.platform,
            error: columns.error,
            requested_at: beside.requested_at,
            lease_until: beside.lease_until,
            claims,
            expires_at: beside.expires_at,
            claimed_by: beside.claimed_by,
            destination: beside.destination,
            thread: beside.thread,
            turn: beside.turn,
            synthetic_from: beside.synthetic_from,
        }
    }

    /// Returns whether the worker's lease has expired.
    fn is_overdue(&self, now: Timestamp) -> bool {
        self.state == Some(HandoffState::Running) && self.lease_until.is_some_and(|until| until <= now)
    }

    /// Returns whether it was requested and can no longer be claimed.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.state == Some(HandoffState::Pending) && self.expires_at.is_some_and(|until| until <= now)
    }

    /// Returns whether a worker could claim it.
    pub fn is_waiting(&self, now: Timestamp) -> bool {
        (self.state == Some(HandoffState::Pending) && !self.is_expired(now)) || self.is_overdue(now)
    }

    /// Returns the handoff as requested; `None` if it is pending or running with a valid lease.
    pub fn requested(self, what: &HandoffRequest, now: Timestamp) -> Option<Self> {
        let is_on_its_way = matches!(self.state, Some(HandoffState::Pending | HandoffState::Running));
        if is_on_its_way && !self.is_overdue(now) && !self.is_expired(now) {
            return None;
        }
        Some(Self {
            session: self.session,
            state: Some(HandoffState::Pending),
            platform: Some(what.platform.clone()),
            error: None,
            requested_at: Some(now),
            lease_until: None,
            claims: self.claims,
            expires_at: what.expires.map(|time| now.plus(time.as_secs_f64())),
            claimed_by: None,
            destination: what.destination.clone(),
            thread: None,
            turn: None,
            synthetic_from: None,
        })
    }

    /// Returns the handoff as claimed for `lease`; `None` if it can't be claimed. The progress of an earlier worker
    /// stays, so that the next one continues.
    pub fn claimed(self, lease: Duration, who: Option<&Holder>, now: Timestamp) -> Option<Self> {
        if !self.is_waiting(now) {
            return None;
        }
        Some(Self {
            state: Some(HandoffState::Running),
            lease_until: Some(now.plus(lease.as_secs_f64())),
            claims: self.claims + 1,
            claimed_by: who.map(Holder::key),
            ..self
        })
    }

    /// Returns the handoff with the worker's progress; `None` if `claim` is not the current one.
    pub fn advanced(self, claim: Claim, progress: &HandoffProgress, now: Timestamp) -> Option<Self> {
        if self.state != Some(HandoffState::Running) || claim.0 != self.claims {
            return None;
        }
        Some(Self {
            lease_until: Some(now.plus(progress.lease.as_secs_f64())),
            thread: progress.thread.clone().or(self.thread),
            turn: progress.turn.or(self.turn),
            synthetic_from: progress.synthetic_from.or(self.synthetic_from),
            ..self
        })
    }

    /// Returns the handoff as failed because nobody claimed it in time; `None` if it has not expired.
    pub fn expired(self, now: Timestamp) -> Option<Self> {
        let error = Some(TIMED_OUT.to_owned());
        self.is_expired(now).then_some(Self { state: Some(HandoffState::Failed), error, ..self })
    }

    /// Returns the handoff as ended; `None` if `claim` is not the current one or, without a claim, if the state does
    /// not permit it: a handoff that a worker of ours holds is ended by that worker alone.
    pub fn ended(self, claim: Option<Claim>, end: &HandoffEnd, now: Timestamp) -> Option<Self> {
        let is_held = self.claimed_by.is_some() && self.state == Some(HandoffState::Running) && !self.is_overdue(now);
        let may = match (claim, end) {
            (Some(Claim(claim)), _) => self.state == Some(HandoffState::Running) && claim == self.claims,
            (None, HandoffEnd::Completed) => self.state.is_some() && !is_held,
            (None, HandoffEnd::Arrived(_)) => false,
            (None, HandoffEnd::Failed(_)) => {
                matches!(self.state, Some(HandoffState::Pending | HandoffState::Running)) && !is_held
            }
        };
        let (state, error) = match end {
            HandoffEnd::Completed | HandoffEnd::Arrived(_) => (HandoffState::Completed, None),
            HandoffEnd::Failed(why) => (HandoffState::Failed, Some(why.chars().take(MAX_HANDOFF_ERROR).collect())),
        };
        may.then_some(Self { state: Some(state), error, lease_until: None, ..self })
    }

    /// Returns the agent's columns and the values stored beside them.
    pub fn to_stored(&self) -> (HandoffColumns, Beside) {
        let state = self.state.map(HandoffState::as_str);
        let columns = HandoffColumns {
            state: state.map(ToOwned::to_owned),
            platform: self.platform.clone(),
            error: self.error.clone(),
        };
        let beside = Beside {
            requested_at: self.requested_at,
            lease_until: self.lease_until,
            expires_at: self.expires_at,
            claimed_by: self.claimed_by.clone(),
            destination: self.destination.clone(),
            thread: self.thread.clone(),
            turn: self.turn,
            synthetic_from: self.synthetic_from,
            ..Beside::of(state.unwrap_or_default().to_owned(), self.claims)
        };
        (columns, beside)
    }
}

impl Beside {
    /// Returns the values of a state without any of the optional ones.
    pub fn of(state: String, claims: i64) -> Self {
        Self {
            state,
            requested_at: None,
            lease_until: None,
            claims,
            expires_at: None,
            claimed_by: None,
            destination: None,
            thread: None,
            turn: None,
            synthetic_from: None,
        }
    }
}

#[cfg(test)]
mod tests;
