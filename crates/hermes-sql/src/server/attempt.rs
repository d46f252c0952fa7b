//! One call, sent again for as long as that is safe.
//!
//! Until a commit is sent nothing has happened, and everything can be sent again. If the answer to a commit is lost, the server is asked what became
//! of it as soon as one can be reached.

use super::Receipt;
use hermes_session::{Cause, StoreError};
use std::hash::{BuildHasher as _, RandomState};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tracing::{debug, warn};

/// What a failed attempt leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing happened, and another attempt may go through at once: others were in the way.
    Again,
    /// The same, once the server is back.
    Reconnect,
    /// Another attempt would end the same.
    Tell,
}

/// Why an attempt failed.
pub trait Failing: Send {
    /// What to do about it, as long as nothing was committed.
    fn remedy(&self) -> Remedy;
    /// Whether the server did not do what it was asked, and lives to say so. One that says so with its last breath may have done it.
    fn is_refusal(&self) -> bool;
    /// Describes the failure for the log by its number: the server's text may quote stored text.
    fn code(&self) -> String;
    /// What the driver said.
    fn into_cause(self) -> Cause;
    /// The domain's error, for a call that gives up.
    fn into_store_error(self, op: &'static str, waited: Duration, location: &str) -> StoreError;
    /// Whether something was asked for that is not there.
    fn is_missing(&self) -> bool;
    /// The transaction did not happen, and can be tried again.
    fn undone(cause: Cause) -> Self;
    /// The answer to a commit was lost, and nobody can tell any more whether it happened.
    fn in_doubt(cause: Cause) -> Self;
}

/// A commit that was not answered as it should have been.
#[derive(Debug)]
pub struct Lost<F> {
    /// What came instead of an answer.
    pub failure: F,
    /// Where the writer stands if it happened.
    pub receipt: Receipt,
}

/// A server on which transactions end.
pub trait Server: Sync {
    /// A transaction.
    type Transaction: Send;
    /// Why something failed.
    type Failure: Failing;

    /// How long a call goes on trying.
    fn wait(&self) -> Duration;
    /// What is shown of where it is.
    fn location(&self) -> &str;
    /// Ends a transaction as done.
    fn commit(&self, transaction: Self::Transaction) -> impl Future<Output = Result<(), Lost<Self::Failure>>> + Send;
    /// Ends it as if it had not been. If the remedy is to connect anew, its connection is not used again.
    fn roll_back(&self, transaction: Self::Transaction, remedy: Remedy) -> impl Future<Output = ()> + Send;
    /// Returns whether the commit that a receipt stands for took place. If it did not, it never will.
    fn is_reached(&self, receipt: &Receipt) -> impl Future<Output = Result<bool, Self::Failure>> + Send;
}

/// The attempts at one call.
pub struct Attempts<'s, S> {
    server: &'s S,
    op: &'static str,
    start: Instant,
    failed: u32,
}

impl<'s, S: Server> Attempts<'s, S> {
    /// None so far.
    pub fn new(server: &'s S, op: &'static str) -> Self {
        Self { server, op, start: Instant::now(), failed: 0 }
    }

    /// Commits, and answers once it is certain.
    ///
    /// # Errors
    /// What the server refused, or that it did not happen, or that nobody can tell.
    pub async fn commit<T: Send>(&mut self, transaction: S::Transaction, answer: T) -> Result<T, S::Failure> {
        let Err(Lost { failure, receipt }) = self.server.commit(transaction).await else { return Ok(answer) };
        if failure.is_refusal() {
            // The server said no, and nothing happened.
            return Err(failure);
        }
        warn!(op = self.op, error = failure.code(), "answer to a commit lost; asking the server what became of it");
        let is_reached = self.is_reached(&receipt).await;
        warn!(op = self.op, committed = is_reached, "outcome of the commit looked up");
        match is_reached {
            Some(true) => Ok(answer),
            Some(false) => Err(S::Failure::undone(failure.into_cause())),
            None => Err(S::Failure::in_doubt(failure.into_cause())),
        }
    }

    /// Whether a commit happened, once a server can be asked; nothing if none can.
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

    /// Undoes what a failed attempt has done so far.
    pub async fn roll_back(&self, transaction: S::Transaction, failure: &S::Failure) {
        self.server.roll_back(transaction, failure.remedy()).await;
    }

    /// What an attempt came to: an answer, or another attempt.
    pub async fn settle<T: Send>(&mut self, outcome: Result<T, S::Failure>) -> ControlFlow<Result<T, StoreError>> {
        let failure = match outcome {
            Ok(answer) => return ControlFlow::Break(Ok(answer)),
            Err(failure) => failure,
        };
        let (remedy, waited) = (failure.remedy(), self.start.elapsed());
        if remedy == Remedy::Tell || waited >= self.server.wait() {
            debug!(op = self.op, failed = self.failed, ?waited, error = failure.code(), "call given up");
            return ControlFlow::Break(Err(failure.into_store_error(self.op, waited, self.server.location())));
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

/// Runs work in a transaction, again and again until it is done or can't be: `job!(server, purpose, "op", |transaction| future)`. A macro, because a
/// closure that borrows both the transaction and what the caller was given can't be named as a type.
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
                        Ok(answer) => attempts.commit(transaction, answer).await,
                        Err(failure) => {
                            attempts.roll_back(transaction, &failure).await;
                            Err(failure)
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
