//! Key-value pairs stored beside the sessions.

use crate::error::Failure;
use crate::write::database::Database;
use hermes_sql::statements;
use rusqlite::{OptionalExtension as _, params};

pub(crate) fn read(database: &Database, key: &str) -> Result<Option<String>, Failure> {
    let found = database
        .prepare_cached(statements::META)?
        .query_row(params![key], |row| crate::calls::row::text(row, 0))
        .optional()?;
    Ok(found.flatten())
}

pub(crate) fn write(database: &Database, key: &str, value: Option<&str>) -> Result<(), Failure> {
    match value {
        Some(value) => database
            .prepare_cached("INSERT INTO state_meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value")?
            .execute(params![key, value])?,
        None => database.prepare_cached("DELETE FROM state_meta WHERE key = ?")?.execute(params![key])?,
    };
    Ok(())
}

/// Returns a page of values with their keys, ordered by key. Keys that are not text can't be requested, and are
/// skipped.
pub(crate) fn page(database: &Database, after: Option<&str>, limit: u32) -> Result<Vec<(String, String)>, Failure> {
    let mut statement = database.prepare_cached(
        "SELECT key, value FROM state_meta WHERE typeof(key) = 'text' AND value IS NOT NULL AND (?1 IS NULL OR key > ?1) ORDER BY key",
    )?;
    let mut rows = statement.query(params![after])?;
    let mut page = Vec::new();
    while page.len() < limit as usize
        && let Some(row) = rows.next()?
    {
        let key = row.get_ref(0)?.as_str().map(str::to_owned);
        if let (Ok(key), Some(value)) = (key, crate::calls::row::text(row, 1)?) {
            page.push((key, value));
        }
    }
    Ok(page)
}

/// Stores a value if the current one is `expected`. Returns whether it was.
pub(crate) fn swap(
    database: &Database,
    key: &str,
    expected: Option<&str>,
    value: Option<&str>,
) -> Result<bool, Failure> {
    if read(database, key)?.as_deref() != expected {
        return Ok(false);
    }
    write(database, key, value)?;
    Ok(true)
}
