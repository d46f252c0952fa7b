//! The full-text indexes: whether they hold every message that they should, nothing else, and its text.

use super::{count, terms};
use crate::calls::row;
use crate::error::Failure;
use crate::index::indexes::{self, Index, Kind};
use crate::write::database::Database;
use hermes_session::Check;
use std::collections::BTreeSet;

/// `told` is what SQLite's own check of the file said of the indexes: it runs the one that FTS5 has, and without the write lock that
/// asking FTS5 for it would take.
pub(super) fn look(database: &Database, check: &mut Check, told: &[String]) -> Result<(), Failure> {
    check.looked_at = count(database, "SELECT count(*) FROM messages")?;
    for line in told {
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
            // A missing table is told by name in the check of the schema; here it says why there is no more to tell.
            check.problem(format!("table {}", index.table()), format!("can't be compared with the messages: {error}"));
        }
    }
    for id in indexes::lacking(database)? {
        check.problem(format!("hx_doclen {id}"), "is a message that our own indexes do not have");
    }
    Ok(())
}

/// Whether FTS5 may say this of an index that is whole: an older SQLite ends a text for trigrams at its first U+0000, with which all
/// structured content begins, and FTS5 compares an index with what it would make of the texts itself.
fn may_be_another_sqlite(database: &Database, table: &str, line: &str) -> bool {
    let differs = line.contains("malformed inverted index") || line.contains("checksum mismatch");
    let has_nul = || {
        let sql = format!("SELECT 1 FROM {table}_content WHERE instr(CAST(c0 AS BLOB), x'00') > 0 LIMIT 1");
        database.prepare(&sql).and_then(|mut statement| statement.exists([]))
    };
    table == Index::Trigrams.table() && differs && has_nul().unwrap_or(false)
}

/// Names each row that a statement finds; which they are.
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

/// An index of ours has what its view has.
fn compare_compact(database: &Database, check: &mut Check, index: Index) -> Result<(), rusqlite::Error> {
    let (table, view) = (index.table(), indexes::view(index));
    let mut named = each(
        database,
        check,
        table,
        &format!("SELECT v.id FROM {view} v WHERE NOT EXISTS (SELECT 1 FROM {table}_docsize d WHERE d.id = v.id)"),
        "is a message that the index does not have",
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
    // What is to be looked at again may be in already.
    let mut pending = database.prepare(&format!("SELECT {}", indexes::is_pending("?1")))?;
    for id in terms::differing(database, index)?.difference(&named) {
        if pending.query_row([id], |row| row.get(0))? {
            continue;
        }
        check.problem(format!("{table} {id}"), "is in the index with another text than the message has");
    }
    Ok(())
}

/// An index of the agent's has a copy of every text.
fn compare_inline(database: &Database, check: &mut Check, table: &str) -> Result<(), rusqlite::Error> {
    // NOT INDEXED: the table tells which messages there are, not another index that may be wrong itself.
    each(
        database,
        check,
        table,
        &format!(
            "SELECT m.id FROM messages m NOT INDEXED WHERE NOT {} \
             AND NOT EXISTS (SELECT 1 FROM {table}_docsize d WHERE d.id = m.id)",
            indexes::is_pending("m.id")
        ),
        "is a message that the index does not have",
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

/// Messages that are still to be indexed, and indexes that are being made anew.
pub(super) fn backlog(database: &Database, check: &mut Check) -> Result<(), Failure> {
    check.looked_at = indexes::INDEXES.len() as u64;
    let behind = indexes::backlog(database)?.max(indexes::own_backlog(database)?);
    if behind > 0 {
        let what = if behind == 1 { "a message that is".to_owned() } else { format!("{behind} messages that are") };
        check.note("table messages", format!("has {what} still to be indexed"));
    }
    if indexes::needs_rebuild(database)? && !indexes::wants_rebuild(database)? {
        check.note("indexes", "are being made anew; optimize goes on with it");
    }
    Ok(())
}
