//! Points in time as the store keeps them: epoch seconds in a double, bit for bit.

use crate::Invalid;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

/// Seconds since the Unix epoch, with the fraction the writer gave.
///
/// Always finite, and never converted on the way through a store, so that it comes back with the same 64 bits. The
/// order is total.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Timestamp(f64);

impl Timestamp {
    /// The beginning of 1970.
    pub const EPOCH: Self = Self(0.0);

    /// Creates a timestamp from epoch seconds. Rejects infinities and NaN.
    pub fn from_seconds(seconds: f64) -> Result<Self, Invalid> {
        if seconds.is_finite() {
            Ok(Self(seconds))
        } else {
            Err(Invalid::new("time", format!("{seconds} is not a finite number"), "give seconds since 1970-01-01 UTC"))
        }
    }

    /// Returns the seconds exactly as given.
    pub const fn seconds(self) -> f64 {
        self.0
    }

    /// Returns the instant `seconds` later (earlier if negative); unchanged if that would leave the finite range.
    pub fn plus(self, seconds: f64) -> Self {
        Self::from_seconds(self.0 + seconds).unwrap_or(self)
    }

    /// Returns the seconds from `earlier` to here; negative if the clock was set back.
    pub fn since(self, earlier: Self) -> f64 {
        self.0 - earlier.0
    }

    /// Converts to a calendar timestamp, rounded to its resolution; `None` if it is out of range.
    pub fn to_calendar(self) -> Option<jiff::Timestamp> {
        jiff::Timestamp::from_duration(jiff::SignedDuration::try_from_secs_f64(self.0).ok()?).ok()
    }

    /// Converts from a calendar timestamp.
    pub fn from_calendar(at: jiff::Timestamp) -> Self {
        Self(at.as_duration().as_secs_f64())
    }
}

impl TryFrom<f64> for Timestamp {
    type Error = Invalid;
    fn try_from(seconds: f64) -> Result<Self, Invalid> {
        Self::from_seconds(seconds)
    }
}

impl From<Timestamp> for f64 {
    fn from(at: Timestamp) -> f64 {
        at.0
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        // Zero has two signs; as instants they are equal, and every provider compares them so.
        (self.0 + 0.0).total_cmp(&(other.0 + 0.0))
    }
}

impl Hash for Timestamp {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.0 + 0.0).to_bits().hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_finite_seconds_are_times() {
        for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(Timestamp::from_seconds(seconds).is_err());
        }
        assert_eq!(Timestamp::from_seconds(1.5).unwrap().plus(f64::MAX).plus(f64::MAX).seconds(), f64::MAX);
    }

    #[test]
    fn the_calendar_agrees_to_the_microsecond() {
        let at = Timestamp::from_seconds(1_741_166_123.25).unwrap();
        assert_eq!(at.to_calendar().unwrap().to_string(), "2025-03-05T09:15:23.25Z");
        assert_eq!(Timestamp::from_calendar(at.to_calendar().unwrap()), at);
        assert!(Timestamp::from_seconds(1e300).unwrap().to_calendar().is_none());
    }
}
