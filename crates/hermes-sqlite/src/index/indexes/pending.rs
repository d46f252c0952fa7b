//! The backlog: messages that are acknowledged but not indexed yet, as ranges of ids.
//!
//! Ids are not reused, so a range may contain ids of deleted messages; an import that inserts one of these adds it
//! again. Ranges do not overlap.

use crate::error::Failure;
use crate::write::database::Database;
use rusqlite::{OptionalExtension as _, params};

pub(super) const NAME: &str = "hx_pending";

pub(super) const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS hx_pending (first INTEGER PRIMARY KEY, last INTEGER NOT NULL)";

/// A range of ids, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

/// Returns the SQL condition that an id is in the backlog.
pub(crate) fn holds(id: &str) -> String {
    format!("coalesce((SELECT last FROM {NAME} WHERE first <= {id} ORDER BY first DESC LIMIT 1) >= {id}, 0)")
}

/// Reserves ids for `count` new messages and adds them to the backlog. The caller holds the write lock, so no other
/// writer takes them.
pub(crate) fn reserve(database: &Database, count: usize) -> Result<Range, Failure> {
    let used: i64 = database
        .prepare_cached(
            "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'messages'), 0), coalesce((SELECT max(id) FROM messages), 0))",
        )?
        .query_row([], |row| row.get(0))?;
    let range = Range { first: used + 1, last: used + i64::try_from(count).unwrap_or(i64::MAX - used) };
    let newest = newest(database)?;
    match newest.filter(|newest| newest.last == used) {
        Some(newest) => database
            .prepare_cached("UPDATE hx_pending SET last = ? WHERE first = ?")?
            .execute(params![range.last, newest.first])?,
        None => database
            .prepare_cached("INSERT INTO hx_pending (first, last) VALUES (?, ?)")?
            .execute(params![range.first, range.last])?,
    };
    Ok(range)
}

/// Adds a message with a given id to the backlog.
pub(crate) fn note(database: &Database, id: i64) -> Result<(), Failure> {
    let before = database
        .prepare_cached("SELECT first, last FROM hx_pending WHERE first <= ? ORDER BY first DESC LIMIT 1")?
        .query_row([id], |row| Ok(Range { first: row.get(0)?, last: row.get(1)? }))
        .optional()?;
    match before {
        Some(range) if range.last >= id => 0,
        Some(range) if range.last == id - 1 => {
            database.prepare_cached("UPDATE hx_pending SET last = ? WHERE first = ?")?.execute([id, range.first])?
        }
        _ => database.prepare_cached("INSERT INTO hx_pending (first, last) VALUES (?1, ?1)")?.execute([id])?,
    };
    Ok(())
}

/// Returns the range with the highest ids.
pub(super) fn newest(database: &Database) -> Result<Option<Range>, Failure> {
    Ok(database
        .prepare_cached("SELECT first, last FROM hx_pending ORDER BY first DESC LIMIT 1")?
        .query_row([], |row| Ok(Range { first: row.get(0)?, last: row.get(1)? }))
        .optional()?)
}

/// Removes a range from the backlog, up to a message.
pub(super) fn done(database: &Database, range: Range, up_to: i64) -> Result<(), Failure> {
    if up_to >= range.last {
        database.prepare_cached("DELETE FROM hx_pending WHERE first = ?")?.execute([range.first])?;
    } else {
        database
            .prepare_cached("UPDATE hx_pending SET first = ? WHERE first = ?")?
            .execute([up_to + 1, range.first])?;
    }
    Ok(())
}

/// Puts every message into the backlog.
pub(super) fn everything(database: &Database) -> Result<(), Failure> {
    Ok(database.execute_batch(
        "DELETE FROM hx_pending;
         INSERT INTO hx_pending (first, last) SELECT (SELECT min(id) FROM messages), (SELECT max(id) FROM messages)
             WHERE EXISTS (SELECT 1 FROM messages);",
    )?)
}

/// Returns whether the backlog is not empty.
pub(crate) fn is_behind(database: &Database) -> Result<bool, Failure> {
    Ok(database.prepare_cached("SELECT 1 FROM hx_pending LIMIT 1")?.exists([])?)
}

/// Returns how many messages are in the backlog.
pub(crate) fn backlog(database: &Database) -> Result<u64, Failure> {
    backlog_until(database, i64::MAX)
}

/// Returns how many messages up to an id are in the backlog.
pub(crate) fn backlog_until(database: &Database, last: i64) -> Result<u64, Failure> {
    let count: i64 = database
        .prepare_cached(
            "SELECT count(*) FROM hx_pending p JOIN messages m ON m.id BETWEEN p.first AND p.last WHERE m.id <= ?",
        )?
        .query_row([last], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// Returns the highest id in the backlog; `None` if it is empty.
pub(crate) fn last_pending(database: &Database) -> Result<Option<i64>, Failure> {
    Ok(database.prepare_cached("SELECT max(last) FROM hx_pending")?.query_row([], |row| row.get(0))?)
}

/// Returns whether a message is in the backlog.
pub(super) fn is_noted(database: &Database, id: i64) -> Result<bool, Failure> {
    Ok(database.prepare_cached("SELECT 1 FROM hx_pending WHERE first <= ?1 AND last >= ?1")?.exists([id])?)
}
