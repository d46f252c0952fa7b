//! The part of the indexing step that fills the indexes that only we use, for everybody's messages.
//!
//! Ids only grow, so a watermark tells which messages are in; those that get an id below it, or are changed, are noted one by one.

use super::step::STEP;
use super::text;
use crate::database::Database;
use crate::error::Failure;
use crate::private::{self, Document};
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, params};
use std::sync::LazyLock;
use std::time::Instant;

/// Under this key stands up to which message the indexes are filled.
const KEY: &str = "own:filled";
/// Under this key stands that they are to be emptied first.
const EMPTYING: &str = "own:emptying";

/// How many messages go in at once.
const BATCH: i64 = 100;

/// The messages that are to be looked at again, and the trigger that notes what others change.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS hx_again (id INTEGER PRIMARY KEY);
CREATE TRIGGER IF NOT EXISTS hx_message_edited AFTER UPDATE OF content, tool_name, tool_calls ON messages BEGIN
    INSERT OR IGNORE INTO hx_again (id) VALUES (new.id);
END;
";

/// Makes the tables.
pub(super) fn lay_ground(database: &Database) -> Result<(), Failure> {
    database.execute_batch(private::TABLES)?;
    Ok(database.execute_batch(TABLES)?)
}

/// Notes a message that comes in below the watermark.
pub(super) fn again(database: &Database, id: i64) -> Result<(), Failure> {
    if watermark(database)?.is_some_and(|edge| id <= edge) {
        database.prepare_cached("INSERT OR IGNORE INTO hx_again (id) VALUES (?)")?.execute([id])?;
    }
    Ok(())
}

fn watermark(database: &Database) -> Result<Option<i64>, Failure> {
    let value: Option<String> = database
        .prepare_cached("SELECT value FROM hx_state WHERE key = ?")?
        .query_row([KEY], |row| row.get(0))
        .optional()?;
    Ok(value.and_then(|text| text.parse().ok()))
}

/// Has them made anew from nothing.
pub(super) fn restart(database: &Database) -> Result<(), Failure> {
    database.prepare_cached("DELETE FROM hx_state WHERE key = ?")?.execute([KEY])?;
    database.execute_batch("DELETE FROM hx_again")?;
    database.prepare_cached("INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, '1')")?.execute([EMPTYING])?;
    Ok(())
}

/// Puts some more messages in; whether there are more.
pub(super) fn fill(database: &Database, start: Instant) -> Result<bool, Failure> {
    if database.prepare_cached("SELECT 1 FROM hx_state WHERE key = ?")?.exists([EMPTYING])? {
        while private::clear_step(database)? {
            if start.elapsed() > STEP {
                return Ok(true);
            }
        }
        database.prepare_cached("DELETE FROM hx_state WHERE key = ?")?.execute([EMPTYING])?;
    }
    loop {
        let again = read(database, &AGAIN, i64::MIN)?;
        if again.is_empty() {
            break;
        }
        add(database, &again)?;
        let mut done = database.prepare_cached("DELETE FROM hx_again WHERE id = ?")?;
        for message in &again {
            done.execute([message.id])?;
        }
        if start.elapsed() > STEP {
            return Ok(true);
        }
    }
    // What is noted for messages that are gone.
    database.prepare_cached("DELETE FROM hx_again")?.execute([])?;
    let mut edge = watermark(database)?.unwrap_or(i64::MIN);
    loop {
        let next = read(database, &NEXT, edge)?;
        let Some(last) = next.last() else { return Ok(false) };
        edge = last.id;
        add(database, &next)?;
        database
            .prepare_cached("INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, ?)")?
            .execute(params![KEY, edge.to_string()])?;
        if start.elapsed() > STEP {
            return Ok(true);
        }
    }
}

/// Takes messages out, before they are deleted.
pub(super) fn remove(database: &Database, messages: &[i64]) -> Result<(), Failure> {
    let mut statement = database.prepare_cached(&ONE)?;
    let mut gone = Vec::with_capacity(messages.len());
    for id in messages {
        gone.extend(statement.query_row([id], Stored::new).optional()?);
    }
    with_documents(&gone, |documents| private::remove(database, documents))
}

fn add(database: &Database, messages: &[Stored]) -> Result<(), Failure> {
    with_documents(messages, |documents| private::add(database, documents))
}

static COLUMNS: LazyLock<String> =
    LazyLock::new(|| format!("SELECT m.id, {}, m.content, m.tool_name, m.tool_calls FROM messages m", text("m")));
static NEXT: LazyLock<String> = LazyLock::new(|| format!("{} WHERE m.id > ? ORDER BY m.id LIMIT {BATCH}", *COLUMNS));
static AGAIN: LazyLock<String> =
    LazyLock::new(|| format!("{} JOIN hx_again a ON a.id = m.id WHERE a.id > ? ORDER BY m.id LIMIT {BATCH}", *COLUMNS));
static ONE: LazyLock<String> = LazyLock::new(|| format!("{} WHERE m.id = ?", *COLUMNS));

/// A message as it is stored.
struct Stored {
    id: i64,
    whole: Vec<u8>,
    content: Option<String>,
    tool_name: Option<String>,
    tool_calls: Option<String>,
}

impl Stored {
    fn new(row: &rusqlite::Row<'_>) -> Result<Self, rusqlite::Error> {
        let whole = match row.get_ref(1)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
            _ => Vec::new(),
        };
        let text = |index| crate::row::text(row, index);
        Ok(Self { id: row.get(0)?, whole, content: text(2)?, tool_name: text(3)?, tool_calls: text(4)? })
    }
}

fn read(database: &Database, sql: &str, edge: i64) -> Result<Vec<Stored>, Failure> {
    let mut statement = database.prepare_cached(sql)?;
    let rows = statement.query_map([edge], Stored::new)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn with_documents(
    messages: &[Stored],
    work: impl FnOnce(&[Document<'_>]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let decoded: Vec<_> = messages
        .iter()
        .map(|message| {
            private::decoded(message.content.as_deref(), message.tool_name.as_deref(), message.tool_calls.as_deref())
        })
        .collect();
    let documents: Vec<Document<'_>> = messages
        .iter()
        .zip(&decoded)
        .map(|(message, decoded)| Document { id: message.id, stored: &message.whole, decoded })
        .collect();
    work(&documents)
}
