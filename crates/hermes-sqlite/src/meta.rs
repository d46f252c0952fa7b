//! Values kept beside the sessions.

use crate::error::Failure;
use hermes_sql::statements;
use rusqlite::{Connection, OptionalExtension as _, params};

pub(crate) fn read(connection: &Connection, key: &str) -> Result<Option<String>, Failure> {
    let found = connection
        .prepare_cached(statements::META)?
        .query_row(params![key], |row| crate::row::text(row, 0))
        .optional()?;
    Ok(found.flatten())
}

pub(crate) fn write(connection: &Connection, key: &str, value: Option<&str>) -> Result<(), Failure> {
    match value {
        Some(value) => connection
            .prepare_cached("INSERT INTO state_meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value")?
            .execute(params![key, value])?,
        None => connection.prepare_cached("DELETE FROM state_meta WHERE key = ?")?.execute(params![key])?,
    };
    Ok(())
}
