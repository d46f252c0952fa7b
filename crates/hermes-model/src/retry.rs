//! Whether a failed request is made again, and when. A pure function: time and chance are arguments.

use crate::ModelError;
use std::time::Duration;

/// Limits of repeated attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of attempts, the first one included.
    pub attempts: u32,
    /// Pause before the second attempt; it doubles with each further one.
    pub first_wait: Duration,
    /// Longest pause, unless the server asks for a longer one.
    pub longest_wait: Duration,
    /// Time without a piece of an answer after which no further attempt begins.
    pub total: Duration,
}

impl Default for RetryPolicy {
    /// Returns the policy for a person who waits: 4 attempts within 60 s.
    fn default() -> Self {
        Self {
            attempts: 4,
            first_wait: Duration::from_secs(1),
            longest_wait: Duration::from_secs(16),
            total: Duration::from_secs(60),
        }
    }
}

/// Decision about a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Wait this long, then try again.
    After(Duration),
    /// Report the error.
    GiveUp,
}

impl RetryPolicy {
    /// Decides about the failed attempt number `attempt`, counted from 1. `elapsed` is the time since the first
    /// request, or since the last piece of an answer; `random` is between 0 and 1.
    ///
    /// A pause is between a half and the whole of what its number allows, so that clients that failed together do not
    /// come back together. A longer pause that the server asks for is kept; if that is too long, it is given up at
    /// once.
    pub fn decide(&self, attempt: u32, error: &ModelError, elapsed: Duration, random: f64) -> Retry {
        if attempt >= self.attempts || !error.kind.may_pass() {
            return Retry::GiveUp;
        }
        let doubled = self.first_wait.saturating_mul(1_u32.checked_shl(attempt.saturating_sub(1)).unwrap_or(u32::MAX));
        let random = if random.is_finite() { random.clamp(0.0, 1.0) } else { 1.0 };
        let wait = doubled.min(self.longest_wait).mul_f64(0.5 + random / 2.0);
        let wait = wait.max(error.retry_after.unwrap_or_default());
        if elapsed.saturating_add(wait) > self.total { Retry::GiveUp } else { Retry::After(wait) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use proptest::prelude::*;

    fn error(kind: ErrorKind, retry_after: Option<u64>) -> ModelError {
        ModelError { retry_after: retry_after.map(Duration::from_secs), ..ModelError::new(kind, "") }
    }

    fn decide(attempt: u32, error: &ModelError, elapsed: u64) -> Retry {
        RetryPolicy::default().decide(attempt, error, Duration::from_secs(elapsed), 1.0)
    }

    #[test]
    fn pauses_grow_and_end() {
        let busy = error(ErrorKind::Overloaded, None);
        let after = |seconds| Retry::After(Duration::from_secs(seconds));
        let decisions: Vec<Retry> = (1..=4).map(|attempt| decide(attempt, &busy, 0)).collect();
        assert_eq!(decisions, [after(1), after(2), after(4), Retry::GiveUp]);
        assert_eq!(decide(1, &busy, 60), Retry::GiveUp);
        assert_eq!(
            RetryPolicy::default().decide(1, &busy, Duration::ZERO, 0.0),
            Retry::After(Duration::from_millis(500))
        );
    }

    #[test]
    fn the_servers_pause_is_kept_or_is_too_long() {
        let limited = |seconds| error(ErrorKind::RateLimited, Some(seconds));
        assert_eq!(decide(1, &limited(20), 0), Retry::After(Duration::from_secs(20)));
        assert_eq!(decide(1, &limited(20), 41), Retry::GiveUp);
        assert_eq!(decide(1, &limited(3600), 0), Retry::GiveUp);
        assert_eq!(decide(1, &limited(0), 0), Retry::After(Duration::from_secs(1)));
    }

    #[test]
    fn what_stays_wrong_is_reported_at_once() {
        for kind in [ErrorKind::WrongKey, ErrorKind::BadRequest, ErrorKind::NoCredit, ErrorKind::Interrupted] {
            assert_eq!(decide(1, &error(kind, Some(1)), 0), Retry::GiveUp, "{kind:?}");
        }
    }

    proptest! {
        #[test]
        fn no_attempt_begins_after_the_total(
            attempt in 1_u32..100,
            seconds in 0_u64..200,
            pause in proptest::option::of(0_u64..200),
            random: f64,
        ) {
            let elapsed = Duration::from_secs(seconds);
            let error = error(ErrorKind::ServerFault, pause);
            let policy = RetryPolicy { attempts: 1000, ..RetryPolicy::default() };
            if let Retry::After(wait) = policy.decide(attempt, &error, elapsed, random) {
                prop_assert!(elapsed + wait <= policy.total && wait >= error.retry_after.unwrap_or_default());
            }
        }
    }
}
