//! Values of statements and of rows.

use super::Odd;
use crate::{Cell, SqlRow};
use hermes_session::SessionId;
use std::borrow::Cow;

/// A value of a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// SQL NULL.
    Null,
    /// A boolean.
    Flag(bool),
    /// An integer.
    Integer(i64),
    /// A double.
    Real(f64),
    /// A text.
    Text(String),
}

/// Creates the values of a statement, in the order of their numbers.
#[macro_export]
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$($crate::server::Value::from($value)),*] };
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(number.into())
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self::Text(text.into_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl<V: Into<Self>> From<Option<V>> for Value {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// Type that can be read from a column.
pub trait Field: Sized {
    /// Reads a cell. Returns `None` if it has another type.
    fn read(cell: Cell<'_>) -> Option<Self>;
}

impl Field for String {
    fn read(cell: Cell<'_>) -> Option<Self> {
        match cell {
            Cell::Text(bytes) | Cell::Bytes(bytes) => std::str::from_utf8(bytes).ok().map(ToOwned::to_owned),
            Cell::Kept(_, text) => Some(text.to_owned()),
            Cell::Null | Cell::Integer(_) | Cell::Real(_) => None,
        }
    }
}

impl Field for i64 {
    fn read(cell: Cell<'_>) -> Option<Self> {
        if let Cell::Integer(number) = cell { Some(number) } else { None }
    }
}

impl Field for f64 {
    fn read(cell: Cell<'_>) -> Option<Self> {
        if let Cell::Real(number) = cell { Some(number) } else { None }
    }
}

impl Field for bool {
    fn read(cell: Cell<'_>) -> Option<Self> {
        i64::read(cell).map(|number| number != 0)
    }
}

impl<F: Field> Field for Option<F> {
    fn read(cell: Cell<'_>) -> Option<Self> {
        if matches!(cell, Cell::Null) { Some(None) } else { F::read(cell).map(Some) }
    }
}

/// Reads the columns of a row by index, in their stored form.
pub trait Fields: SqlRow {
    /// Reads a value.
    ///
    /// # Errors
    /// Fails if the column has another type.
    fn try_get<F: Field>(&self, index: usize) -> Result<F, Odd> {
        let odd = || Odd(format!("column {}: unexpected type", index + 1));
        F::read(self.cell(index)).ok_or_else(odd)
    }

    /// Returns a text, or `None` if the column is not text.
    fn text(&self, index: usize) -> Option<&str> {
        match self.cell(index) {
            Cell::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// Reads the id of a session.
    ///
    /// # Errors
    /// Fails if the column has another type.
    fn id(&self, index: usize) -> Result<SessionId, Odd> {
        self.try_get::<String>(index).map(SessionId::from_stored)
    }
}

impl<R: SqlRow + ?Sized> Fields for R {}

#[cfg(test)]
mod tests {
    use super::*;

    struct One(i64);

    impl SqlRow for One {
        fn cell(&self, index: usize) -> Cell<'_> {
            [Cell::Integer(self.0), Cell::Null, Cell::Text(b"x")][index]
        }
    }

    #[test]
    fn a_column_is_read_as_what_it_is() {
        let row = One(3);
        assert_eq!((row.try_get(0), row.try_get(0), row.try_get(0)), (Ok(3_i64), Ok(true), Ok(Some(3_i64))));
        assert_eq!((row.try_get::<Option<f64>>(1), row.text(1), row.text(2)), (Ok(None), None, Some("x")));
        assert!(row.try_get::<String>(1).is_err() && row.try_get::<i64>(2).is_err() && row.try_get::<f64>(0).is_err());
    }
}
