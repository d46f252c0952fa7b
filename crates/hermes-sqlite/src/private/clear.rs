//! Empties the private indexes bit by bit, so that they can be filled from nothing.
//!
//! What there is moves out of the way under other names, and new tables take its place at once: between two steps the indexes are
//! whole, only empty. What moved is then taken away in pieces that are short for those who wait for the lock.

use super::TABLES;
use crate::error::Failure;
use rusqlite::Connection;
use rusqlite::config::DbConfig;

/// How many rows go in one step; a row of an index is up to a page.
const ROWS: i64 = 1_000;

/// The tables, what a row of them is known by, and the shadow of it that holds nearly all if it is an index.
const PARTS: [(&str, &str, &str); 6] = [
    ("hx_term_trigram", "id", "_data"),
    ("hx_cjk", "id", "_data"),
    ("hx_term", "term", ""),
    ("hx_term_block", "id", ""),
    ("hx_term_unlisted", "message_id", ""),
    ("hx_doclen", "block", ""),
];

/// Takes away some more of what was there; whether there is more. To be called until there is none, in a transaction each time, with nothing
/// added between.
pub(crate) fn clear_step(connection: &Connection) -> Result<bool, Failure> {
    connection.execute_batch(TABLES)?;
    for (table, key, shadow) in PARTS {
        let old = format!("{table}_old");
        if !exists(connection, &old)? {
            continue;
        }
        let rows = format!("{old}{shadow}");
        let deleted = if exists(connection, &rows)? {
            connection
                .execute(&format!("DELETE FROM {rows} WHERE {key} IN (SELECT {key} FROM {rows} LIMIT ?)"), [ROWS])?
        } else {
            0
        };
        if deleted == 0 {
            connection.execute_batch(&format!("DROP TABLE {old}"))?;
        }
        return Ok(true);
    }
    let is_filled = connection
        .prepare("SELECT EXISTS (SELECT 1 FROM hx_term) OR EXISTS (SELECT 1 FROM hx_doclen) OR EXISTS (SELECT 1 FROM hx_term_unlisted)")?
        .query_row([], |row| row.get(0))?;
    if is_filled {
        set_aside(connection)?;
    }
    Ok(is_filled)
}

fn exists(connection: &Connection, table: &str) -> Result<bool, Failure> {
    Ok(connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")?.exists([table])?)
}

/// Gives the tables other names, and makes new ones.
fn set_aside(connection: &Connection) -> Result<(), Failure> {
    // Otherwise every view and trigger of the file is read, and a foreign one that is broken would be in the way.
    let legacy = DbConfig::SQLITE_DBCONFIG_LEGACY_ALTER_TABLE;
    let before = connection.db_config(legacy)?;
    connection.set_db_config(legacy, true)?;
    let renamed = PARTS
        .iter()
        .try_for_each(|(table, ..)| connection.execute_batch(&format!("ALTER TABLE {table} RENAME TO {table}_old")));
    connection.set_db_config(legacy, before)?;
    renamed?;
    connection.execute_batch(TABLES)?;
    Ok(())
}
