//! The full-text indexes of a file: every statement that makes or fills them is here.
//!
//! Names, tokenizers and indexed text are those of the agent's schema 11, so that its own searches work on our
//! files: the text of a row is content, tool name and tool calls with a space between, NULL taken for nothing.

mod nul;

pub(crate) use nul::{before_removal, before_removal_of, plain, settle};

use crate::database::Database;
use crate::error::Failure;
use rusqlite::{OptionalExtension as _, params};
use std::time::{Duration, Instant};

/// An index: its table and the options that make it.
struct Index {
    table: &'static str,
    options: &'static str,
}

const INDEXES: [Index; 2] = [
    Index { table: "messages_fts", options: "content" },
    Index { table: "messages_fts_trigram", options: "content, tokenize='trigram'" },
];

/// The text of a message in an index; `ROW` is `new`, or the table.
const TEXT: &str =
    "coalesce(ROW.content, '') || ' ' || coalesce(ROW.tool_name, '') || ' ' || coalesce(ROW.tool_calls, '')";

/// How long one step of filling holds the lock.
const STEP: Duration = Duration::from_millis(50);

impl Index {
    fn create(&self) -> String {
        format!("CREATE VIRTUAL TABLE {} USING fts5({})", self.table, self.options)
    }

    /// The three triggers, by name.
    fn triggers(&self) -> [(String, String); 3] {
        let (table, text) = (self.table, TEXT.replace("ROW", "new"));
        let insert = format!("INSERT INTO {table}(rowid, content) VALUES (new.id, {text});");
        let delete = format!("DELETE FROM {table} WHERE rowid = old.id;");
        let trigger = |event: &str, body: &str| {
            let name = format!("{table}_{event}");
            let sql = format!("CREATE TRIGGER {name} AFTER {} ON messages BEGIN {body} END", event.to_uppercase());
            (name, sql)
        };
        [trigger("insert", &insert), trigger("delete", &delete), trigger("update", &format!("{delete} {insert}"))]
    }
}

/// Makes both indexes in a file without messages.
pub(crate) fn create(database: &Database) -> Result<(), Failure> {
    for index in INDEXES {
        database.execute_batch(&index.create())?;
        for (_, trigger) in index.triggers() {
            database.execute_batch(&trigger)?;
        }
    }
    Ok(())
}

/// Takes away indexes of another layout, and their triggers.
pub(crate) fn drop_all(database: &Database) -> Result<(), Failure> {
    for index in INDEXES {
        for (name, _) in index.triggers() {
            database.execute_batch(&format!("DROP TRIGGER IF EXISTS {name}"))?;
        }
        database.execute_batch(&format!("DROP TABLE IF EXISTS {}", index.table))?;
    }
    Ok(())
}

/// Makes what is missing of the indexes, and notes from where messages have to be looked at; whether there are any.
pub(crate) fn mend(database: &Database) -> Result<bool, Failure> {
    database.execute_batch(
        "CREATE TABLE IF NOT EXISTS hx_state (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    )?;
    let exists = |name: &str| database.prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = ?")?.exists([name]);
    let any = database.prepare_cached("SELECT 1 FROM messages LIMIT 1")?.exists([])?;
    let mut behind = false;
    for index in INDEXES {
        let mut whole = true;
        if !exists(index.table)? {
            whole = false;
            database.execute_batch(&index.create())?;
        }
        for (name, trigger) in index.triggers() {
            if !exists(&name)? {
                whole = false;
                database.execute_batch(&trigger)?;
            }
        }
        if !whole && any {
            behind = true;
            database
                .prepare_cached("INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, '0')")?
                .execute([watermark(&index)])?;
        }
    }
    Ok(behind)
}

/// Under this key stands up to which message an index is known to be whole; nothing stands there if it is up to all.
fn watermark(index: &Index) -> String {
    format!("index:{}", index.table)
}

/// Whether an index lacks messages that were there before it.
pub(crate) fn is_behind(database: &Database) -> Result<bool, Failure> {
    Ok(database.prepare_cached("SELECT 1 FROM hx_state WHERE key >= 'index:' AND key < 'index;' LIMIT 1")?.exists([])?)
}

/// Puts some more old messages into the indexes; whether there are more.
pub(crate) fn fill(database: &Database) -> Result<bool, Failure> {
    let start = Instant::now();
    for index in INDEXES {
        let key = watermark(&index);
        let from: Option<String> = database
            .prepare_cached("SELECT value FROM hx_state WHERE key = ?")?
            .query_row([&key], |row| row.get(0))
            .optional()?;
        let Some(mut at) = from.map(|text| text.parse::<i64>().unwrap_or(0)) else { continue };
        let (table, text) = (index.table, TEXT.replace("ROW", "messages"));
        let mut next = database.prepare_cached("SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT 1")?;
        let mut unindexed = database.prepare_cached(&format!(
            "SELECT {text} FROM messages WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM {table}_docsize WHERE id = ?1)"
        ))?;
        let mut insert = database.prepare_cached(&format!("INSERT INTO {table}(rowid, content) VALUES (?, ?)"))?;
        loop {
            let Some(id) = next.query_row([at], |row| row.get::<_, i64>(0)).optional()? else {
                database.prepare_cached("DELETE FROM hx_state WHERE key = ?")?.execute([&key])?;
                break;
            };
            let text = unindexed.query_row([id], |row| crate::row::text(row, 0)).optional()?.flatten();
            if let Some(text) = text {
                insert.execute(params![id, plain(&text)])?;
            }
            at = id;
            if start.elapsed() > STEP {
                database
                    .prepare_cached("UPDATE hx_state SET value = ? WHERE key = ?")?
                    .execute(params![at.to_string(), key])?;
                return Ok(true);
            }
        }
    }
    Ok(false)
}
