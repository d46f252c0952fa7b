//! Times as a person or a model writes them: `2026-01-31`, `2026-01-31T10:00`, `today`, `yesterday`, `3d`. The clock
//! and the zone are arguments.
//!
//! A text names a span: a day, a minute or a moment. [`Reference::since`] returns its start, [`Reference::until`] its
//! end.

use hermes_session::{Invalid, Timestamp, quoted};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// The accepted forms.
const HINT: &str =
    "give a day (2026-01-31, today, yesterday), a time (2026-01-31T10:00) or how long ago (30m, 2h, 3d, 1w)";

/// The current time and the time zone that texts are read in.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'a> {
    /// The current time.
    pub at: Timestamp,
    /// The zone of times without an offset.
    pub zone: &'a TimeZone,
}

impl Reference<'_> {
    /// Returns the start of the span that `text` names. `name` is the option or argument it was given for.
    ///
    /// # Errors
    /// If `text` is not a time.
    pub fn since(&self, name: &'static str, text: &str) -> Result<Timestamp, Invalid> {
        Ok(self.named(name, text)?.from)
    }

    /// Returns the end (exclusive) of the span that `text` names. `name` is the option or argument it was given for.
    ///
    /// # Errors
    /// If `text` is not a time.
    pub fn until(&self, name: &'static str, text: &str) -> Result<Timestamp, Invalid> {
        Ok(self.named(name, text)?.to)
    }

    fn named(&self, name: &'static str, text: &str) -> Result<Span, Invalid> {
        span(text.trim(), self).ok_or_else(|| Invalid::new(name, format!("{} is not a time", quoted(text)), HINT))
    }
}

/// The half-open span that a text names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    from: Timestamp,
    to: Timestamp,
}

impl Span {
    fn moment(at: Timestamp) -> Self {
        Self { from: at, to: at }
    }

    fn day(date: Date, now: &Reference<'_>) -> Option<Self> {
        let start = |date: Date| Some(Timestamp::from_calendar(date.to_zoned(now.zone.clone()).ok()?.timestamp()));
        Some(Self { from: start(date)?, to: start(date.tomorrow().ok()?)? })
    }
}

fn span(text: &str, now: &Reference<'_>) -> Option<Span> {
    let today = || Some(now.at.to_calendar()?.to_zoned(now.zone.clone()).date());
    match text.to_ascii_lowercase().as_str() {
        "now" => Some(Span::moment(now.at)),
        "today" => Span::day(today()?, now),
        "yesterday" => Span::day(today()?.yesterday().ok()?, now),
        lower => ago(lower, now).or_else(|| calendar(text, now)),
    }
}

/// Parses a duration before now, such as `3d`.
fn ago(text: &str, now: &Reference<'_>) -> Option<Span> {
    let (unit_at, unit) = text.char_indices().next_back()?;
    let seconds = match unit {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3_600.0,
        'd' => 86_400.0,
        'w' => 604_800.0,
        _ => return None,
    };
    let digits = &text[..unit_at];
    // Only digits: `1e9d` and `-3d` are mistakes.
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.is_empty();
    let count: f64 = digits.parse().ok().filter(|_| is_number)?;
    Some(Span::moment(Timestamp::from_seconds(now.at.seconds() - count * seconds).ok()?))
}

/// Parses a day or a time of a day, in the zone of `now` unless the text names one.
fn calendar(text: &str, now: &Reference<'_>) -> Option<Span> {
    if !matches!(text.as_bytes(), [_, _, _, _, b'-', _, _, b'-', _, _, ..]) {
        return None;
    }
    let Some((_, time)) = text.split_once(['T', 't', ' ']) else { return Span::day(text.parse().ok()?, now) };
    let zone_at = time.find(['Z', 'z', '+', '-']);
    let at = match zone_at {
        Some(_) => text.parse().ok()?,
        None => text.parse::<DateTime>().ok()?.to_zoned(now.zone.clone()).ok()?.timestamp(),
    };
    let from = Timestamp::from_calendar(at);
    let clock = &time[..zone_at.unwrap_or(time.len())];
    let length = match clock.matches(':').count() {
        _ if clock.contains(['.', ',']) => 0.0,
        0 => 3_600.0,
        1 => 60.0,
        _ => 1.0,
    };
    Some(Span { from, to: from.plus(length) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2025-03-05 11:15:23 in a zone two hours east.
    fn now(zone: &TimeZone) -> Reference<'_> {
        Reference { at: Timestamp::from_seconds(1_741_166_123.0).unwrap(), zone }
    }

    fn east() -> TimeZone {
        TimeZone::fixed(jiff::tz::offset(2))
    }

    #[track_caller]
    fn check(text: &str, from: &str, to: &str) {
        let at = |at: Timestamp| at.to_calendar().unwrap().to_string();
        let zone = east();
        let found = (now(&zone).since("--since", text).map(at), now(&zone).until("--until", text).map(at));
        assert_eq!(found, (Ok(from.to_owned()), Ok(to.to_owned())), "{text}");
    }

    #[test]
    fn a_day_is_meant_as_a_whole() {
        check("2026-01-31", "2026-01-30T22:00:00Z", "2026-01-31T22:00:00Z");
        check("today", "2025-03-04T22:00:00Z", "2025-03-05T22:00:00Z");
        check(" Yesterday ", "2025-03-03T22:00:00Z", "2025-03-04T22:00:00Z");
    }

    #[test]
    fn a_time_is_as_long_as_it_was_typed() {
        check("2026-01-31T10:00", "2026-01-31T08:00:00Z", "2026-01-31T08:01:00Z");
        check("2026-01-31 10:00:05", "2026-01-31T08:00:05Z", "2026-01-31T08:00:06Z");
        check("2026-01-31T10", "2026-01-31T08:00:00Z", "2026-01-31T09:00:00Z");
        check("2026-01-31T10:00:05.25", "2026-01-31T08:00:05.25Z", "2026-01-31T08:00:05.25Z");
        check("2026-01-31T10:00Z", "2026-01-31T10:00:00Z", "2026-01-31T10:01:00Z");
        check("2026-01-31T10:00-05:00", "2026-01-31T15:00:00Z", "2026-01-31T15:01:00Z");
    }

    #[test]
    fn so_long_ago_is_a_moment() {
        for (text, at) in [
            ("now", "2025-03-05T09:15:23Z"),
            ("30s", "2025-03-05T09:14:53Z"),
            ("15m", "2025-03-05T09:00:23Z"),
            ("2H", "2025-03-05T07:15:23Z"),
            ("3d", "2025-03-02T09:15:23Z"),
            ("1w", "2025-02-26T09:15:23Z"),
        ] {
            check(text, at, at);
        }
    }

    #[test]
    fn a_day_may_be_longer_than_24_hours() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let now = now(&zone);
        let length = |text| now.until("--until", text).unwrap().since(now.since("--since", text).unwrap());
        assert_eq!((length("2025-10-26"), length("2025-03-30")), (25.0 * 3_600.0, 23.0 * 3_600.0));
    }

    #[test]
    fn other_texts_are_mistakes() {
        for text in [
            "",
            "d",
            "3",
            "-3d",
            "1e9d",
            "3 days",
            "2026",
            "20260131",
            "2026-02-30",
            "2026-01-31T25:00",
            "2026-1-3",
            "31.01.2026",
            "tomorrow",
            "2026-01-31Tx",
            "大d",
        ] {
            let error = now(&east()).since("--since", text).unwrap_err();
            assert_eq!(error.to_string(), format!("--since {text:?} is not a time"));
        }
    }
}
