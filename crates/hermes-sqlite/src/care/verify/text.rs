//! The full-text indexes: whether they hold every message that they should, nothing else, and the right text.

use super::{count, terms};
use crate::calls::row;
use crate::error::Failure;
use crate::index::indexes::{self, Index, Kind};
use crate::write::database::Database;
use hermes_session::Check;
use std::collections::BTreeSet;

/// Checks the indexes. `reported` holds the lines of SQLite's own check about them: that check runs the one of FTS5,
/// without the write lock that calling FTS5 directly would take.
pub(super) fn look(database: &Database, check: &mut Check, reported: &[String]) -> Result<(), Failure> {
    check.looked_at = count(database, "SELECT count(*) FROM messages")?;
    for line in reported {
        let index = indexes::INDEXES.into_iter().rev().find(|index| line.contains(index.table()));
        let table = index.unwrap_or(Index::Words).table();
        if may_be_another_sqlite(database, table, line) {
            let why = "versions of SQLite differ in how they index text with U+0000, and this index has such text";
            check.note(format!("table {table}"), format!("can't be checked as a whole: {why} ({line})"));
        } else {
            check.problem(format!("table {table}"), line);
        }
    }
    for index in indexes::INDEXES {
        let compared = match database.layout().look(index).kind {
            Kind::Compact => compare_compact(database, check, index),
            Kind::Inline | Kind::Missing => compare_inline(database, check, index.table()),
        };
        if let Err(error) = compared {
            // The check of the schema names a missing table; this line explains why the comparison is missing.
            check.problem(format!("table {}", index.table()), format!("can't be compared with the messages: {error}"));
        }
    }
    for id in indexes::lacking(database)? {
        check.problem(format!("hx_doclen {id}"), "is a message that is not in our own indexes");
    }
    Ok(())
}

/// Returns whether FTS5 may report this of an intact index. An older SQLite ends a text for trigrams at its first
/// U+0000, with which all structured content begins, and FTS5 compares an index with what it would build from the texts
/// itself.
fn may_be_another_sqlite(database: &Database, table: &str, line: &str) -> bool {
    let differs = line.contains("malformed inverted index") || line.contains("checksum mismatch");
    let has_nul = || {
        let sql = format!("SELECT 1 FROM {table}_content WHERE instr(CAST(c0 AS BLOB), x'00') > 0 LIMIT 1");
        database.prepare(&sql).and_then(|mut statement| statement.exists([]))
    };
    table == Index::Trigrams.table() && differs && has_nul().unwrap_or(false)
}

/// Reports each row that a statement finds. Returns their ids.
fn each(
    database: &Database,
    check: &mut Check,
    table: &str,
    sql: &str,
    what: &str,
) -> Result<BTreeSet<i64>, rusqlite::Error> {
    let mut statement = database.prepare(sql)?;
    let found: BTreeSet<i64> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    found.iter().for_each(|id| check.problem(format!("{table} {id}"), what));
    Ok(found)
}

/// Compares an index of ours with its view.
fn compare_compact(database: &Database, check: &mut Check, index: Index) -> Result<(), rusqlite::Error> {
    let (table, view) = (index.table(), indexes::view(index));
    let mut named = each(
        database,
        check,
        table,
        &format!("SELECT v.id FROM {view} v WHERE NOT EXISTS (SELECT 1 FROM {table}_docsize d WHERE d.id = v.id)"),
        "is a message that is not in the index",
    )?;
    named.extend(each(
        database,
        check,
        table,
        &format!(
            "SELECT d.id FROM {table}_docsize d WHERE NOT EXISTS (SELECT 1 FROM messages m NOT INDEXED WHERE m.id = d.id)"
        ),
        "is in the index, but there is no such message",
    )?);
    named.extend(each(
        database,
        check,
        table,
        &format!(
            "SELECT d.id FROM {table}_docsize d WHERE NOT EXISTS (SELECT 1 FROM {view} v WHERE v.id = d.id) \
             AND EXISTS (SELECT 1 FROM messages m NOT INDEXED WHERE m.id = d.id) AND NOT {}",
            indexes::is_pending("d.id")
        ),
        "is in the index, but should not be",
    )?);
    // A message in the backlog may be in the index already, with an older text.
    let mut pending = database.prepare(&format!("SELECT {}", indexes::is_pending("?1")))?;
    for id in terms::differing(database, index)?.difference(&named) {
        if pending.query_row([id], |row| row.get(0))? {
            continue;
        }
        check.problem(format!("{table} {id}"), "is in the index with another text than the message has");
    }
    Ok(())
}

/// Compares an index of the agent's, which has a copy of every text, with the messages.
fn compare_inline(database: &Database, check: &mut Check, table: &str) -> Result<(), rusqlite::Error> {
    // NOT INDEXED: the messages are read from the table itself, not from another index that may be wrong.
    each(
        database,
        check,
        table,
        &format!(
            "SELECT m.id FROM messages m NOT INDEXED WHERE NOT {} \
             AND NOT EXISTS (SELECT 1 FROM {table}_docsize d WHERE d.id = m.id)",
            indexes::is_pending("m.id")
        ),
        "is a message that is not in the index",
    )?;
    each(
        database,
        check,
        table,
        &format!(
            "SELECT d.id FROM {table}_docsize d WHERE NOT EXISTS (SELECT 1 FROM messages m NOT INDEXED WHERE m.id = d.id)"
        ),
        "is in the index, but there is no such message",
    )?;
    let mut statement = database.prepare(&format!(
        "SELECT m.id, c.c0, coalesce(m.content, '') || ' ' || coalesce(m.tool_name, '') || ' ' || coalesce(m.tool_calls, '') AS said \
         FROM messages m NOT INDEXED JOIN {table}_content c ON c.id = m.id WHERE c.c0 IS NOT said"
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kept, said) = (row::text(row, 1)?.unwrap_or_default(), row::text(row, 2)?.unwrap_or_default());
        if kept != indexes::plain(&said) {
            check.problem(
                format!("{table} {}", row.get::<_, i64>(0)?),
                "is in the index with another text than the message has",
            );
        }
    }
    Ok(())
}

/// Notes messages that are not indexed yet, and indexes that are being rebuilt.
pub(super) fn backlog(database: &Database, check: &mut Check) -> Result<(), Failure> {
    check.looked_at = indexes::INDEXES.len() as u64;
    let behind = indexes::backlog(database)?.max(indexes::own_backlog(database)?);
    if behind > 0 {
        let what = if behind == 1 { "a message that is".to_owned() } else { format!("{behind} messages that are") };
        check.note("table messages", format!("has {what} not indexed yet"));
    }
    if indexes::needs_rebuild(database)? && !indexes::wants_rebuild(database)? {
        check.note("indexes", "are being rebuilt; optimize continues it");
    }
    Ok(())
}
