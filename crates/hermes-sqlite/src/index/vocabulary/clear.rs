//! Empties our own indexes in steps, so that they can be filled again.
//!
//! The tables are renamed, and new ones replace them at once: between two steps the indexes are complete, only empty.
//! The renamed tables are then deleted in pieces that are short enough for programs that wait for the lock.

use super::TABLES;
use crate::error::Failure;
use crate::write::database::Database;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};

/// Rows to delete in one step; a row of an index is up to a page.
const ROWS: i64 = 1_000;

/// The tables and their keys. Of an FTS5 index, only the shadow table that holds nearly all of it is listed.
const PARTS: [(&str, &str); 6] = [
    ("hx_term_trigram", "id"),
    ("hx_cjk", "id"),
    ("hx_term", "term"),
    ("hx_term_block", "id"),
    ("hx_term_unlisted", "message_id"),
    ("hx_doclen", "block"),
];
/// Prefix of the names of tables that could not be deleted.
const LEFT: &str = "hx_damaged";
/// The tables that are FTS5 indexes.
pub(crate) const INDEXES: [&str; 2] = ["hx_term_trigram", "hx_cjk"];

/// Deletes some more rows of renamed tables. Returns whether there may be more. Call it until there are none, each time
/// in a transaction.
pub(crate) fn clear_step(database: &Database) -> Result<bool, Failure> {
    for (table, key) in PARTS {
        let old = format!("{table}_old");
        if !exists(database, &old)? {
            continue;
        }
        let some = format!("DELETE FROM {old} WHERE {key} IN (SELECT {key} FROM {old} LIMIT ?)");
        or_leave(database, &old, || {
            if database.execute(&some, [ROWS])? == 0 {
                database.execute_batch(&format!("DROP TABLE {old}"))?;
            }
            Ok(())
        })?;
        return Ok(true);
    }
    Ok(false)
}

/// Runs `work`, which deletes rows of a table. If a page can't be read, the error names the table, and the next attempt
/// renames it out of the way. Trying again would fail again, and block everything that comes after it.
pub(crate) fn or_leave<T>(
    database: &Database,
    table: &str,
    work: impl FnOnce() -> Result<T, Failure>,
) -> Result<Option<T>, Failure> {
    if database.is_given_up(table) {
        let mut number = 1;
        while exists(database, &format!("{LEFT}_{number}"))? {
            number += 1;
        }
        let sql = format!("ALTER TABLE {table} RENAME TO {LEFT}_{number}");
        renaming(database, || Ok(database.execute_batch(&sql)?))?;
        return Ok(None);
    }
    match work() {
        Err(Failure::Sqlite(error)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
            Err(Failure::Leftover { table: table.to_owned(), error })
        }
        outcome => outcome.map(Some),
    }
}

fn exists(connection: &Connection, table: &str) -> Result<bool, Failure> {
    Ok(connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")?.exists([table])?)
}

/// Renames the tables, whatever state they are in, and creates new ones. Call this when no renamed tables are left.
pub(crate) fn set_aside(connection: &Connection) -> Result<(), Failure> {
    connection.execute_batch(TABLES)?;
    renaming(connection, || PARTS.iter().try_for_each(|(table, _)| rename(connection, table)))?;
    connection.execute_batch(TABLES)?;
    Ok(())
}

/// Runs `work`, which renames tables that nothing refers to, with legacy ALTER TABLE. Otherwise SQLite would parse
/// every view and trigger of the file first, and fail on a broken foreign one.
pub(crate) fn renaming<T>(connection: &Connection, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let legacy = DbConfig::SQLITE_DBCONFIG_LEGACY_ALTER_TABLE;
    let before = connection.db_config(legacy)?;
    connection.set_db_config(legacy, true)?;
    let outcome = work();
    connection.set_db_config(legacy, before)?;
    outcome
}

fn rename(connection: &Connection, table: &str) -> Result<(), Failure> {
    if !INDEXES.contains(&table) {
        connection.execute_batch(&format!("ALTER TABLE {table} RENAME TO {table}_old"))?;
        return Ok(());
    }
    // The shadow table is renamed as a plain table: an incomplete index would be reported by a check of the file. An
    // index can't be dropped without its shadow tables.
    Ok(connection.execute_batch(&format!(
        "CREATE TABLE IF NOT EXISTS {table}_data (id INTEGER PRIMARY KEY, block BLOB);
         ALTER TABLE {table}_data RENAME TO {table}_old;
         CREATE TABLE {table}_data (id INTEGER PRIMARY KEY, block BLOB);
         CREATE TABLE IF NOT EXISTS {table}_idx (segid, term, pgno, PRIMARY KEY (segid, term)) WITHOUT ROWID;
         CREATE TABLE IF NOT EXISTS {table}_config (k PRIMARY KEY, v) WITHOUT ROWID;
         INSERT OR IGNORE INTO {table}_config VALUES ('version', 4);
         DROP TABLE {table};"
    ))?)
}
