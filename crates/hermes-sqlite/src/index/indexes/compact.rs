//! The compact layout: both indexes read their text through a view, so that it is stored once.
//!
//! Plain SQL that the agent's own SQLite can run. A row that is taken out of such an index has to be handed over with exactly the text
//! that was put in, and must be in it: what is in it stands in the index's `_docsize` table.

use super::{EVENTS, Index, pending, script, text};
use crate::error::Failure;
use crate::write::database::Database;
use rusqlite::OptionalExtension as _;

/// What the index of words reads: the rows that are not to be indexed yet are left out.
pub(super) const WORDS_VIEW: &str = "hx_message_text";
/// What the index of trigrams reads: the rows that need it.
pub(super) const TRIGRAMS_VIEW: &str = "hx_cjk_text";

/// The view that an index reads.
pub(crate) const fn view(index: Index) -> &'static str {
    match index {
        Index::Words => WORDS_VIEW,
        Index::Trigrams => TRIGRAMS_VIEW,
    }
}

/// Makes both views.
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

/// A text in the form that an index takes.
///
/// Versions of SQLite differ in what they make of a NUL in a text for trigrams, so that one can't take out what another put in. Structured
/// content begins with one, which is left out here.
pub(super) fn form(index: Index, text: &str) -> String {
    match index {
        Index::Words => text.to_owned(),
        Index::Trigrams => format!(
            "CASE instr(CAST(({text}) AS BLOB), x'00') WHEN 1 THEN CAST(substr(CAST(({text}) AS BLOB), 2) AS TEXT) ELSE {text} END"
        ),
    }
}

/// The condition on a text, in its form, for being taken by an index. One that still has a NUL in it is not.
pub(super) fn is_taken(index: Index, text: &str) -> String {
    match index {
        Index::Words => "1".to_owned(),
        Index::Trigrams => {
            format!("({text}) GLOB '{}' AND instr(CAST(({text}) AS BLOB), x'00') = 0", script::pattern())
        }
    }
}

/// The text in the form that an index takes, if it takes it; as [`form`] and [`is_taken`] say in SQL.
pub(super) fn taken(index: Index, text: &str) -> Option<&str> {
    match index {
        Index::Words => Some(text),
        Index::Trigrams => Some(text.strip_prefix('\0').unwrap_or(text))
            .filter(|text| script::needs_trigrams(text) && !text.contains('\0')),
    }
}

/// The same as SQLite itself tells it, for bytes that are no text.
pub(super) fn taken_by_sqlite(database: &Database, index: Index, id: i64) -> Result<Option<Vec<u8>>, Failure> {
    let sql = format!(
        "SELECT CAST(content AS BLOB) FROM (SELECT {} AS content FROM messages m WHERE m.id = ?) WHERE {}",
        form(index, &text("m")),
        is_taken(index, "content")
    );
    Ok(database.prepare_cached(&sql)?.query_row([id], |row| row.get(0)).optional()?)
}

/// Makes an empty index and its triggers.
pub(super) fn create(database: &Database, index: Index) -> Result<(), Failure> {
    create_table(database, index, index.table())?;
    create_triggers(database, index)
}

/// Makes an empty index under a name.
pub(super) fn create_table(database: &Database, index: Index, name: &str) -> Result<(), Failure> {
    let tokenizer = if index == Index::Trigrams { ", tokenize='trigram'" } else { "" };
    let view = view(index);
    Ok(database.execute_batch(&format!(
        "CREATE VIRTUAL TABLE {name} USING fts5(content, content='{view}', content_rowid='id'{tokenizer})"
    ))?)
}

/// Makes the triggers of an index, which has none.
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
            // CASE, not AND: SQLite may ask about the text first, and that takes longer than all the rest.
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

/// Whether the row called `old` is in an index.
fn has(table: &str) -> String {
    format!("EXISTS (SELECT 1 FROM {table}_docsize WHERE id = old.id)")
}

/// Takes the row called `old` out of an index under a name, if it is in it.
pub(super) fn take_out(index: Index, table: &str) -> String {
    format!(
        "INSERT INTO {table}({table}, rowid, content) SELECT 'delete', old.id, {} WHERE {};",
        form(index, &text("old")),
        has(table)
    )
}
