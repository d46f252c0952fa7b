//! Columns that others added to our tables and that no call returns.

use crate::connection::quoted;
use crate::error::Failure;
use crate::transaction::Transaction;
use hermes_session::Foreign;
use hermes_sql::server::{Fields as _, Sql as _};
use hermes_sql::values;

/// Columns created by the migrations, by table.
const KNOWN: [(&str, &str); 2] =
    [("messages", hermes_sql::columns::MESSAGE), ("sessions", hermes_sql::columns::SESSION)];

/// Columns of either table that exist only on servers or also in newer agents.
const FURTHER: [&str; 5] = ["content_kind", "active", "compacted", "archived", "extra"];

pub(crate) async fn read(transaction: &Transaction) -> Result<Vec<Foreign>, Failure> {
    let mut found = Vec::new();
    for (table, known) in KNOWN {
        let known: Vec<&str> =
            known.split(", ").map(|column| column.trim().trim_start_matches("s.")).chain(FURTHER).collect();
        let columns = transaction
            .query_rows(
                "SELECT attname::text FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped \
                 AND attname::text <> ALL($2) ORDER BY 1",
                &[&table, &known],
            )
            .await?;
        for row in &columns {
            let column: String = row.try_get(0)?;
            let sql = format!("SELECT count({}) FROM {table}", quoted(&column));
            let rows = transaction.one(&sql, values![]).await?.try_get::<i64>(0)?.unsigned_abs();
            if rows > 0 {
                found.push(Foreign { table: table.to_owned(), column: Some(column), rows });
            }
        }
    }
    Ok(found)
}
