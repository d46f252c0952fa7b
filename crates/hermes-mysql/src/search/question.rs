//! A statement that is put together, with its values.

use crate::error::Failure;
use crate::row::Row;
use crate::transaction::Transaction;
use hermes_sql::server::{Sql as _, Value};

/// Values that stand at numbered places. The text of the statement is made of constants and these numbers alone.
#[derive(Clone, Default)]
pub(super) struct Values(Vec<Value>);

impl Values {
    /// Keeps a value; how the statement names it.
    pub(super) fn bind(&mut self, value: impl Into<Value>) -> String {
        self.0.push(value.into());
        format!("${}", self.0.len())
    }

    /// A condition that a column is one of these values. A list is filled up with its last one to a power of two: so the server has to know few
    /// statements.
    pub(super) fn among<V: Into<Value>>(&mut self, column: &str, items: impl IntoIterator<Item = V>) -> String {
        let (condition, values) = hermes_sql::server::among(column, self.0.len() + 1, items);
        self.0.extend(values);
        condition
    }

    /// The rows of a statement with these values.
    pub(super) async fn rows(self, transaction: &Transaction, sql: &str) -> Result<Vec<Row>, Failure> {
        transaction.rows(sql, self.0).await
    }
}
