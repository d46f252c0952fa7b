//! How much one transaction may do, so that long work leaves the lock to others in between.

use std::time::{Duration, Instant};

/// How long a step works. A large row may take longer than what is left of it, other writers may be in the same transaction, and the commit
/// comes after: with all that the lock should be held for less than a tenth of a second.
const TIME: Duration = Duration::from_millis(15);
/// The most rows of a step, however quick they are: the log should not grow by much in one go.
const ROWS: u32 = 1_000;

/// What is left of a step. One row is always done, however long it takes.
#[derive(Debug)]
pub(crate) struct Budget {
    until: Instant,
    rows: u32,
}

impl Budget {
    /// A step that begins now.
    pub(crate) fn step() -> Self {
        Self { until: Instant::now() + TIME, rows: ROWS }
    }

    /// Takes note of a row that was done; whether another one may be.
    pub(crate) fn spend(&mut self) -> bool {
        self.rows = self.rows.saturating_sub(1);
        !self.is_spent()
    }

    /// Whether the step should end.
    pub(crate) fn is_spent(&self) -> bool {
        self.rows == 0 || Instant::now() >= self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_time_run_out() {
        let mut rows = Budget { until: Instant::now() + Duration::from_secs(3_600), rows: 2 };
        assert_eq!((rows.spend(), rows.spend(), rows.spend()), (true, false, false));
        assert!(Budget { until: Instant::now(), rows: 9 }.is_spent());
    }
}
