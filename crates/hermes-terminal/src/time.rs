//! Times for people. The clock and the zone are arguments.

use hermes_session::Timestamp;
use jiff::tz::TimeZone;

const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// The current time and the time zone of the reader.
#[derive(Debug, Clone)]
pub struct Now {
    /// The current time.
    pub at: Timestamp,
    /// The time zone of the reader.
    pub zone: TimeZone,
}

impl Now {
    /// Returns how long ago `at` was, or its date if it is a week ago or in the future. Zero and times outside the
    /// calendar are `?`.
    pub fn relative(&self, at: Timestamp) -> String {
        let ago = self.at.since(at);
        let whole = |unit: f64| (ago / unit).floor() as i64;
        match ago {
            _ if at.seconds() == 0.0 => "?".into(),
            // The clock of another machine may run up to a minute ahead.
            ago if (-MINUTE..MINUTE).contains(&ago) => "just now".into(),
            ago if ago < 0.0 => self.date(at),
            ago if ago < HOUR => format!("{}m ago", whole(MINUTE)),
            ago if ago < DAY => format!("{}h ago", whole(HOUR)),
            ago if ago < 2.0 * DAY => "yesterday".into(),
            ago if ago < 7.0 * DAY => format!("{}d ago", whole(DAY)),
            _ => self.date(at),
        }
    }

    /// Returns how long it is until `at`, such as `12s`; `None` if it has passed.
    pub fn remaining(&self, at: Timestamp) -> Option<String> {
        let seconds = at.seconds() - self.at.seconds();
        let (unit, sign) = [(DAY, 'd'), (HOUR, 'h'), (MINUTE, 'm')]
            .into_iter()
            .find(|(unit, _)| seconds >= *unit)
            .unwrap_or((1.0, 's'));
        (seconds > 0.0).then(|| format!("{:.0}{sign}", (seconds / unit).floor().max(1.0)))
    }

    /// Returns day and minute in the reader's zone.
    pub fn day_and_minute(&self, at: Timestamp) -> String {
        self.format(at, "%Y-%m-%d %H:%M")
    }

    /// Returns the minute in the reader's zone.
    pub fn minute(&self, at: Timestamp) -> String {
        self.format(at, "%H:%M")
    }

    /// Returns the day in the reader's zone.
    pub fn date(&self, at: Timestamp) -> String {
        self.format(at, "%Y-%m-%d")
    }

    /// Returns the current time for the name of a file.
    pub fn stamp(&self) -> String {
        self.format(self.at, "%Y%m%d_%H%M%S")
    }

    fn format(&self, at: Timestamp, form: &str) -> String {
        at.to_calendar().map_or_else(|| "?".into(), |at| at.to_zoned(self.zone.clone()).strftime(form).to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_until() {
        let at = |seconds: f64| Timestamp::from_seconds(seconds).unwrap();
        let now = Now { at: at(1_741_166_123.0), zone: TimeZone::UTC };
        let table = [
            (-1.0, None),
            (0.0, None),
            (0.2, Some("1s")),
            (14.9, Some("14s")),
            (90.0, Some("1m")),
            (23.9 * HOUR, Some("23h")),
            (DAY, Some("1d")),
        ];
        for (until, expect) in table {
            assert_eq!(now.remaining(now.at.plus(until)).as_deref(), expect, "{until}");
        }
    }

    #[test]
    fn how_long_ago() {
        let at = |seconds: f64| Timestamp::from_seconds(seconds).unwrap();
        let now = Now { at: at(1_741_166_123.0), zone: TimeZone::fixed(jiff::tz::offset(2)) };
        let table = [
            (0.0, "just now"),
            (-30.0, "just now"),
            (59.9, "just now"),
            (60.0, "1m ago"),
            (3_599.0, "59m ago"),
            (119.0 * MINUTE, "1h ago"),
            (23.9 * HOUR, "23h ago"),
            (DAY, "yesterday"),
            (2.0 * DAY, "2d ago"),
            (6.9 * DAY, "6d ago"),
            (7.0 * DAY, "2025-02-26"),
            (-3.0 * DAY, "2025-03-08"),
            (1e300, "?"),
        ];
        for (ago, expect) in table {
            assert_eq!(now.relative(now.at.plus(-ago)), expect, "{ago}");
        }
        assert_eq!(now.relative(at(0.0)), "?");
        assert_eq!(now.day_and_minute(now.at), "2025-03-05 11:15");
    }
}
