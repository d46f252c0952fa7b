//! Schedules background work of the writer: when it is idle, but not too late.
//!
//! Between two writes it only does pressing work, which is mostly indexing. Other work waits for a pause: a step may
//! hold the lock for its full time, and the next write would have to wait for that before it enters the queue.

use crate::error::Failure;
use crate::write::database::Database;
use std::time::{Duration, Instant};

/// Time without a write after which the writer starts background work.
const QUIET: Duration = Duration::from_millis(300);
/// Number of writes, or time, after which background work runs between two writes.
const MAX_LAG: Lag = Lag { writes: 2_000, span: Duration::from_secs(4) };
/// The limits while a backlog is known, so that it does not grow further.
const MAX_LAG_WITH_BACKLOG: Lag = Lag { writes: 250, span: Duration::from_millis(500) };
/// Maximum delay of work that waits for a pause.
const NO_PAUSE: Duration = Duration::from_secs(60);
/// Pause before retrying background work that failed twice in a row.
const RETRY_DELAY: Duration = Duration::from_secs(5);
/// Maximum time for remaining work when the store is closed.
pub(crate) const LAST: Duration = Duration::from_millis(200);

/// Work that can be postponed, or lost without harm, because its results are derived from stored data.
#[derive(Clone, Copy)]
pub(crate) struct Background {
    /// Does a short piece of any work, in the open transaction. Returns whether more is left.
    pub(crate) step: Step,
    /// Does a short piece of pressing work, in the open transaction. Returns whether more is left.
    pub(crate) pressing: Step,
}

type Step = fn(&Database) -> Result<bool, Failure>;

/// Selects the work of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// All outstanding work.
    All,
    /// Only pressing work.
    Pressing,
}

impl Background {
    pub(crate) fn of(&self, work: Work) -> Step {
        match work {
            Work::All => self.step,
            Work::Pressing => self.pressing,
        }
    }
}

struct Lag {
    writes: usize,
    span: Duration,
}

/// Tracks outstanding work and when it is due.
#[derive(Debug, Default)]
pub(crate) struct Chores {
    /// The number of writes since the last step. `first` and `last` are the times of the first and the last write.
    writes: usize,
    first: Option<Instant>,
    last: Option<Instant>,
    /// Whether more work is known to be left.
    more: bool,
    /// Whether a caller asked for background work.
    nudged: bool,
    /// Whether, since all work was done, anything was written that may need a step, or a caller asked for one.
    owed: bool,
    /// Since when steps did only pressing work.
    put_aside: Option<Instant>,
    failures: u32,
    /// The earliest time of the next step.
    not_before: Option<Instant>,
}

impl Chores {
    pub(crate) fn nudge(&mut self) {
        (self.nudged, self.owed) = (true, true);
    }

    /// Records that this many jobs were written.
    pub(crate) fn wrote(&mut self, jobs: usize, now: Instant) {
        self.writes += jobs;
        self.first.get_or_insert(now);
        self.last = Some(now);
        self.owed = true;
    }

    /// Returns which work a step should do now.
    pub(crate) fn work(&self, now: Instant) -> Work {
        let is_pause = self.last.is_none_or(|last| now.saturating_duration_since(last) >= QUIET);
        let is_late = self.put_aside.is_some_and(|since| now.saturating_duration_since(since) >= NO_PAUSE);
        if is_pause || is_late || self.nudged { Work::All } else { Work::Pressing }
    }

    /// Records the outcome of a step.
    pub(crate) fn stepped(&mut self, work: Work, outcome: Result<bool, ()>, now: Instant) {
        (self.writes, self.first) = (0, None);
        match outcome {
            Ok(more) => {
                self.more = more;
                (self.failures, self.not_before) = (0, None);
                if work == Work::Pressing {
                    self.put_aside.get_or_insert(now);
                } else {
                    (self.nudged, self.put_aside) = (false, None);
                    self.owed &= more;
                }
            }
            Err(()) => {
                self.more = true;
                self.failures += 1;
                self.not_before = if self.failures.is_multiple_of(2) { now.checked_add(RETRY_DELAY) } else { None };
            }
        }
    }

    /// Postpones a step because other writers are busy.
    pub(crate) fn put_off(&mut self, now: Instant) {
        self.not_before = now.checked_add(QUIET);
    }

    /// Returns when a step is due if no job arrives; `None` if no work is left.
    pub(crate) fn next(&self, now: Instant) -> Option<Instant> {
        if !self.more && !self.owed {
            return None;
        }
        let quiet = match self.last {
            Some(last) if !self.nudged => last + QUIET,
            _ => now,
        };
        // Known remaining work continues at once.
        let due = if self.more && self.writes == 0 { now } else { quiet };
        Some(self.not_before.map_or(due, |earliest| due.max(earliest)))
    }

    /// Returns whether a step is due between two groups of jobs.
    pub(crate) fn is_overdue(&self, now: Instant) -> bool {
        let Lag { writes, span } = if self.more { MAX_LAG_WITH_BACKLOG } else { MAX_LAG };
        let late = self.first.is_some_and(|first| now.saturating_duration_since(first) >= span);
        (self.writes >= writes || late) && self.not_before.is_none_or(|earliest| now >= earliest)
    }

    /// Returns whether a step is worthwhile before the store is closed: not if it was only read and no work was found.
    pub(crate) fn is_left_at_the_end(&self, now: Instant) -> bool {
        self.owed && self.not_before.is_none_or(|earliest| now >= earliest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn a_step_comes_after_a_write_when_nothing_else_does() {
        let (mut chores, start) = (Chores::default(), Instant::now());
        assert_eq!(chores.next(start), None, "nothing was written");
        assert!(!chores.is_left_at_the_end(start));
        chores.wrote(1, start);
        assert_eq!(chores.next(start), Some(start + ms(300)));
        chores.wrote(1, start + ms(200));
        assert_eq!(chores.next(start + ms(250)), Some(start + ms(500)), "the last write counts");
        chores.stepped(Work::All, Ok(true), start + ms(510));
        assert_eq!(chores.next(start + ms(511)), Some(start + ms(511)), "more is left");
        assert!(chores.is_left_at_the_end(start));
        chores.stepped(Work::All, Ok(false), start + ms(520));
        assert_eq!(chores.next(start + ms(521)), None);
        assert!(!chores.is_left_at_the_end(start));
    }

    #[test]
    fn unbroken_writing_is_broken_by_a_step_now_and_then() {
        let (mut chores, start) = (Chores::default(), Instant::now());
        chores.wrote(1_999, start);
        assert!(!chores.is_overdue(start + ms(3_999)));
        assert!(chores.is_overdue(start + ms(4_000)));
        chores.wrote(1, start + ms(1));
        assert!(chores.is_overdue(start + ms(1)));
        chores.stepped(Work::All, Ok(false), start + ms(2));
        assert!(!chores.is_overdue(start + ms(9_000)));
        // While more work is known to be left, steps come more often.
        chores.stepped(Work::All, Ok(true), start);
        chores.wrote(249, start);
        assert!(!chores.is_overdue(start + ms(499)));
        assert!(chores.is_overdue(start + ms(500)));
    }

    #[test]
    fn what_can_wait_for_a_pause_waits_for_one() {
        let (mut chores, start) = (Chores::default(), Instant::now());
        assert_eq!(chores.work(start), Work::All, "nothing was written");
        chores.wrote(1, start);
        assert_eq!(chores.work(start + ms(299)), Work::Pressing);
        assert_eq!(chores.work(start + ms(300)), Work::All);
        chores.stepped(Work::Pressing, Ok(true), start + ms(10));
        assert_eq!(chores.next(start + ms(11)), Some(start + ms(11)), "more of what is pressing");
        chores.stepped(Work::Pressing, Ok(false), start + ms(20));
        assert_eq!(chores.next(start + ms(21)), Some(start + ms(300)), "the rest in a pause");
        assert!(chores.is_left_at_the_end(start + ms(21)));
        // But not forever.
        chores.wrote(1, start + ms(60_009));
        assert_eq!(chores.work(start + ms(60_009)), Work::Pressing);
        assert_eq!(chores.work(start + ms(60_010)), Work::All);
        chores.stepped(Work::All, Ok(false), start + ms(60_010));
        assert_eq!((chores.work(start + ms(60_011)), chores.next(start)), (Work::Pressing, None));
        chores.nudge();
        assert_eq!(chores.work(start + ms(60_011)), Work::All, "somebody asked");
    }

    #[test]
    fn whoever_asks_gets_it_soon_and_at_the_latest_at_the_end() {
        let (mut chores, start) = (Chores::default(), Instant::now());
        assert!(!chores.is_left_at_the_end(start), "nobody asked");
        chores.nudge();
        assert_eq!(chores.next(start), Some(start));
        assert!(chores.is_left_at_the_end(start));
        chores.put_off(start);
        assert_eq!(chores.next(start), Some(start + ms(300)));
        assert!(!chores.is_left_at_the_end(start), "others are in the way");
        chores.stepped(Work::All, Ok(true), start);
        assert!(chores.is_left_at_the_end(start), "more is left");
        chores.stepped(Work::All, Ok(false), start);
        assert!(!chores.is_left_at_the_end(start));
    }

    #[test]
    fn a_step_that_fails_is_tried_once_more_and_then_let_be() {
        let (mut chores, start) = (Chores::default(), Instant::now());
        chores.wrote(1, start);
        chores.stepped(Work::All, Err(()), start);
        assert_eq!(chores.next(start), Some(start));
        chores.stepped(Work::All, Err(()), start);
        assert_eq!(chores.next(start), Some(start + ms(5_000)));
        chores.wrote(5_000, start);
        assert!(!chores.is_overdue(start + ms(4_999)));
        assert!(!chores.is_left_at_the_end(start + ms(4_999)));
        assert!(chores.is_overdue(start + ms(5_000)));
        chores.stepped(Work::All, Ok(false), start + ms(5_001));
        assert_eq!(chores.next(start + ms(5_001)), None);
    }
}
