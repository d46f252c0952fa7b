//! Limits the work of one transaction, so that long work releases the lock in between.

use std::time::{Duration, Instant};

/// How long a step works. A large row may exceed it, other jobs may share the transaction, and the commit comes after
/// it: in total the lock should be held for less than 100 ms.
const TIME: Duration = Duration::from_millis(15);
/// Maximum number of rows of a step, however fast they are: the WAL should not grow much at once.
const ROWS: u32 = 1_000;

/// The remaining time and rows of a step. At least one row is always done, however long it takes.
#[derive(Debug)]
pub(crate) struct Budget {
    until: Instant,
    rows: u32,
}

impl Budget {
    /// Starts the budget of a step now.
    pub(crate) fn step() -> Self {
        Self { until: Instant::now() + TIME, rows: ROWS }
    }

    /// Counts a row as done. Returns whether another one may follow.
    pub(crate) fn spend(&mut self) -> bool {
        self.rows = self.rows.saturating_sub(1);
        !self.is_spent()
    }

    /// Returns whether the step should end.
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
