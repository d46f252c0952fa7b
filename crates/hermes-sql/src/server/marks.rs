//! Marks: how a commit whose answer was lost is told from one that never was.
//!
//! A writer has a row with the number of its last commit, and each commit counts it on. Whoever has lost an answer looks whether the row has come that
//! far, and if not, takes the number away, so that what may still be on its way can't commit any more. (A server's own numbers of transactions
//! do not do: after a crash it gives out again those that never reached its log.)

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

/// A writer's row, and the number that it stands at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// The row: 32 hexadecimal digits.
    pub writer: String,
    /// How many commits there were.
    pub number: i64,
}

impl Mark {
    /// A row that nobody has, and that is not there yet.
    pub fn fresh() -> Self {
        let chance = || RandomState::new().hash_one(std::process::id());
        Self { writer: format!("{:016x}{:016x}", chance(), chance()), number: 0 }
    }

    /// The mark after one more commit.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { writer: self.writer.clone(), number: self.number + 1 }
    }
}

/// The rows of this process that no transaction uses at the moment.
#[derive(Debug, Default)]
pub struct Marks(Mutex<Vec<Mark>>);

impl Marks {
    /// A row that nobody uses, if there is one.
    pub fn take(&self) -> Option<Mark> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Gives a row back that stands where the mark says.
    pub fn give_back(&self, mark: Mark) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_given_out_once_and_count_on() {
        let (marks, mark) = (Marks::default(), Mark::fresh());
        assert_ne!(mark.writer, Mark::fresh().writer);
        assert!(mark.writer.len() == 32 && mark.writer.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(marks.take(), None);
        marks.give_back(mark.next());
        assert_eq!(marks.take(), Some(Mark { number: 1, ..mark }));
        assert_eq!(marks.take(), None);
    }
}
