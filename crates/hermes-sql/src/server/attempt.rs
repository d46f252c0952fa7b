//! Attempts at one call, repeated as long as that is safe.
//!
//! Until a commit is sent nothing has happened, so everything can be retried. If the answer to a commit is lost, its
//! outcome is looked up as soon as a server can be reached.

use super::Receipt;
use hermes_session::{Cause, StoreError};
use std::hash::{BuildHasher as _, RandomState};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tracing::{debug, warn};

/// Reaction to a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Retry at once: nothing happened, because concurrent work was in the way.
    Again,
    /// Retry once the server is back: nothing happened.
    Reconnect,
    /// Report the error: another attempt would end the same.
    Tell,
}

/// Failure of an attempt.
pub trait Failing: Send {
    /// Returns the reaction to it, as long as nothing was committed.
    fn remedy(&self) -> Remedy;
    /// Returns whether the server refused the request and stays alive. An error from a server that is going down is not
    /// a refusal: the request may have been carried out.
    fn is_refusal(&self) -> bool;
    /// Describes the failure for the log by its number: the server's text may quote stored text.
    fn code(&self) -> String;
    /// Returns the error of the driver.
    fn into_cause(self) -> Cause;
    /// Converts it to the domain's error, for a call that gives up.
    fn into_store_error(self, op: &'static str, waited: Duration, location: &str) -> StoreError;
    /// Returns whether the requested object does not exist.
    fn is_missing(&self) -> bool;
    /// Creates the failure of a transaction that did not happen and can be retried.
    fn undone(cause: Cause) -> Self;
    /// Creates the failure of a commit whose answer was lost and whose outcome is unknown.
    fn in_doubt(cause: Cause) -> Self;
}

/// A commit without a proper answer.
#[derive(Debug)]
pub struct Lost<F> {
    /// Failure received instead of an answer.
    pub failure: F,
    /// Receipt that the writer's row shows if the commit happened.
    pub receipt: Receipt,
}

/// A server that commits and rolls back transactions.
pub trait Server: Sync {
    /// A transaction.
    type Transaction: Send;
    /// Type of failures.
    type Failure: Failing;

    /// Returns how long a call is retried.
    fn wait(&self) -> Duration;
    /// Returns the printable location of the server.
    fn location(&self) -> &str;
    /// Commits a transaction.
    fn commit(&self, transaction: Self::Transaction) -> impl Future<Output = Result<(), Lost<Self::Failure>>> + Send;
    /// Rolls a transaction back. With [`Remedy::Reconnect`], its connection is not used again.
    fn roll_back(&self, transaction: Self::Transaction, remedy: Remedy) -> impl Future<Output = ()> + Send;
    /// Returns whether the commit of a receipt happened. If it did not, it never will.
    fn is_reached(&self, receipt: &Receipt) -> impl Future<Output = Result<bool, Self::Failure>> + Send;
}

/// Attempts at one call.
pub struct Attempts<'s, S> {
    server: &'s S,
    op: &'static str,
    start: Instant,
    failed: u32,
}

impl<'s, S: Server> Attempts<'s, S> {
    /// Starts without any attempt.
    pub fn new(server: &'s S, op: &'static str) -> Self {
        Self { server, op, start: Instant::now(), failed: 0 }
    }

    /// Commits, and returns once the outcome is certain.
    ///
    /// # Errors
    /// The server refused, or the commit did not happen, or its outcome is unknown.
    pub async fn commit(&mut self, transaction: S::Transaction) -> Result<(), S::Failure> {
        let Err(Lost { failure, receipt }) = self.server.commit(transaction).await else { return Ok(()) };
        if failure.is_refusal() {
            // A refusal means that nothing happened.
            return Err(failure);
        }
        warn!(op = self.op, error = failure.code(), "answer to a commit lost; asking the server what became of it");
        let is_reached = self.is_reached(&receipt).await;
        warn!(op = self.op, committed = is_reached, "outcome of the commit looked up");
        match is_reached {
            Some(true) => Ok(()),
            Some(false) => Err(S::Failure::undone(failure.into_cause())),
            None => Err(S::Failure::in_doubt(failure.into_cause())),
        }
    }

    /// Looks up whether a commit happened, once a server can be reached. Returns `None` if that is not possible in
    /// time.
    async fn is_reached(&mut self, receipt: &Receipt) -> Option<bool> {
        loop {
            match self.server.is_reached(receipt).await {
                Ok(is_reached) => return Some(is_reached),
                Err(failure) if failure.remedy() == Remedy::Tell => return None,
                Err(_) if self.start.elapsed() >= self.server.wait() => return None,
                Err(_) => self.pause(Remedy::Reconnect).await,
            }
        }
    }

    /// Rolls back a failed attempt.
    pub async fn roll_back(&self, transaction: S::Transaction, failure: &S::Failure) {
        self.server.roll_back(transaction, failure.remedy()).await;
    }

    /// Waits before another attempt. Breaks with the final error if there is to be none.
    pub async fn retry(&mut self, failure: S::Failure) -> ControlFlow<StoreError> {
        let (remedy, waited) = (failure.remedy(), self.start.elapsed());
        if remedy == Remedy::Tell || waited >= self.server.wait() {
            debug!(op = self.op, failed = self.failed, ?waited, error = failure.code(), "call given up");
            return ControlFlow::Break(failure.into_store_error(self.op, waited, self.server.location()));
        }
        debug!(
            op = self.op,
            failed = self.failed,
            ?waited,
            ?remedy,
            error = failure.code(),
            "attempt failed; retrying"
        );
        self.pause(remedy).await;
        ControlFlow::Continue(())
    }

    /// Waits with exponential backoff and jitter, so that concurrent callers do not retry at the same moment.
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

/// Runs work in a transaction, retried until it succeeds or fails for good:
/// `job!(server, purpose, "op", |transaction| future)`. It is a macro because the type of a closure that borrows both
/// the transaction and the caller's arguments cannot be expressed.
#[macro_export]
macro_rules! job {
    ($server:expr, $purpose:expr, $op:expr, |$transaction:ident| $work:expr) => {{
        let server = $server;
        let mut attempts = $crate::server::Attempts::new(server, $op);
        loop {
            let outcome = match server.begin($purpose, $op).await {
                Ok(transaction) => {
                    let worked = {
                        let $transaction = &transaction;
                        $work.await
                    };
                    match worked {
                        Ok(answer) => attempts.commit(transaction).await.map(|()| answer),
                        Err(failure) => {
                            attempts.roll_back(transaction, &failure).await;
                            Err(failure)
                        }
                    }
                }
                Err(failure) => Err(failure),
            };
            let failure = match outcome {
                Ok(answer) => break Ok(answer),
                Err(failure) => failure,
            };
            if let std::ops::ControlFlow::Break(error) = attempts.retry(failure).await {
                break Err(error);
            }
        }
    }};
}
