//! Times as a person reads them. The clock and the zone are arguments.

use hermes_session::Timestamp;
use jiff::tz::TimeZone;

const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// The moment a command runs at, and the zone of whoever reads its output.
#[derive(Debug, Clone)]
pub(crate) struct Now {
    pub(crate) at: Timestamp,
    pub(crate) zone: TimeZone,
}

impl Now {
    /// How long ago something was; a date if that says more. The store's zero, and what no calendar holds, is `?`.
    pub(crate) fn relative(&self, at: Timestamp) -> String {
        let ago = self.at.since(at);
        let whole = |unit: f64| (ago / unit).floor() as i64;
        match ago {
            _ if at.seconds() == 0.0 => "?".into(),
            // A clock that runs a minute ahead on another machine is no news.
            ago if (-MINUTE..MINUTE).contains(&ago) => "just now".into(),
            ago if ago < 0.0 => self.date(at),
            ago if ago < HOUR => format!("{}m ago", whole(MINUTE)),
            ago if ago < DAY => format!("{}h ago", whole(HOUR)),
            ago if ago < 2.0 * DAY => "yesterday".into(),
            ago if ago < 7.0 * DAY => format!("{}d ago", whole(DAY)),
            _ => self.date(at),
        }
    }

    /// Day and minute in the reader's zone.
    pub(crate) fn day_and_minute(&self, at: Timestamp) -> String {
        self.format(at, "%Y-%m-%d %H:%M")
    }

    /// The minute in the reader's zone.
    pub(crate) fn minute(&self, at: Timestamp) -> String {
        self.format(at, "%H:%M")
    }

    /// The day in the reader's zone.
    pub(crate) fn date(&self, at: Timestamp) -> String {
        self.format(at, "%Y-%m-%d")
    }

    /// The moment of the command, for the name of a file.
    pub(crate) fn stamp(&self) -> String {
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
