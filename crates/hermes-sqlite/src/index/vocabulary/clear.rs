//! Empties the private indexes bit by bit, so that they can be filled from nothing.
//!
//! What there is moves out of the way under other names, and new tables take its place at once: between two steps the indexes are
//! whole, only empty. What moved is then taken away in pieces that are short for those who wait for the lock.

use super::TABLES;
use crate::error::Failure;
use crate::write::database::Database;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode};

/// How many rows go in one step; a row of an index is up to a page.
const ROWS: i64 = 1_000;

/// The tables, and what a row of them is known by. Of an index, that is the table that holds nearly all of it.
const PARTS: [(&str, &str); 6] = [
    ("hx_term_trigram", "id"),
    ("hx_cjk", "id"),
    ("hx_term", "term"),
    ("hx_term_block", "id"),
    ("hx_term_unlisted", "message_id"),
    ("hx_doclen", "block"),
];
/// What the names of tables begin with that could not be taken away.
const LEFT: &str = "hx_damaged";
/// Those that are indexes of FTS5.
pub(crate) const INDEXES: [&str; 2] = ["hx_term_trigram", "hx_cjk"];

/// Takes away some more of what was set aside; whether there may be more. To be called until there is none, in a transaction each time.
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

/// Does `work`, which takes some of a table away. If a page of it can't be read that is told, and the next attempt leaves the table as it is,
/// under a name by which nobody looks for it: to try again would fail again, and keep from everything that comes after.
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

/// Gives the tables other names, whatever state they are in, and makes new ones. To be called when nothing is set aside.
pub(crate) fn set_aside(connection: &Connection) -> Result<(), Failure> {
    connection.execute_batch(TABLES)?;
    renaming(connection, || PARTS.iter().try_for_each(|(table, _)| rename(connection, table)))?;
    connection.execute_batch(TABLES)?;
    Ok(())
}

/// Does `work`, which renames tables that nothing refers to. Otherwise SQLite reads every view and trigger of the file first, and a foreign
/// one that is broken would be in the way.
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
    // What it is kept in moves out as a plain table: half of an index is none, and a check of the file would say so.
    // Without tables to keep it in an index can't be dropped.
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
