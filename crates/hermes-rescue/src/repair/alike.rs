//! Makes the new store for a file of a newer agent: the agent's own tables and columns are copied as they were read, so
//! that the agent finds data that only it understands.

use crate::quoted;
use hermes_session::transfer::TransferReport;
use hermes_sqlite::file::{self, Failure};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// Returns whether the salvaged rows are from an agent whose schema is newer than the one we create.
pub(super) fn is_newer(rows: &Path) -> Result<bool, Failure> {
    file::is_newer(&file::open_beside(rows)?)
}

/// Copies the salvaged rows into the new store.
pub(super) fn fill(rows: &Path, made: &Path) -> Result<TransferReport, Failure> {
    let copied = file::copy_verified(&file::open_beside(rows)?, made)?;
    file::use_wal(&file::open_beside(made)?, made)?;
    Ok(TransferReport { sessions: copied.sessions, messages: copied.messages, ..TransferReport::default() })
}

/// Verifies that each row of each table is in the new store as it was read.
pub(super) fn compare(rows: &Path, made: &Path) -> Result<(), Failure> {
    let connection = file::open_beside(made)?;
    // A path may contain bytes that are not valid UTF-8.
    let path = ToSqlOutput::Borrowed(ValueRef::Text(rows.as_os_str().as_bytes()));
    connection.execute("ATTACH ? AS was", [path])?;
    let mut tables = connection.prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'was' AND type = 'table' AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'hx_*'",
    )?;
    let tables: Vec<String> = tables.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    for table in tables {
        let mut columns = connection.prepare("SELECT name FROM pragma_table_info(?, 'was')")?;
        let differs: Vec<String> = columns
            .query_map([&table], |row| row.get::<_, String>(0))?
            .map(|name| name.map(|name| format!(" OR a.{0} IS NOT b.{0}", quoted(&name))))
            .collect::<Result<_, _>>()?;
        let name = quoted(&table);
        let sql = format!(
            "SELECT 1 FROM was.{name} a LEFT JOIN main.{name} b ON b.rowid = a.rowid WHERE b.rowid IS NULL{} LIMIT 1",
            differs.concat()
        );
        if connection.prepare(&sql)?.exists([])? {
            return Err(Failure::Damaged(format!("the new store lacks some of what was read of {table}")));
        }
    }
    Ok(())
}

/// Returns the number of rows of a table; `None` if there is no such table.
pub(super) fn count(connection: &Connection, table: &str) -> Result<Option<u64>, Failure> {
    let is_there: Option<i64> = connection
        .query_row("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", [table], |row| row.get(0))
        .optional()?;
    if is_there.is_none() {
        return Ok(None);
    }
    let rows: i64 = connection.query_row(&format!("SELECT count(*) FROM {}", quoted(table)), [], |row| row.get(0))?;
    Ok(Some(rows.unsigned_abs()))
}
