//! Rows and values of the driver, for the code that all servers share.

use bytes::BytesMut;
use hermes_sql::server::{ServerRow, Value};
use hermes_sql::{Cell, SqlRow};
use std::error::Error;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

/// A row.
#[derive(Debug)]
pub(crate) struct Row(pub(crate) tokio_postgres::Row);

impl SqlRow for Row {
    fn cell(&self, index: usize) -> Cell<'_> {
        fn read<'r, V: FromSql<'r>>(row: &'r tokio_postgres::Row, index: usize) -> Option<V> {
            row.try_get::<_, Option<V>>(index).ok().flatten()
        }
        let row = &self.0;
        match *row.columns()[index].type_() {
            Type::INT8 => read(row, index).map_or(Cell::Null, Cell::Integer),
            Type::INT4 => read::<i32>(row, index).map_or(Cell::Null, |number| Cell::Integer(number.into())),
            Type::INT2 => read::<i16>(row, index).map_or(Cell::Null, |number| Cell::Integer(number.into())),
            Type::BOOL => read::<bool>(row, index).map_or(Cell::Null, |flag| Cell::Integer(flag.into())),
            Type::FLOAT8 => read(row, index).map_or(Cell::Null, Cell::Real),
            _ => read::<&str>(row, index).map_or(Cell::Null, |text| Cell::Text(text.as_bytes())),
        }
    }
}

impl ServerRow for Row {
    fn width(&self) -> usize {
        self.0.len()
    }
}

/// A value for the driver, converted to the type that the server expects at its place.
#[derive(Debug)]
pub(crate) struct Bound(pub(crate) Value);

impl ToSql for Bound {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (&self.0, kind) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Flag(flag), _) => flag.to_sql(kind, out),
            (Value::Integer(number), &Type::INT4) => i32::try_from(*number)?.to_sql(kind, out),
            (Value::Integer(number), &Type::INT2) => i16::try_from(*number)?.to_sql(kind, out),
            (Value::Integer(number), _) => number.to_sql(kind, out),
            (Value::Real(number), _) => number.to_sql(kind, out),
            (Value::Text(text), _) => text.to_sql(kind, out),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}
