//! The only place that reads the clock and the time zone.

use hermes_session::Timestamp;
use hermes_terminal::time::Now;
use jiff::tz::TimeZone;

/// Returns the time for a line of the log.
#[expect(clippy::disallowed_methods, reason = "everything else gets the time from here")]
pub(crate) fn log_time() -> jiff::Timestamp {
    jiff::Timestamp::now()
}

/// Returns the current time and the system's time zone.
#[expect(clippy::disallowed_methods, reason = "everything else gets the time from here")]
pub(crate) fn now() -> Now {
    Now { at: Timestamp::from_calendar(jiff::Timestamp::now()), zone: TimeZone::system() }
}
