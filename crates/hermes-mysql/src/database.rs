//! A server and its settings.

use crate::connection::{Object, Pool};
use crate::error::Failure;
use crate::indexes::{Vocabulary, Written};
use crate::transaction::Transaction;
use crate::{lapses, receipts};
use hermes_session::{Location, ReadOnlyReason, StoreError};
use hermes_sql::server::{Failing as _, Lost, Receipt, Receipts, Remedy, Server};
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;
use std::sync::Arc;
use std::time::Duration;
use tracing::debug;

/// The two kinds of server. Statements that only one of them understands depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    Mariadb,
    Mysql,
}

impl Flavour {
    /// Determines the kind from the version that the server reports.
    pub(crate) fn of(version: &str) -> Self {
        if version.contains("MariaDB") { Self::Mariadb } else { Self::Mysql }
    }

    /// Returns the statement that sets the time limit of statements; zero means no limit.
    pub(crate) fn statement_timeout(self, bound: Duration) -> String {
        match self {
            Self::Mariadb => format!("SET SESSION max_statement_time = {:.3}", bound.as_secs_f64()),
            // In milliseconds, and only for statements that read.
            Self::Mysql => {
                format!("SET SESSION max_execution_time = {}", bound.as_millis().min(u128::from(u32::MAX)))
            }
        }
    }
}

/// A server and its settings.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) pool: Pool,
    /// Printable location.
    pub(crate) location: String,
    /// Name of the database with the tables.
    pub(crate) name: String,
    pub(crate) flavour: Flavour,
    pub(crate) statement_timeout: Duration,
    pub(crate) wait: Duration,
    /// Whether writes are refused.
    pub(crate) read_only: bool,
    /// Connection and snapshot that all transactions read, if they share one.
    pub(crate) frame: Option<Arc<Transaction>>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) receipts: Arc<Receipts>,
}

/// Purpose of a transaction.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Changes something.
    Write,
    /// Like `Write`, without a time limit for statements, because much may be deleted or imported.
    WriteMuch,
    /// Reads a snapshot.
    Read,
    /// Reads a snapshot as a whole, without a time limit for statements.
    ReadAll,
    /// Like `ReadAll`, where the data may be slightly stale.
    ReadBehind,
}

impl Purpose {
    /// Ignores the words: they are written with their messages.
    pub(crate) fn write(_: &[Written]) -> Self {
        Self::Write
    }

    pub(crate) fn write_much(_: &[Written]) -> Self {
        Self::WriteMuch
    }

    fn is_write(self) -> bool {
        matches!(self, Self::Write | Self::WriteMuch)
    }
}

/// Expression for the name of a server.
pub(crate) const NAME: &str = "concat(@@hostname, ':', @@port, ' ', @@server_id)";

impl Database {
    /// Returns the statements that begin a transaction.
    fn prelude(&self, purpose: Purpose) -> String {
        let bound = match purpose {
            Purpose::Write | Purpose::Read => self.statement_timeout,
            Purpose::WriteMuch | Purpose::ReadAll | Purpose::ReadBehind => Duration::ZERO,
        };
        let begin = match purpose.is_write() {
            true => "START TRANSACTION",
            false => {
                "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
            }
        };
        format!("SELECT {NAME}; {}; {begin}", self.flavour.statement_timeout(bound))
    }

    /// Begins a transaction for a call.
    pub(crate) async fn begin(&self, purpose: Purpose, op: &'static str) -> Result<Transaction, Failure> {
        if purpose.is_write() && self.read_only {
            return Err(StoreError::ReadOnly {
                op,
                location: Location::Server(self.location.clone()),
                reason: ReadOnlyReason::Requested,
            }
            .into());
        }
        if let Some(frame) = &self.frame {
            return Ok(Transaction::within(frame));
        }
        let mut object = self.pool.get().await?;
        match self.start(&mut object, purpose).await {
            Ok((server, receipt)) => {
                let epoch = self.vocabulary.meet(&server, Object::metrics(&object).created);
                if !self.read_only && self.vocabulary.should_look(epoch) {
                    // Done once in the background, instead of by each search.
                    lapses::look_meanwhile(self.clone());
                }
                Ok(Transaction::new(object, epoch, receipt, self.flavour, Arc::clone(&self.vocabulary)))
            }
            Err(failure) => {
                drop(Object::take(object));
                if failure.remedy() == Remedy::Reconnect {
                    // The other connections lead to the same dead server.
                    let dropped = self.pool.retain(|_, _| false).removed.len();
                    debug!(op, dropped, error = failure.code(), "server gone; pooled connections dropped");
                }
                Err(failure)
            }
        }
    }

    /// Does nothing: InnoDB merges its search index by itself.
    pub(crate) async fn tidy(&self) {}

    /// Begins a transaction on a connection. Returns the name of the server, and the receipt of a write.
    async fn start(&self, conn: &mut Conn, purpose: Purpose) -> Result<(String, Option<Receipt>), Failure> {
        let receipt = if purpose.is_write() { Some(receipts::take(&self.receipts, conn).await?) } else { None };
        match conn.query_first::<String, _>(self.prelude(purpose)).await {
            Ok(server) => Ok((server.unwrap_or_default(), receipt)),
            Err(error) => {
                receipt.into_iter().for_each(|receipt| self.receipts.give_back(receipt));
                Err(error.into())
            }
        }
    }
}

impl Server for Database {
    type Transaction = Transaction;
    type Failure = Failure;

    fn wait(&self) -> Duration {
        self.wait
    }

    fn location(&self) -> &str {
        &self.location
    }

    async fn commit(&self, transaction: Transaction) -> Result<(), Lost<Failure>> {
        transaction.commit(&self.receipts).await
    }

    async fn roll_back(&self, transaction: Transaction, remedy: Remedy) {
        transaction.roll_back(&self.receipts, remedy != Remedy::Reconnect).await;
        if remedy == Remedy::Reconnect {
            // The other connections lead to the same server, which is gone or has become read-only.
            let dropped = self.pool.retain(|_, _| false).removed.len();
            debug!(dropped, "server gone or read-only; pooled connections dropped");
        }
    }

    async fn is_reached(&self, receipt: &Receipt) -> Result<bool, Failure> {
        let mut object = self.pool.get().await?;
        let reached = receipts::is_reached(receipt, &mut object).await;
        if reached.is_err() {
            drop(Object::take(object));
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_server_is_told_its_bound() {
        assert_eq!(Flavour::of("10.11.14-MariaDB-0+deb12u2"), Flavour::Mariadb);
        assert_eq!(Flavour::of("8.0.36"), Flavour::Mysql);
        let bound = Duration::from_millis(1_500);
        assert_eq!(Flavour::Mariadb.statement_timeout(bound), "SET SESSION max_statement_time = 1.500");
        assert_eq!(Flavour::Mysql.statement_timeout(bound), "SET SESSION max_execution_time = 1500");
    }
}
