//! A statement under construction, with its values.

use crate::error::Failure;
use crate::row::Row;
use crate::transaction::Transaction;
use hermes_sql::server::{Sql as _, Value};

/// Values with numbered placeholders. The text of the statement consists of constants and these numbers only.
#[derive(Clone, Default)]
pub(super) struct Values(Vec<Value>);

impl Values {
    /// Adds a value and returns its placeholder.
    pub(super) fn bind(&mut self, value: impl Into<Value>) -> String {
        self.0.push(value.into());
        format!("${}", self.0.len())
    }

    /// Returns the condition that a column has one of these values. The list is padded with its last value to a power
    /// of two, so that the server sees few distinct statements.
    pub(super) fn among<V: Into<Value>>(&mut self, column: &str, items: impl IntoIterator<Item = V>) -> String {
        let (condition, values) = hermes_sql::server::among(column, self.0.len() + 1, items);
        self.0.extend(values);
        condition
    }

    /// Returns the rows of a statement with these values.
    pub(super) async fn rows(self, transaction: &Transaction, sql: &str) -> Result<Vec<Row>, Failure> {
        transaction.rows(sql, self.0).await
    }
}
