//! The compact layout: both indexes read their text through a view, so that it is stored once.
//!
//! Plain SQL that the agent's own SQLite can run. Removing a row from such an index needs exactly the text that was
//! inserted, and the row must be in the index: its `_docsize` table lists the rows that are.

use super::{EVENTS, Index, pending, script, text};
use crate::error::Failure;
use crate::write::database::Database;
use rusqlite::OptionalExtension as _;

/// View that the word index reads, without rows of the backlog.
pub(super) const WORDS_VIEW: &str = "hx_message_text";
/// View that the trigram index reads: the rows that need it.
pub(super) const TRIGRAMS_VIEW: &str = "hx_cjk_text";

/// Returns the view that an index reads.
pub(crate) const fn view(index: Index) -> &'static str {
    match index {
        Index::Words => WORDS_VIEW,
        Index::Trigrams => TRIGRAMS_VIEW,
    }
}

/// Returns the statements that create both views.
pub(super) fn views() -> String {
    format!(
        "CREATE VIEW IF NOT EXISTS {WORDS_VIEW} AS SELECT m.id AS id, {} AS content FROM messages m WHERE NOT {};
         CREATE VIEW IF NOT EXISTS {TRIGRAMS_VIEW} AS SELECT id, content FROM (SELECT id, {} AS content FROM {WORDS_VIEW}) WHERE {};",
        text("m"),
        pending::holds("m.id"),
        form(Index::Trigrams, "content"),
        is_taken(Index::Trigrams, "content"),
    )
}

/// Returns SQL for a text in the form that an index takes.
///
/// Versions of SQLite differ in how they split a text with a NUL into trigrams, so one version can't remove what
/// another inserted. Structured content begins with a NUL, which is left out here.
pub(super) fn form(index: Index, text: &str) -> String {
    match index {
        Index::Words => text.to_owned(),
        Index::Trigrams => format!(
            "CASE instr(CAST(({text}) AS BLOB), x'00') WHEN 1 THEN CAST(substr(CAST(({text}) AS BLOB), 2) AS TEXT) ELSE {text} END"
        ),
    }
}

/// Returns the SQL condition for an index taking a text, given in its [`form`]. A text that still contains a NUL is not
/// taken.
pub(super) fn is_taken(index: Index, text: &str) -> String {
    match index {
        Index::Words => "1".to_owned(),
        Index::Trigrams => {
            format!("({text}) GLOB '{}' AND instr(CAST(({text}) AS BLOB), x'00') = 0", script::pattern())
        }
    }
}

/// Returns the text in the form that an index takes; `None` if it does not take it. Equivalent to [`form`] and
/// [`is_taken`].
pub(super) fn taken(index: Index, text: &str) -> Option<&str> {
    match index {
        Index::Words => Some(text),
        Index::Trigrams => Some(text.strip_prefix('\0').unwrap_or(text))
            .filter(|text| script::needs_trigrams(text) && !text.contains('\0')),
    }
}

/// Returns the text of a message like [`taken`], but computed by SQLite, for bytes that are not valid UTF-8.
pub(super) fn taken_by_sqlite(database: &Database, index: Index, id: i64) -> Result<Option<Vec<u8>>, Failure> {
    let sql = format!(
        "SELECT CAST(content AS BLOB) FROM (SELECT {} AS content FROM messages m WHERE m.id = ?) WHERE {}",
        form(index, &text("m")),
        is_taken(index, "content")
    );
    Ok(database.prepare_cached(&sql)?.query_row([id], |row| row.get(0)).optional()?)
}

/// Creates an empty index and its triggers.
pub(super) fn create(database: &Database, index: Index) -> Result<(), Failure> {
    create_table(database, index, index.table())?;
    create_triggers(database, index)
}

/// Creates an empty index under a name.
pub(super) fn create_table(database: &Database, index: Index, name: &str) -> Result<(), Failure> {
    let tokenizer = if index == Index::Trigrams { ", tokenize='trigram'" } else { "" };
    let view = view(index);
    Ok(database.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {name} USING fts5(content, content='{view}', content_rowid='id'{tokenizer})"
    ))?)
}

/// Creates the triggers of an index that has none.
pub(super) fn create_triggers(database: &Database, index: Index) -> Result<(), Failure> {
    for event in EVENTS {
        database.execute_batch(&trigger(index, event))?;
    }
    Ok(())
}

fn trigger(index: Index, event: &str) -> String {
    let table = index.table();
    let (new, pending) = (form(index, &text("new")), pending::holds("new.id"));
    let taken = is_taken(index, &new);
    let (when, body) = match event {
        "insert" => (
            // CASE, not AND: SQLite may evaluate the condition on the text first, which is the most expensive one.
            format!("AFTER INSERT ON messages WHEN CASE WHEN {pending} THEN 0 ELSE {taken} END"),
            format!("INSERT INTO {table}(rowid, content) VALUES (new.id, {new});"),
        ),
        "delete" => (
            format!("AFTER DELETE ON messages WHEN {}", has(table)),
            format!(
                "INSERT INTO {table}({table}, rowid, content) VALUES ('delete', old.id, {});",
                form(index, &text("old"))
            ),
        ),
        _ => (
            "AFTER UPDATE OF content, tool_name, tool_calls ON messages".to_owned(),
            format!(
                "{} INSERT INTO {table}(rowid, content) SELECT new.id, {new} WHERE CASE WHEN {pending} THEN 0 ELSE {taken} END;",
                take_out(index, table)
            ),
        ),
    };
    format!("CREATE TRIGGER {table}_{event} {when} BEGIN {body} END")
}

/// Returns the SQL condition that the row `old` is in an index.
fn has(table: &str) -> String {
    format!("EXISTS (SELECT 1 FROM {table}_docsize WHERE id = old.id)")
}

/// Returns SQL that removes the row `old` from the index named `table`, if it is in it.
pub(super) fn take_out(index: Index, table: &str) -> String {
    format!(
        "INSERT INTO {table}({table}, rowid, content) SELECT 'delete', old.id, {} WHERE {};",
        form(index, &text("old")),
        has(table)
    )
}
