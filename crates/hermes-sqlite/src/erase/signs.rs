//! What is to be erased, read as it is stored; what stays; and the words of the indexes.

use crate::database::Database;
use crate::error::Failure;
use crate::private;
use crate::row::text;
use hermes_session::SessionId;
use hermes_session::needles::Needles;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ToSql, params};
use std::collections::BTreeSet;

/// Takes the signs of sessions and all that was said in them, here and in the trash.
pub(super) fn take(database: &Database, members: &BTreeSet<SessionId>) -> Result<Needles, Failure> {
    let mut needles = Needles::default();
    let has_trash = exists(database, "hx_trash")?;
    for member in members {
        let id = params![member.as_str()];
        each(database, "SELECT * FROM sessions WHERE id = ?", id, |value| needles.take(value))?;
        each(database, "SELECT * FROM messages WHERE session_id = ?", id, |value| needles.take(value))?;
        let said = "SELECT content, tool_name, tool_calls FROM messages WHERE session_id = ?";
        each_decoded(database, said, id, |text| needles.take(text))?;
        if has_trash {
            each(database, "SELECT * FROM hx_trash_session WHERE id = ?", id, |value| needles.take(value))?;
            let sql = "SELECT m.* FROM hx_trash_session s JOIN hx_trash_message m ON m.hx_number = s.hx_number \
                 AND m.session_id = s.id WHERE s.id = ?";
            each(database, sql, id, |value| needles.take(value))?;
            each_decoded(database, &sql.replace("m.*", "m.content, m.tool_name, m.tool_calls"), id, |text| {
                needles.take(text);
            })?;
        }
    }
    Ok(needles)
}

/// Takes those signs away that what stays has too: rows of every table that is not made of others, the settings of indexes, and the schema.
pub(super) fn keep(database: &Database, mut needles: Needles) -> Result<Needles, Failure> {
    let mut tables: Vec<String> = database
        .prepare(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND name NOT GLOB 'sqlite_*' AND (type = 'table' \
             AND (name NOT GLOB 'hx_*' OR name GLOB 'hx_trash*' OR name IN ('hx_state', 'hx_handoff')) \
             OR type = 'shadow' AND name GLOB '*_config')",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    tables.push("sqlite_schema".into());
    for table in tables {
        let sql = format!("SELECT * FROM main.\"{}\"", table.replace('"', "\"\""));
        each(database, &sql, &[], |value| needles.keep(value))?;
    }
    // As a person reads it, too: our own indexes have it so.
    each_decoded(database, "SELECT content, tool_name, tool_calls FROM messages", &[], |text| needles.keep(text))?;
    // Words of our own that tell what a session is, and the parent it had.
    let ours = "SELECT session_id, relation, origin, root, tip FROM hx_session";
    each(database, ours, &[], |value| needles.keep(value))?;
    Ok(needles)
}

/// Hands over messages as a person wrote them; a statement tells content, tool name and tool calls.
fn each_decoded(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    mut take: impl FnMut(&[u8]),
) -> Result<(), Failure> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        let [content, tool_name, tool_calls] = [text(row, 0)?, text(row, 1)?, text(row, 2)?];
        take(private::decoded(content.as_deref(), tool_name.as_deref(), tool_calls.as_deref()).as_bytes());
    }
    Ok(())
}

/// Hands over every text and every blob of a statement's rows.
fn each(connection: &Connection, sql: &str, values: &[&dyn ToSql], mut take: impl FnMut(&[u8])) -> Result<(), Failure> {
    let mut statement = connection.prepare(sql)?;
    let width = statement.column_count();
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        for column in 0..width {
            if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(column)? {
                take(bytes);
            }
        }
    }
    Ok(())
}

/// How many words are in an index that none of what stays has. An index keeps the start of a word only once, so that bytes alone do not tell.
pub(super) fn words_left(connection: &Connection, needles: &Needles) -> Result<u64, Failure> {
    let mut left = BTreeSet::new();
    let mut look = |bytes: &[u8]| {
        let entry = String::from_utf8_lossy(bytes);
        // An entry of the vocabulary may have two forms of a word, and a block has several entries.
        let found = entry.split(['/', ' ', '\n']).filter(|word| needles.has_word(word));
        left.extend(found.map(ToOwned::to_owned));
    };
    for table in ["messages_fts", "hx_term_trigram"] {
        if exists(connection, table)? {
            connection.execute_batch(&format!(
                "DROP TABLE IF EXISTS temp.hx_words; CREATE VIRTUAL TABLE temp.hx_words USING fts5vocab('main', '{table}', 'row')"
            ))?;
            each(connection, "SELECT term FROM temp.hx_words", &[], &mut look)?;
        }
    }
    for (table, column) in [("hx_term", "term"), ("hx_term_block", "terms")] {
        if exists(connection, table)? {
            each(connection, &format!("SELECT {column} FROM {table}"), &[], &mut look)?;
        }
    }
    Ok(left.len() as u64)
}

fn exists(connection: &Connection, table: &str) -> Result<bool, rusqlite::Error> {
    connection.prepare("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?")?.exists([table])
}
