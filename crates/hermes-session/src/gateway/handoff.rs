//! State machine of a handoff: requested, claimed by a worker, ended. Each transition returns `None` if the current
//! state does not permit it.

use crate::{HandoffColumns, SessionId, Timestamp};
use std::time::Duration;

/// Maximum length of a stored error, in characters.
pub const MAX_HANDOFF_ERROR: usize = 500;

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

/// Outcome of a handoff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandoffEnd {
    /// The session arrived.
    Completed,
    /// The session did not arrive, for this reason. The first [`MAX_HANDOFF_ERROR`] characters of it are stored.
    Failed(String),
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
}

impl Handoff {
    /// Combines the agent's columns with the values stored beside them.
    pub fn from_stored(session: SessionId, columns: HandoffColumns, beside: Option<Beside>) -> Self {
        let claims = beside.as_ref().map_or(0, |beside| beside.claims);
        let beside = beside.filter(|beside| columns.state.as_deref() == Some(beside.state.as_str()));
        Self {
            session,
            state: columns.state.as_deref().and_then(HandoffState::from_stored),
            platform: columns.platform,
            error: columns.error,
            requested_at: beside.as_ref().and_then(|beside| beside.requested_at),
            lease_until: beside.and_then(|beside| beside.lease_until),
            claims,
        }
    }

    /// Returns whether the worker's lease has expired.
    fn is_overdue(&self, now: Timestamp) -> bool {
        self.state == Some(HandoffState::Running) && self.lease_until.is_some_and(|until| until <= now)
    }

    /// Returns whether a worker could claim it.
    pub fn is_waiting(&self, now: Timestamp) -> bool {
        self.state == Some(HandoffState::Pending) || self.is_overdue(now)
    }

    /// Returns the handoff as requested; `None` if it is pending or running with a valid lease.
    pub fn requested(self, platform: &str, now: Timestamp) -> Option<Self> {
        let is_on_its_way = matches!(self.state, Some(HandoffState::Pending | HandoffState::Running));
        if is_on_its_way && !self.is_overdue(now) {
            return None;
        }
        Some(Self {
            state: Some(HandoffState::Pending),
            platform: Some(platform.to_owned()),
            error: None,
            requested_at: Some(now),
            lease_until: None,
            ..self
        })
    }

    /// Returns the handoff as claimed for `lease`; `None` if it can't be claimed.
    pub fn claimed(self, lease: Duration, now: Timestamp) -> Option<Self> {
        if !self.is_waiting(now) {
            return None;
        }
        let until = Timestamp::from_seconds(now.seconds() + lease.as_secs_f64()).unwrap_or(now);
        Some(Self { state: Some(HandoffState::Running), lease_until: Some(until), claims: self.claims + 1, ..self })
    }

    /// Returns the handoff as ended; `None` if `claim` is not the current one or, without a claim, if the state does
    /// not permit it.
    pub fn ended(self, claim: Option<Claim>, end: &HandoffEnd) -> Option<Self> {
        let may = match (claim, end) {
            (Some(Claim(claim)), _) => self.state == Some(HandoffState::Running) && claim == self.claims,
            (None, HandoffEnd::Completed) => self.state.is_some(),
            (None, HandoffEnd::Failed(_)) => {
                matches!(self.state, Some(HandoffState::Pending | HandoffState::Running))
            }
        };
        let (state, error) = match end {
            HandoffEnd::Completed => (HandoffState::Completed, None),
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
            state: state.unwrap_or_default().to_owned(),
            requested_at: self.requested_at,
            lease_until: self.lease_until,
            claims: self.claims,
        };
        (columns, beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Timestamp {
        Timestamp::from_seconds(seconds).unwrap()
    }

    fn none() -> Handoff {
        let columns = HandoffColumns { state: None, platform: None, error: None };
        Handoff::from_stored(SessionId::from_stored("s".to_owned()), columns, None)
    }

    #[test]
    fn each_step_follows_from_the_one_before() {
        let lease = Duration::from_secs(10);
        assert_eq!(none().claimed(lease, at(0.0)), None);
        assert_eq!(none().ended(None, &HandoffEnd::Completed), None);
        let asked = none().requested("telegram", at(1.0)).unwrap();
        assert_eq!(asked.clone().requested("slack", at(2.0)), None);
        let taken = asked.claimed(lease, at(3.0)).unwrap();
        assert_eq!((taken.lease_until, taken.claims), (Some(at(13.0)), 1));
        assert!(!taken.is_waiting(at(12.9)) && taken.is_waiting(at(13.0)));
        let again = taken.clone().claimed(lease, at(13.0)).unwrap();
        assert_eq!(again.clone().ended(Some(Claim(1)), &HandoffEnd::Completed), None);
        let done = again.ended(Some(Claim(2)), &HandoffEnd::Completed).unwrap();
        assert_eq!((done.state, done.requested_at), (Some(HandoffState::Completed), Some(at(1.0))));
        assert_eq!(done.clone().ended(None, &HandoffEnd::Failed("late".into())), None);
        assert_eq!(done.requested("slack", at(20.0)).unwrap().platform.as_deref(), Some("slack"));
        let failed = taken.ended(None, &HandoffEnd::Failed("é".repeat(600))).unwrap();
        assert_eq!(failed.error.as_deref().map(|error| error.chars().count()), Some(500));
        assert!(failed.ended(None, &HandoffEnd::Completed).is_some());
    }

    #[test]
    fn what_stands_beside_counts_for_its_state_alone() {
        let taken = none().requested("x", at(1.0)).unwrap().claimed(Duration::ZERO, at(2.0)).unwrap();
        let (columns, beside) = taken.to_stored();
        let same = Handoff::from_stored(taken.session.clone(), columns.clone(), Some(beside.clone()));
        assert_eq!(same, taken);
        // An agent requested it again meanwhile.
        let columns = HandoffColumns { state: Some("pending".into()), ..columns };
        let other = Handoff::from_stored(taken.session, columns, Some(beside));
        assert_eq!((other.requested_at, other.lease_until, other.claims), (None, None, 1));
        assert!(other.is_waiting(at(0.0)));
    }
}
