//! One call, sent again for as long as that is safe.
//!
//! Until a commit is sent nothing has happened, and everything can be sent again. If the answer to a commit is lost, the server is asked what became
//! of it as soon as one can be reached.

use crate::database::{Database, Mark, Purpose, Transaction};
use crate::error::{Failure, Remedy, leaves_doubt};
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

    pub(crate) async fn begin(&self, purpose: Purpose) -> Result<Transaction, Failure> {
        self.database.begin(purpose).await
    }

    /// Commits, and answers once it is certain.
    pub(crate) async fn commit<T>(&mut self, transaction: Transaction, answer: T) -> Result<T, Failure> {
        let mark = transaction.mark.clone();
        match (transaction.commit().await, mark) {
            (Ok(()), _) => Ok(answer),
            (Err(error), Some(mark)) if leaves_doubt(&error) => match self.fate(&mark).await {
                Some(Fate::Committed) => Ok(answer),
                Some(Fate::Aborted) => Err(Failure::Undone(error)),
                None => Err(Failure::InDoubt(error)),
            },
            (Err(error), _) => Err(error.into()),
        }
    }

    /// What became of a transaction, once a server can be asked; nothing if none can tell.
    async fn fate(&mut self, mark: &Mark) -> Option<Fate> {
        const STATUS: &str =
            "SELECT pg_xact_status($1::text::xid8), left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";
        loop {
            let asked = async {
                let client = self.database.pool.get().await?;
                let row = client.query_one(STATUS, &[&mark.id]).await?;
                Ok::<_, Failure>((row.try_get::<_, Option<String>>(0)?, row.try_get::<_, String>(1)?))
            };
            match asked.await {
                // A server that took over has a history of its own, in which the number may be another's.
                Ok((_, timeline)) if timeline != mark.timeline => return None,
                Ok((Some(status), _)) if status == "committed" => return Some(Fate::Committed),
                Ok((Some(status), _)) if status == "aborted" => return Some(Fate::Aborted),
                Ok((None, _)) => return None,
                // The old server process has not ended yet, or no server is there yet.
                Ok(_) => {}
                Err(failure) if failure.remedy() == Remedy::Reconnect => {}
                Err(_) => return None,
            }
            if self.start.elapsed() >= self.database.wait {
                return None;
            }
            self.pause(Remedy::Reconnect).await;
        }
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

enum Fate {
    Committed,
    Aborted,
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
                            transaction.roll_back().await;
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
