//! A server and how we use it, and one transaction on it.

use crate::connection::quoted;
use crate::error::Failure;
use crate::indexes::Vocabulary;
use deadpool_postgres::{ClientWrapper, Object, Pool};
use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// Values of a statement.
pub(crate) type Values<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A server and how we use it.
#[derive(Clone)]
pub(crate) struct Database {
    pub(crate) pool: Pool,
    /// A server that follows, for what may be a moment behind.
    pub(crate) replica: Option<Pool>,
    /// What is shown of where it is.
    pub(crate) location: String,
    pub(crate) schema: String,
    pub(crate) statement_timeout: Duration,
    pub(crate) wait: Duration,
    /// The state that every transaction reads, if not each its own.
    pub(crate) snapshot: Option<String>,
    pub(crate) vocabulary: Arc<Vocabulary>,
}

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Changes something.
    Write,
    /// Reads one state.
    Read,
    /// The same, where that may be a moment old.
    ReadBehind,
}

/// What is kept to find out later whether a transaction happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) id: String,
    /// The history that the id belongs to: a server that takes over counts on in one of its own.
    pub(crate) timeline: String,
}

const MARK: &str = "SELECT pg_current_xact_id()::text, left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)";

impl Database {
    /// What comes before the first statement of a transaction. Set each time, because a connection may be a stranger's.
    fn prelude(&self, purpose: Purpose) -> String {
        let mode = match purpose {
            Purpose::Write => "ISOLATION LEVEL READ COMMITTED",
            Purpose::Read | Purpose::ReadBehind => "ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        let snapshot =
            self.snapshot.as_ref().map(|id| format!("; SET TRANSACTION SNAPSHOT '{id}'")).unwrap_or_default();
        format!(
            "BEGIN {mode}{snapshot}; SET LOCAL search_path = {}; SET LOCAL statement_timeout = {}",
            quoted(&self.schema),
            self.statement_timeout.as_millis()
        )
    }

    /// A number that stands for the schema in the names of locks.
    pub(crate) fn lock_number(&self) -> i32 {
        self.schema.bytes().fold(5_381_i32, |hash, byte| hash.wrapping_mul(33) ^ i32::from(byte))
    }

    /// Begins a transaction.
    pub(crate) async fn begin(&self, purpose: Purpose) -> Result<Transaction, Failure> {
        let pool = match (purpose, &self.replica) {
            (Purpose::ReadBehind, Some(replica)) => replica,
            _ => &self.pool,
        };
        let mut transaction = Transaction { client: Some(pool.get().await?), mark: None, kin: self.lock_number() };
        let prelude = self.prelude(purpose);
        if purpose == Purpose::Write {
            let statement = transaction.prepare_cached(MARK).await?;
            // Both are on their way before the first is answered.
            let (begun, mark) =
                futures_util::future::join(transaction.batch_execute(&prelude), transaction.query_one(&statement, &[]))
                    .await;
            begun?;
            let row = mark?;
            transaction.mark = Some(Mark { id: row.try_get(0)?, timeline: row.try_get(1)? });
        } else {
            transaction.batch_execute(&prelude).await?;
        }
        Ok(transaction)
    }
}

/// A transaction. One that is dropped, with whatever was waiting for it, never happened: its connection is closed.
pub(crate) struct Transaction {
    client: Option<Object>,
    pub(crate) mark: Option<Mark>,
    kin: i32,
}

impl Deref for Transaction {
    type Target = ClientWrapper;
    fn deref(&self) -> &ClientWrapper {
        self.client.as_deref().expect("it is taken only when the transaction ends")
    }
}

impl Transaction {
    /// Every row of a statement.
    pub(crate) async fn rows(&self, sql: &str, values: Values<'_>) -> Result<Vec<Row>, Failure> {
        let statement = self.prepare_cached(sql).await?;
        Ok(self.query(&statement, values).await?)
    }

    /// The first row of a statement, if it has any.
    pub(crate) async fn row(&self, sql: &str, values: Values<'_>) -> Result<Option<Row>, Failure> {
        Ok(self.rows(sql, values).await?.into_iter().next())
    }

    /// The only row of a statement.
    pub(crate) async fn one(&self, sql: &str, values: Values<'_>) -> Result<Row, Failure> {
        let statement = self.prepare_cached(sql).await?;
        Ok(self.query_one(&statement, values).await?)
    }

    /// Changes rows; how many.
    pub(crate) async fn run(&self, sql: &str, values: Values<'_>) -> Result<u64, Failure> {
        let statement = self.prepare_cached(sql).await?;
        Ok(self.execute(&statement, values).await?)
    }

    /// Has the lineages for itself until the end: nobody else links, cuts, titles or deletes sessions meanwhile. Appends go on.
    pub(crate) async fn lock_kin(&self) -> Result<(), Failure> {
        self.one("SELECT pg_advisory_xact_lock($1, $2)", &[&KIN, &self.kin]).await.map(drop)
    }

    /// Ends it as done.
    pub(crate) async fn commit(mut self) -> Result<(), tokio_postgres::Error> {
        let outcome = self.batch_execute("COMMIT").await;
        self.give_back(outcome.is_ok());
        outcome
    }

    /// Ends it as if it had not been.
    pub(crate) async fn roll_back(mut self) {
        let is_over = !self.is_closed() && self.batch_execute("ROLLBACK").await.is_ok();
        self.give_back(is_over);
    }

    /// Gives the connection back, unless it is of no use any more.
    fn give_back(&mut self, is_clean: bool) {
        if let Some(client) = self.client.take()
            && !is_clean
        {
            drop(Object::take(client));
        }
    }
}

/// What the lock of lineages is called beside those of others.
const KIN: i32 = 0x4845_524d;

impl Drop for Transaction {
    fn drop(&mut self) {
        self.give_back(false);
    }
}
