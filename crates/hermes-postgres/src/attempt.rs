//! One call, sent again for as long as that is safe.
//!
//! Until a commit is sent nothing has happened, and everything can be sent again. If the answer to a commit is lost, the server is asked what became
//! of it as soon as one can be reached.

use crate::database::{Database, Lost, Purpose, Transaction};
use crate::error::{Failure, Remedy};
use crate::marks::{Mark, Marks};
use hermes_session::StoreError;
use std::hash::{BuildHasher as _, RandomState};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// The attempts at one call.
pub(crate) struct Attempts<'d> {
    database: &'d Database,
    op: &'static str,
    start: Instant,
    failed: u32,
}

impl<'d> Attempts<'d> {
    pub(crate) fn new(database: &'d Database, op: &'static str) -> Self {
        Self { database, op, start: Instant::now(), failed: 0 }
    }

    pub(crate) async fn begin(&self, purpose: Purpose<'_>) -> Result<Transaction, Failure> {
        if purpose.is_write() && self.database.read_only {
            return Err(StoreError::ReadOnly { op: self.op, location: self.database.location.clone() }.into());
        }
        self.database.begin(purpose).await
    }

    /// Commits, and answers once it is certain.
    pub(crate) async fn commit<T>(&mut self, transaction: Transaction, answer: T) -> Result<T, Failure> {
        let Err(Lost { failure, mark }) = transaction.commit(&self.database.marks).await else { return Ok(answer) };
        if failure.is_refusal() {
            // The server said no, and nothing happened.
            return Err(failure);
        }
        match self.is_reached(&mark).await {
            Some(true) => Ok(answer),
            Some(false) => Err(Failure::Undone(failure.into_cause())),
            None => Err(Failure::InDoubt(failure.into_cause())),
        }
    }

    /// Whether a commit happened, once a server can be asked; nothing if none can.
    async fn is_reached(&mut self, mark: &Mark) -> Option<bool> {
        loop {
            let asked = async {
                let client = self.database.pool.get().await?;
                mark.is_reached(&client, &self.database.marks_table()).await
            };
            match asked.await {
                Ok(is_reached) => return Some(is_reached),
                Err(failure) if failure.remedy() == Remedy::Tell => return None,
                Err(_) if self.start.elapsed() >= self.database.wait => return None,
                Err(_) => self.pause(Remedy::Reconnect).await,
            }
        }
    }

    pub(crate) fn marks(&self) -> &'d Marks {
        &self.database.marks
    }

    /// What an attempt came to: an answer, or another attempt.
    pub(crate) async fn settle<T>(&mut self, outcome: Result<T, Failure>) -> ControlFlow<Result<T, StoreError>> {
        let failure = match outcome {
            Ok(answer) => return ControlFlow::Break(Ok(answer)),
            Err(failure) => failure,
        };
        let (remedy, waited) = (failure.remedy(), self.start.elapsed());
        if remedy == Remedy::Tell || waited >= self.database.wait {
            return ControlFlow::Break(Err(failure.into_store_error(self.op, waited, &self.database.location)));
        }
        self.pause(remedy).await;
        ControlFlow::Continue(())
    }

    /// Waits a little, the longer the more attempts failed, and never as long as somebody else does.
    async fn pause(&mut self, remedy: Remedy) {
        let most = match remedy {
            Remedy::Reconnect => 25 << self.failed.min(4),
            _ => 1 << self.failed.min(6),
        };
        self.failed += 1;
        let chance = RandomState::new().hash_one(self.failed) % 1_000;
        tokio::time::sleep(Duration::from_micros(most * (500 + chance))).await;
    }
}

/// Runs work in a transaction, again and again until it is done or can't be: `job!(database, purpose, "op", |transaction| future)`. A macro, because a
/// closure that borrows both the transaction and what the caller was given can't be named as a type.
macro_rules! job {
    ($database:expr, $purpose:expr, $op:expr, |$transaction:ident| $work:expr) => {{
        let mut attempts = $crate::attempt::Attempts::new($database, $op);
        loop {
            let outcome = match attempts.begin($purpose).await {
                Ok(transaction) => {
                    let worked = {
                        let $transaction = &transaction;
                        $work.await
                    };
                    match worked {
                        Ok(answer) => attempts.commit(transaction, answer).await,
                        Err(failure) => {
                            transaction.roll_back(attempts.marks()).await;
                            Err($crate::error::Failure::from(failure))
                        }
                    }
                }
                Err(failure) => Err(failure),
            };
            match attempts.settle(outcome).await {
                std::ops::ControlFlow::Break(result) => break result,
                std::ops::ControlFlow::Continue(()) => {}
            }
        }
    }};
}

pub(crate) use job;
