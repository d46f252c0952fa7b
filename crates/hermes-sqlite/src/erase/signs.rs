//! What is to be erased, read as it is stored; what stays; and the words of the indexes.

use super::note;
use super::ties::Ties;
use crate::database::Database;
use crate::error::Failure;
use crate::row::text;
use crate::{foreign, private};
use hermes_session::needles::Needles;
use hermes_session::versions::Versions;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ToSql, params};
use std::collections::BTreeSet;

/// Takes the signs of sessions and all that was said in them, here and in the trash, and of what else belongs to them.
pub(super) fn take(database: &Database, versions: &Versions) -> Result<Needles, Failure> {
    let mut needles = Needles::default();
    for member in &versions.members {
        let id = params![member.as_str()];
        each(database, "SELECT * FROM sessions WHERE id = ?", id, |value| needles.take(value))?;
        each(database, "SELECT * FROM messages WHERE session_id = ?", id, |value| needles.take(value))?;
        let said = "SELECT content, tool_name, tool_calls FROM messages WHERE session_id = ?";
        each_decoded(database, said, id, |text| needles.take(text))?;
    }
    let of_trash = kept_in_trash(database)?;
    for entry in &versions.trashed {
        for table in &of_trash {
            let sql = format!("SELECT * FROM {table} WHERE hx_number = ?");
            each(database, &sql, params![entry.number], |value| needles.take(value))?;
        }
        let said = "SELECT content, tool_name, tool_calls FROM hx_trash_message WHERE hx_number = ?";
        each_decoded(database, said, params![entry.number], |text| needles.take(text))?;
    }
    Ties::of(database, versions)?.take(database, &mut needles)?;
    Ok(needles)
}

/// The tables with rows of what is in the trash, quoted.
fn kept_in_trash(database: &Database) -> Result<Vec<String>, rusqlite::Error> {
    let mut statement =
        database.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name GLOB 'hx_trash_*'")?;
    statement.query_map([], |row| Ok(foreign::quoted(&row.get::<_, String>(0)?)))?.collect()
}

/// Takes those signs away that what stays has too: rows of every table that is not made of others, the settings of indexes, and the schema. The tables
/// of the agent's that have some of what was said all the same, though nothing ties it to a session, are told.
pub(super) fn keep(database: &Database, mut needles: Needles) -> Result<(Needles, Vec<String>), Failure> {
    let mut tables: Vec<String> = database
        .prepare(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND (type = 'table' \
             AND (name IN ('sessions', 'messages', 'hx_handoff') OR name GLOB 'hx_trash*') \
             OR type = 'shadow' AND name GLOB '*_config')",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    tables.push("sqlite_schema".into());
    let all_of = |table: &str| format!("SELECT * FROM main.{}", foreign::quoted(table));
    for table in tables {
        each(database, &all_of(&table), &[], |value| needles.keep(value))?;
    }
    let state = format!("SELECT key, value FROM hx_state WHERE key <> '{}'", note::KEY);
    each(database, &state, &[], |value| needles.keep(value))?;
    // As a person reads it, too: our own indexes have it so.
    each_decoded(database, "SELECT content, tool_name, tool_calls FROM messages", &[], |text| needles.keep(text))?;
    // Words of our own that tell what a session is, and the parent it had.
    let ours = "SELECT session_id, relation, origin, root, tip FROM hx_session";
    each(database, ours, &[], |value| needles.keep(value))?;
    let (mut others, mut left) = (foreign::tables(database)?, Vec::new());
    others.retain(|table| !["sessions", "messages"].contains(&table.as_str()));
    for table in &others {
        let mut has_some = false;
        each(database, &all_of(table), &[], |value| has_some |= needles.has_stretch_of(value))?;
        left.extend(has_some.then(|| table.clone()));
    }
    // Single words are in many a row: a state, the name of a platform.
    for table in &others {
        each(database, &all_of(table), &[], |value| needles.keep(value))?;
    }
    Ok((needles, left))
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
pub(super) fn each(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    mut take: impl FnMut(&[u8]),
) -> Result<(), Failure> {
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

pub(super) fn exists(connection: &Connection, table: &str) -> Result<bool, rusqlite::Error> {
    connection.prepare("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?")?.exists([table])
}
