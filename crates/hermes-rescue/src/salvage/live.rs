//! Rows of live clients that are still readable in a damaged file: routes, cursors, turns, mail, undone messages. Leases
//! are left out: the processes that had them have to take them again.

use super::record::Value;
use super::walk::Row;
use hermes_sqlite::file::StoredRow;
use rusqlite::types::Value as Stored;

/// The tables, and whether a row is stored under its number, which is then its first column.
pub(super) const TABLES: [(&str, bool); 6] = [
    ("hx_route", false),
    ("hx_route_alias", false),
    ("hx_cursor", false),
    ("hx_turn", true),
    ("hx_inbox", true),
    ("hx_outbox", true),
];

/// The table of undone messages. It has the columns of messages, and a row number that no column shows.
pub(super) const UNDONE: &str = "hx_undone";

/// Returns a row for the new file; `None` if some of it could not be read.
pub(super) fn stored(table: &'static str, row: &Row, is_numbered: bool) -> Option<StoredRow> {
    if row.is_cut {
        return None;
    }
    let mut values = row.values.iter().map(value).collect::<Option<Vec<Stored>>>()?;
    if let Some(first) = values.first_mut().filter(|_| is_numbered) {
        *first = Stored::Integer(row.rowid);
    }
    Some(StoredRow { table, values })
}

fn value(value: &Value) -> Option<Stored> {
    Some(match value {
        Value::Null => Stored::Null,
        Value::Integer(number) => Stored::Integer(*number),
        Value::Real(number) => Stored::Real(*number),
        Value::Text(bytes) => Stored::Text(String::from_utf8(bytes.clone()).ok()?),
        Value::Blob(bytes) => Stored::Blob(bytes.clone()),
    })
}
