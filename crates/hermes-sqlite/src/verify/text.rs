//! The full-text indexes: whether they hold every message, nothing else, and its text.

use super::count;
use crate::database::Database;
use crate::error::Failure;
use crate::{indexes, row};
use hermes_session::Check;
use rusqlite::{OptionalExtension as _, params};

const INDEXES: [&str; 2] = ["messages_fts", "messages_fts_trigram"];

/// `told` is what SQLite's own check of the file said of the indexes: it runs the one that FTS5 has, and without the write lock that
/// asking FTS5 for it would take.
pub(super) fn look(database: &Database, check: &mut Check, told: &[String]) -> Result<(), Failure> {
    check.looked_at = count(database, "SELECT count(*) FROM messages")?;
    for line in told {
        let index = INDEXES.iter().rev().find(|index| line.contains(**index)).unwrap_or(&INDEXES[0]);
        if may_be_another_sqlite(database, index, line) {
            let why = "versions of SQLite differ in how they index text with U+0000, and this index has such text";
            check.note(format!("table {index}"), format!("can't be checked as a whole: {why} ({line})"));
        } else {
            check.problem(format!("table {index}"), line);
        }
    }
    for index in INDEXES {
        if let Err(error) = compare(database, check, index) {
            // A missing table is told by name in the check of the schema; here it says why there is no more to tell.
            check.problem(format!("table {index}"), format!("can't be compared with the messages: {error}"));
        }
    }
    Ok(())
}

/// Whether FTS5 may say this of an index that is whole: an older SQLite ends a text for trigrams at its first U+0000, with which all
/// structured content begins, and FTS5 compares an index with what it would make of the texts itself.
fn may_be_another_sqlite(database: &Database, index: &str, line: &str) -> bool {
    let differs = line.contains("malformed inverted index") || line.contains("checksum mismatch");
    let has_nul = || {
        let sql = format!("SELECT 1 FROM {index}_content WHERE instr(CAST(c0 AS BLOB), x'00') > 0 LIMIT 1");
        database.prepare(&sql).and_then(|mut statement| statement.exists([]))
    };
    index == "messages_fts_trigram" && differs && has_nul().unwrap_or(false)
}

fn compare(database: &Database, check: &mut Check, index: &str) -> Result<(), rusqlite::Error> {
    let mut each = |sql: &str, edge: i64, what: &str| -> Result<(), rusqlite::Error> {
        let mut statement = database.prepare(sql)?;
        let mut rows = statement.query(params![edge])?;
        while let Some(row) = rows.next()? {
            check.problem(format!("{index} {}", row.get::<_, i64>(0)?), what);
        }
        Ok(())
    };
    // NOT INDEXED: the table tells which messages there are, not another index that may be wrong itself.
    each(
        &format!(
            "SELECT m.id FROM messages m NOT INDEXED WHERE m.id <= ?1 \
             AND NOT EXISTS (SELECT 1 FROM {index}_docsize d WHERE d.id = m.id)"
        ),
        watermark(database, index)?.unwrap_or(i64::MAX),
        "is a message that the index does not have",
    )?;
    each(
        &format!(
            "SELECT d.id FROM {index}_docsize d WHERE d.id <= ?1 \
             AND NOT EXISTS (SELECT 1 FROM messages m NOT INDEXED WHERE m.id = d.id)"
        ),
        i64::MAX,
        "is in the index, but there is no such message",
    )?;
    let mut statement = database.prepare(&format!(
        "SELECT m.id, c.c0, coalesce(m.content, '') || ' ' || coalesce(m.tool_name, '') || ' ' || coalesce(m.tool_calls, '') AS said \
         FROM messages m NOT INDEXED JOIN {index}_content c ON c.id = m.id WHERE c.c0 IS NOT said"
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kept, said) = (row::text(row, 1)?.unwrap_or_default(), row::text(row, 2)?.unwrap_or_default());
        if kept != indexes::plain(&said) {
            check.problem(
                format!("{index} {}", row.get::<_, i64>(0)?),
                "is in the index with another text than the message has",
            );
        }
    }
    Ok(())
}

/// Up to which message an index was looked at since it was made anew; nothing if it is up to all.
fn watermark(database: &Database, index: &str) -> Result<Option<i64>, rusqlite::Error> {
    let value: Option<String> = database
        .prepare("SELECT value FROM hx_state WHERE key = 'index:' || ?")?
        .query_row([index], |row| row.get(0))
        .optional()?;
    Ok(value.map(|text| text.parse().unwrap_or(0)))
}

/// Old messages that are still to be put into an index.
pub(super) fn backlog(database: &Database, check: &mut Check) -> Result<(), Failure> {
    for index in INDEXES {
        check.looked_at += 1;
        let Some(edge) = watermark(database, index)? else { continue };
        let missing = count(
            database,
            &format!(
                "SELECT count(*) FROM messages m NOT INDEXED WHERE m.id > {edge} \
                 AND NOT EXISTS (SELECT 1 FROM {index}_docsize d WHERE d.id = m.id)"
            ),
        )?;
        check.note(
            format!("table {index}"),
            format!("was looked through up to message {edge}; {missing} behind it are still to be put in"),
        );
    }
    Ok(())
}
