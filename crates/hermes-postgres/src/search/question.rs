//! A statement under construction, with its values.

use crate::error::Failure;
use crate::transaction::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// Values with numbered placeholders. The text of the statement consists of constants and these numbers only.
#[derive(Default)]
pub(super) struct Values(Vec<Box<dyn ToSql + Sync + Send>>);

impl Values {
    /// Adds a value and returns its placeholder.
    pub(super) fn bind(&mut self, value: impl ToSql + Sync + Send + 'static) -> String {
        self.0.push(Box::new(value));
        format!("${}", self.0.len())
    }

    /// Returns the rows of a statement with these values.
    pub(super) async fn rows(&self, transaction: &Transaction, sql: &str) -> Result<Vec<Row>, Failure> {
        let values: Vec<&(dyn ToSql + Sync)> = self.0.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        transaction.query_rows(sql, &values).await
    }
}
