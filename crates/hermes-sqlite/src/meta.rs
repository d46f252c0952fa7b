//! Values kept beside the sessions.

use crate::database::Database;
use crate::error::Failure;
use hermes_sql::statements;
use rusqlite::{OptionalExtension as _, params};

pub(crate) fn read(database: &Database, key: &str) -> Result<Option<String>, Failure> {
    let found = database
        .prepare_cached(statements::META)?
        .query_row(params![key], |row| crate::row::text(row, 0))
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
