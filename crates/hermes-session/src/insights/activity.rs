//! Activity by calendar, in a time zone given as an argument.

use crate::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use std::collections::BTreeMap;

/// Starts by weekday, hour and day.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Activity {
    /// From Monday to Sunday.
    pub weekdays: [u64; 7],
    /// By the hour of the day.
    pub hours: [u64; 24],
    /// Number of starts on each day that has any.
    pub days: BTreeMap<Date, u64>,
}

impl Activity {
    /// Counts starts in a time zone. Times outside the range of the calendar are left out.
    pub fn of(starts: &[Timestamp], zone: &TimeZone) -> Self {
        let mut activity = Self::default();
        for start in starts {
            let Some(at) = start.to_calendar() else { continue };
            let at = at.to_zoned(zone.clone());
            let weekday = usize::from(at.weekday().to_monday_zero_offset().unsigned_abs());
            activity.weekdays[weekday % 7] += 1;
            activity.hours[usize::from(at.hour().unsigned_abs()) % 24] += 1;
            *activity.days.entry(at.date()).or_default() += 1;
        }
        activity
    }

    /// Returns the weekday with the most starts, 0 for Monday; the first of equals, `None` if there are no starts.
    pub fn busiest_weekday(&self) -> Option<usize> {
        busiest(&self.weekdays)
    }

    /// Returns the hour with the most starts; the first of equals, `None` if there are no starts.
    pub fn busiest_hour(&self) -> Option<usize> {
        busiest(&self.hours)
    }

    /// Returns the largest number of consecutive days with a start.
    pub fn longest_streak(&self) -> u64 {
        let (mut longest, mut streak, mut before) = (0, 0, None::<Date>);
        for day in self.days.keys() {
            let goes_on = before.and_then(|before| before.tomorrow().ok()) == Some(*day);
            streak = if goes_on { streak + 1 } else { 1 };
            longest = longest.max(streak);
            before = Some(*day);
        }
        longest
    }

    /// Returns the starts of each day from `from` to `to`, both included; of more than `most` days, the last ones.
    pub fn series(&self, from: Date, to: Date, most: usize) -> Vec<(Date, u64)> {
        let mut series = Vec::new();
        let mut day = to;
        while day >= from && series.len() < most {
            series.push((day, self.days.get(&day).copied().unwrap_or(0)));
            let Ok(before) = day.yesterday() else { break };
            day = before;
        }
        series.reverse();
        series
    }
}

fn busiest(counts: &[u64]) -> Option<usize> {
    let most = counts.iter().copied().max().filter(|most| *most > 0)?;
    counts.iter().position(|count| *count == most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn starts(times: &[&str]) -> Vec<Timestamp> {
        times.iter().map(|text| Timestamp::from_calendar(text.parse().unwrap())).collect()
    }

    #[test]
    fn hours_are_those_of_whoever_asks() {
        let starts = starts(&["2026-01-04T23:30:00Z", "2026-01-05T09:00:00Z", "2026-01-05T09:59:59Z"]);
        let there = Activity::of(&starts, &TimeZone::fixed(jiff::tz::offset(2)));
        assert_eq!((there.weekdays, there.hours[1], there.hours[11]), ([3, 0, 0, 0, 0, 0, 0], 1, 2));
        assert_eq!((there.busiest_weekday(), there.busiest_hour()), (Some(0), Some(11)));
        let here = Activity::of(&starts, &TimeZone::UTC);
        assert_eq!((here.weekdays, here.hours[23]), ([2, 0, 0, 0, 0, 0, 1], 1));
        assert_eq!(here.days, BTreeMap::from([(date(2026, 1, 4), 1), (date(2026, 1, 5), 2)]));
    }

    #[test]
    fn days_in_a_row_are_a_streak() {
        let streak = |times: &[&str]| Activity::of(&starts(times), &TimeZone::UTC).longest_streak();
        assert_eq!(streak(&[]), 0);
        let (jan, feb) = ("2026-01-31T10:00:00Z", "2026-02-01T10:00:00Z");
        assert_eq!(streak(&[jan, jan, feb, "2026-02-03T10:00:00Z"]), 2);
        assert_eq!(streak(&["2026-01-01T10:00:00Z", "2026-01-03T10:00:00Z", "2026-01-04T00:00:00Z", feb]), 2);
    }

    #[test]
    fn a_series_has_the_empty_days_too() {
        let activity = Activity::of(&starts(&["2026-01-31T10:00:00Z"]), &TimeZone::UTC);
        let (from, to) = (date(2026, 1, 30), date(2026, 2, 1));
        assert_eq!(activity.series(from, to, 9), [(from, 0), (date(2026, 1, 31), 1), (to, 0)]);
        assert_eq!(activity.series(from, to, 2), [(date(2026, 1, 31), 1), (to, 0)]);
        assert_eq!(activity.series(to, from, 9), []);
        let none = Activity::of(&[], &TimeZone::UTC);
        assert_eq!((none.busiest_weekday(), none.busiest_hour()), (None, None));
        let never = Activity::of(&[Timestamp::from_seconds(1e300).unwrap()], &TimeZone::UTC);
        assert_eq!(never, Activity::default());
    }
}
