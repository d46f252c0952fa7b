//! A position in the feed of a server.

use hermes_session::live::ChangeMark;

/// Time in which a transaction that drew a number commits or never does, in seconds. Rows are written directly before
/// the commit; this leaves room for one that waits for a standby or hangs with its connection.
pub(super) const LATE: f64 = 600.0;

/// Maximum number of gaps. If there are more, neighbours are joined: rows between them are reported once more.
const MOST: usize = 128;

/// Numbers that no visible row has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Gap {
    pub(super) first: i64,
    pub(super) last: i64,
    /// Time of the row above it.
    pub(super) at: f64,
}

/// The feed, the greatest number seen, and the gaps below it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mark {
    pub(super) feed: String,
    pub(super) greatest: i64,
    pub(super) gaps: Vec<Gap>,
}

impl Mark {
    pub(super) fn new(feed: String, greatest: i64, gaps: Vec<Gap>) -> Self {
        let mut mark = Self { feed, greatest, gaps };
        mark.join();
        mark
    }

    /// Parses the text of a mark; `None` if it is not one.
    pub(super) fn parse(mark: &ChangeMark) -> Option<Self> {
        let mut parts = mark.0.split(' ');
        let (feed, greatest) = (parts.next()?.to_owned(), parts.next()?.parse().ok()?);
        let gap = |text: &str| {
            let (numbers, at) = text.split_once('@')?;
            let (first, last) = numbers.split_once('-')?;
            Some(Gap { first: first.parse().ok()?, last: last.parse().ok()?, at: at.parse().ok()? })
        };
        Some(Self { feed, greatest, gaps: parts.map(gap).collect::<Option<_>>()? })
    }

    /// Returns the text of the mark: the feed, the greatest number, and `first-last@time` for each gap.
    pub(super) fn to_text(&self) -> ChangeMark {
        let gaps = self.gaps.iter().map(|Gap { first, last, at }| format!(" {first}-{last}@{at}"));
        ChangeMark(format!("{} {}{}", self.feed, self.greatest, gaps.collect::<String>()))
    }

    /// Moves the mark behind rows that were seen: their numbers, ascending, and times. Gaps that stayed for too long are
    /// dropped.
    pub(super) fn advance(&mut self, seen: &[(i64, f64)], now: f64) {
        let (known, new) = seen.split_at(seen.partition_point(|(number, _)| *number <= self.greatest));
        let mut gaps = Vec::new();
        for gap in &self.gaps {
            let mut first = gap.first;
            for (number, _) in known.iter().filter(|(number, _)| (gap.first..=gap.last).contains(number)) {
                gaps.push(Gap { first, last: number - 1, at: gap.at });
                first = number + 1;
            }
            gaps.push(Gap { first, ..*gap });
        }
        for (number, at) in new {
            gaps.push(Gap { first: self.greatest + 1, last: number - 1, at: *at });
            self.greatest = *number;
        }
        gaps.retain(|gap| gap.first <= gap.last && gap.at > now - LATE);
        self.gaps = gaps;
        self.join();
    }

    fn join(&mut self) {
        while self.gaps.len() > MOST {
            let joined = self.gaps.chunks(2).map(|pair| match pair {
                [one, other] => Gap { first: one.first, ..*other },
                _ => pair[0],
            });
            self.gaps = joined.collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark() -> Mark {
        Mark::new("f".into(), 5, Vec::new())
    }

    fn gap(first: i64, last: i64, at: f64) -> Gap {
        Gap { first, last, at }
    }

    #[test]
    fn a_late_number_is_waited_for_as_long_as_it_may_come() {
        let mut mark = mark();
        mark.advance(&[(6, 1.0), (9, 2.0), (10, 2.0), (12, 3.5)], 4.0);
        assert_eq!((mark.greatest, &mark.gaps[..]), (12, &[gap(7, 8, 2.0), gap(11, 11, 3.5)][..]));
        mark.advance(&[(8, 4.0), (11, 4.0)], 5.0);
        assert_eq!(mark.gaps, [gap(7, 7, 2.0)]);
        assert_eq!(Mark::parse(&mark.to_text()), Some(mark.clone()));
        mark.advance(&[], 2.0 + LATE);
        assert_eq!((mark.greatest, mark.gaps.len()), (12, 0));
    }

    #[test]
    fn many_gaps_are_joined_and_none_is_lost() {
        let mut mark = mark();
        let seen: Vec<(i64, f64)> = (0..1_000).map(|number| (7 + 2 * number, 1.0)).collect();
        mark.advance(&seen, 1.0);
        assert!(mark.gaps.len() <= MOST);
        let covers = |number| mark.gaps.iter().any(|gap| (gap.first..=gap.last).contains(&number));
        assert!((0..1_000).all(|number| covers(6 + 2 * number)));
    }

    #[test]
    fn other_texts_are_no_marks() {
        for text in ["", "f", "f x", "f 1 ", "f 1 2", "f 1 2-3", "f 1 2-3@x"] {
            assert_eq!(Mark::parse(&ChangeMark(text.into())), None, "{text}");
        }
    }
}
