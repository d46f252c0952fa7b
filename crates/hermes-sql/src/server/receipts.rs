//! Commit receipts: they decide whether a commit whose answer was lost took place. The table that keeps them is `hx_mark`.
//!
//! Each writer has a row with the number of its last commit, and every commit increments it. A writer that lost an answer reads the row. If
//! the number is not there yet, it replaces the number, so that a commit still on its way fails. (The transaction ids of a server do not
//! serve: after a crash it hands out again those that never reached its log.)

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

/// The row of a writer, and the number in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// The row: 32 hexadecimal digits.
    pub writer: String,
    /// The number of commits so far.
    pub number: i64,
}

impl Receipt {
    /// Returns the receipt of a new writer, whose row does not exist yet.
    pub fn fresh() -> Self {
        let chance = || RandomState::new().hash_one(std::process::id());
        Self { writer: format!("{:016x}{:016x}", chance(), chance()), number: 0 }
    }

    /// Returns the receipt after one more commit.
    #[must_use]
    pub fn next(&self) -> Self {
        Self { writer: self.writer.clone(), number: self.number + 1 }
    }
}

/// The receipts of this process that no transaction uses at the moment.
#[derive(Debug, Default)]
pub struct Receipts(Mutex<Vec<Receipt>>);

impl Receipts {
    /// Takes a receipt that no transaction uses, if there is one.
    pub fn take(&self) -> Option<Receipt> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Gives back a receipt whose row has the number of the receipt.
    pub fn give_back(&self, receipt: Receipt) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(receipt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_given_out_once_and_count_on() {
        let (receipts, receipt) = (Receipts::default(), Receipt::fresh());
        assert_ne!(receipt.writer, Receipt::fresh().writer);
        assert!(receipt.writer.len() == 32 && receipt.writer.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert_eq!(receipts.take(), None);
        receipts.give_back(receipt.next());
        assert_eq!(receipts.take(), Some(Receipt { number: 1, ..receipt }));
        assert_eq!(receipts.take(), None);
    }
}
