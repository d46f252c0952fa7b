//! Rows and values of the driver, for the code that all servers share.

use hermes_sql::server::ServerRow;
use hermes_sql::{Cell, SqlRow};
use mysql_async::Value;

/// A row.
#[derive(Debug)]
pub(crate) struct Row(pub(crate) mysql_async::Row);

impl SqlRow for Row {
    fn cell(&self, index: usize) -> Cell<'_> {
        match self.0.as_ref(index) {
            Some(Value::Int(number)) => Cell::Integer(*number),
            Some(Value::UInt(number)) => Cell::Integer(i64::try_from(*number).unwrap_or(i64::MAX)),
            Some(Value::Double(number)) => Cell::Real(*number),
            Some(Value::Float(number)) => Cell::Real(f64::from(*number)),
            Some(Value::Bytes(bytes)) => Cell::Text(bytes),
            _ => Cell::Null,
        }
    }
}

impl ServerRow for Row {
    fn width(&self) -> usize {
        self.0.len()
    }
}

/// Converts a value for the driver.
pub(crate) fn bound(value: hermes_sql::server::Value) -> Value {
    use hermes_sql::server::Value as Shared;
    match value {
        Shared::Null => Value::NULL,
        Shared::Flag(flag) => flag.into(),
        Shared::Integer(number) => number.into(),
        Shared::Real(number) => number.into(),
        Shared::Text(text) => text.into(),
    }
}
