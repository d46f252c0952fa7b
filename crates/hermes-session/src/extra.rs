//! Columns of newer agents that this crate does not model. They are carried unchanged.

mod agent;
mod json;

pub use agent::{AgentColumn, MESSAGE_COLUMNS, SESSION_COLUMNS, column_of};

use std::collections::BTreeMap;

/// A table of the agent that may have columns that are not modelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// `sessions`
    Sessions,
    /// `messages`
    Messages,
}

impl Table {
    /// Returns the name of the table.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Messages => "messages",
        }
    }
}

/// A value of a column, as SQLite types it.
#[derive(Debug, Clone)]
pub enum Scalar {
    /// NULL, in a column whose default is something else.
    Null,
    /// A whole number.
    Integer(i64),
    /// A double, compared by its bits.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes, also text that is not UTF-8.
    Bytes(Vec<u8>),
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) => true,
            (Self::Integer(one), Self::Integer(other)) => one == other,
            (Self::Real(one), Self::Real(other)) => one.to_bits() == other.to_bits(),
            (Self::Text(one), Self::Text(other)) => one == other,
            (Self::Bytes(one), Self::Bytes(other)) => one == other,
            _ => false,
        }
    }
}

impl Eq for Scalar {}

/// The values of columns that are not modelled, by column name. A column that holds its default is left out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Extra(BTreeMap<String, Scalar>);

impl Extra {
    /// Returns an empty set of values.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Sets a column of `table`. A default of the agent's own, and NULL in a column without one, is left out.
    pub fn set(&mut self, table: Table, column: &str, value: Scalar) {
        let default = column_of(table, column).map_or(Scalar::Null, AgentColumn::default);
        match value == default {
            true => _ = self.0.remove(column),
            false => _ = self.0.insert(column.to_owned(), value),
        }
    }

    /// Sets a column to a value, even if that is its default.
    pub fn put(&mut self, column: &str, value: Scalar) {
        self.0.insert(column.to_owned(), value);
    }

    /// Returns the value of a column; `None` if it holds its default.
    pub fn get(&self, column: &str) -> Option<&Scalar> {
        self.0.get(column)
    }

    /// Returns whether every column holds its default.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the columns and their values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Scalar)> {
        self.0.iter().map(|(column, value)| (column.as_str(), value))
    }

    /// Returns the names of the columns that hold something other than their default.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Removes the columns for which `keeps` returns `false`.
    pub fn retain(&mut self, keeps: impl Fn(&str) -> bool) {
        self.0.retain(|column, _| keeps(column));
    }

    /// Returns roughly how many bytes the values take in memory.
    pub fn size(&self) -> usize {
        let value = |value: &Scalar| match value {
            Scalar::Text(text) => text.len(),
            Scalar::Bytes(bytes) => bytes.len(),
            Scalar::Null | Scalar::Integer(_) | Scalar::Real(_) => 0,
        };
        self.0.iter().map(|(column, held)| column.len() + value(held) + size_of::<Scalar>()).sum()
    }
}

impl<C: Into<String>> FromIterator<(C, Scalar)> for Extra {
    fn from_iter<I: IntoIterator<Item = (C, Scalar)>>(values: I) -> Self {
        Self(values.into_iter().map(|(column, value)| (column.into(), value)).collect())
    }
}

#[cfg(test)]
mod tests;
