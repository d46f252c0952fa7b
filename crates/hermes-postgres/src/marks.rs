//! Marks: how a commit whose answer was lost is told from one that never was.
//!
//! A writer has a row with the number of its last commit, and each commit counts it on. Whoever has lost an answer looks whether the row has come that
//! far, and if not, takes the number away, so that what may still be on its way can't commit any more. (The server's own numbers of transactions
//! do not do: after a crash it gives out again those that never reached its log.)

use crate::database::Transaction;
use crate::error::Failure;
use deadpool_postgres::Object;
use futures_util::future::join;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};
use tokio_postgres::types::ToSql;

/// A writer's row, and the number that it stands at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    writer: String,
    number: i64,
}

/// The rows of this process that no transaction uses at the moment.
#[derive(Debug, Default)]
pub(crate) struct Marks(Mutex<Vec<Mark>>);

/// Fails, and the transaction with it, unless the row stands where the writer left it.
const COUNT_ON: &str = "WITH counted AS (UPDATE hx_mark SET number = $2::int8, at = now() WHERE writer = $1 AND number = $2::int8 - 1 RETURNING 1) \
     SELECT 1 / (SELECT count(*) FROM counted)";

impl Marks {
    /// A row that nobody else uses. A new one is there before anything rests on it.
    pub(crate) async fn take(&self, client: &Object, table: &str) -> Result<Mark, Failure> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(mark) = free {
            return Ok(mark);
        }
        let chance = || RandomState::new().hash_one(std::process::id());
        let writer = format!("{:016x}{:016x}", chance(), chance());
        // Rows of writers that ended go with it. One that was only silent for so long gets another row, too.
        let sql = format!(
            "WITH old AS (DELETE FROM {table} WHERE at < now() - interval '1 day') INSERT INTO {table} (writer, number) VALUES ($1, 0)"
        );
        client.execute(&sql, &[&writer]).await?;
        Ok(Mark { writer, number: 0 })
    }

    /// Gives a row back that stands where the mark says.
    pub(crate) fn give_back(&self, mark: Mark) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(mark);
    }
}

impl Mark {
    /// The mark after one more commit.
    pub(crate) fn next(&self) -> Self {
        Self { writer: self.writer.clone(), number: self.number + 1 }
    }

    /// Counts on to this mark and commits. Both are on their way before the first is answered: if that fails, the second undoes everything.
    pub(crate) async fn commit(&self, transaction: &Transaction) -> Result<(), Failure> {
        // It has to be known by then, or the commit would overtake it.
        let count_on = transaction.prepare_cached(COUNT_ON).await?;
        let values: [&(dyn ToSql + Sync); 2] = [&self.writer, &self.number];
        let (counted, committed) =
            join(transaction.query_one(&count_on, &values), transaction.batch_execute("COMMIT")).await;
        counted?;
        Ok(committed?)
    }

    /// Whether the commit that should have counted on to this mark happened. If not, it never will.
    pub(crate) async fn is_reached(&self, client: &Object, table: &str) -> Result<bool, Failure> {
        // Waits for a transaction that has counted on and not ended, and then looks again.
        let fence = format!("UPDATE {table} SET number = -1 WHERE writer = $1 AND number = $2::int8 - 1");
        if client.execute(&fence, &[&self.writer, &self.number]).await? > 0 {
            return Ok(false);
        }
        // A write, so that it is answered when the standby that commits wait for has come that far, too.
        let reached = format!("UPDATE {table} SET at = now() WHERE writer = $1 AND number = $2::int8");
        Ok(client.execute(&reached, &[&self.writer, &self.number]).await? > 0)
    }
}
