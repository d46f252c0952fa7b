//! Collects the signs of the sessions to erase, in stored form; removes those that remaining text has too; and looks
//! for erased words in the indexes.

use super::live;
use super::ties::Ties;
use crate::quoted;
use hermes_session::needles::Needles;
use hermes_session::versions::Versions;
use hermes_sqlite::file::{ERASING, Failure, foreign_tables, message_text};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ToSql, params};
use std::collections::BTreeSet;

/// Takes the signs of sessions and their messages, in the store and in the trash, and of rows of other tables that
/// belong to them.
pub(super) fn take(connection: &Connection, versions: &Versions) -> Result<Needles, Failure> {
    let mut needles = Needles::default();
    for member in &versions.members {
        let id = params![member.as_str()];
        each(connection, "SELECT * FROM sessions WHERE id = ?", id, |value| needles.take(value))?;
        each(connection, "SELECT * FROM messages WHERE session_id = ?", id, |value| needles.take(value))?;
        let said = "SELECT content, tool_name, tool_calls FROM messages WHERE session_id = ?";
        each_decoded(connection, said, id, |text| needles.take(text))?;
        live::take(connection, member, &mut needles)?;
    }
    let of_trash = kept_in_trash(connection)?;
    for entry in &versions.trashed {
        for table in &of_trash {
            let sql = format!("SELECT * FROM {table} WHERE hx_number = ?");
            each(connection, &sql, params![entry.number], |value| needles.take(value))?;
        }
        let said = "SELECT content, tool_name, tool_calls FROM hx_trash_message WHERE hx_number = ?";
        each_decoded(connection, said, params![entry.number], |text| needles.take(text))?;
        live::take_trashed(connection, entry.number, &mut needles)?;
    }
    Ties::of(connection, versions)?.take(connection, &mut needles)?;
    Ok(needles)
}

/// Lists the tables with rows of the trash, quoted.
fn kept_in_trash(connection: &Connection) -> Result<Vec<String>, rusqlite::Error> {
    let mut statement =
        connection.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name GLOB 'hx_trash_*'")?;
    statement.query_map([], |row| Ok(quoted(&row.get::<_, String>(0)?)))?.collect()
}

/// Removes the signs that remaining content has too: rows of every table that is not derived, the settings of indexes,
/// and the schema. Returns the signs, and the agent's tables that contain some of the erased text in rows that belong
/// to no session.
pub(super) fn keep(connection: &Connection, mut needles: Needles) -> Result<(Needles, Vec<String>), Failure> {
    let mut tables: Vec<String> = connection
        .prepare(
            "SELECT name FROM pragma_table_list WHERE schema = 'main' AND (type = 'table' \
             AND (name IN ('sessions', 'messages', 'hx_handoff', 'hx_undone', 'hx_lease', 'hx_turn', 'hx_inbox', 'hx_cursor', \
             'hx_outbox', 'hx_route', 'hx_route_alias', 'hx_change') OR name GLOB 'hx_trash*') \
             OR type = 'shadow' AND name GLOB '*_config')",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    tables.push("sqlite_schema".into());
    let all_of = |table: &str| format!("SELECT * FROM main.{}", quoted(table));
    for table in tables {
        each(connection, &all_of(&table), &[], |value| needles.keep(value))?;
    }
    let state = format!("SELECT key, value FROM hx_state WHERE key <> '{}'", ERASING);
    each(connection, &state, &[], |value| needles.keep(value))?;
    // Decoded too: our own indexes hold the text as a person reads it.
    each_decoded(connection, "SELECT content, tool_name, tool_calls FROM messages", &[], |text| needles.keep(text))?;
    // Relations and ids of our side table.
    let ours = "SELECT session_id, relation, origin, root, tip FROM hx_session";
    each(connection, ours, &[], |value| needles.keep(value))?;
    let (mut others, mut left) = (foreign_tables(connection)?, Vec::new());
    others.retain(|table| !["sessions", "messages"].contains(&table.as_str()));
    for table in &others {
        let mut has_some = false;
        each(connection, &all_of(table), &[], |value| has_some |= needles.has_stretch_of(value))?;
        left.extend(has_some.then(|| table.clone()));
    }
    // Single words occur in many rows: a state, the name of a platform.
    for table in &others {
        each(connection, &all_of(table), &[], |value| needles.keep(value))?;
    }
    Ok((needles, left))
}

/// Passes messages to `take` as a person wrote them. The statement selects content, tool name and tool calls.
pub(super) fn each_decoded(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    mut take: impl FnMut(&[u8]),
) -> Result<(), Failure> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        take(message_text(row)?.as_bytes());
    }
    Ok(())
}

/// Passes every text and blob of a statement's rows to `take`.
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

/// Returns how many erased words are still in an index. An index stores shared prefixes once, so a scan of its bytes
/// would miss words.
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
