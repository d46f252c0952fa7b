//! Text with a NUL in the trigram index.
//!
//! Structured content begins with a NUL. Older versions of SQLite end the trigrams of a text there, newer ones read on.
//! Neither can remove from the index what the other has indexed without damaging it. The agent's Python brings one
//! version, we bring another.
//!
//! So the text that we index has no NUL, which both read alike. Before we delete a row that another program indexed,
//! the copy of its text in the index is truncated to the part that was indexed.

use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::{MessageId, SessionId};
use rusqlite::params;
use std::borrow::Cow;

/// Returns the text in the form that we index.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', " ")) } else { Cow::Borrowed(text) }
}

/// Indexes again those messages of a session, from `first` on, that a trigger has indexed with a NUL in them. Call this
/// in the transaction that inserts them.
pub(crate) fn settle(database: &Database, session: &SessionId, first: MessageId) -> Result<(), Failure> {
    for row in with_nul(database, session, first)? {
        database.prepare_cached("DELETE FROM messages_fts_trigram WHERE rowid = ?")?.execute([row.id])?;
        database
            .prepare_cached("INSERT INTO messages_fts_trigram(rowid, content) VALUES (?, ?)")?
            .execute(params![row.id, plain(&row.text)])?;
    }
    Ok(())
}

/// Truncates the text that the index stores to the part that was indexed, if that ended at the NUL.
fn cut(database: &Database, row: &Row) -> Result<(), Failure> {
    let read = row.text.split('\0').next().unwrap_or_default();
    if row.trigrams == Some(trigrams(read)) && row.trigrams != Some(trigrams(&row.text)) {
        database
            .prepare_cached("UPDATE messages_fts_trigram_content SET c0 = ? WHERE id = ?")?
            .execute(params![read, row.id])?;
    }
    Ok(())
}

/// Prepares messages for deletion, whichever version of SQLite has indexed them.
pub(crate) fn before_removal_of(database: &Database, messages: &[i64]) -> Result<(), Failure> {
    if !keeps_text(database)? {
        return Ok(());
    }
    let mut statement = database.prepare_cached(&format!("{WITH_NUL} WHERE m.id = ? AND {HAS_NUL}"))?;
    for id in messages {
        for row in statement.query_map([id], read_row)? {
            cut(database, &row?)?;
        }
    }
    Ok(())
}

struct Row {
    id: i64,
    /// The text as the index stores it.
    text: String,
    /// How many of its trigrams are in the index.
    trigrams: Option<u64>,
}

/// Messages joined with their rows in the index; conditions on `m` follow.
const WITH_NUL: &str = "SELECT c.id, c.c0, d.sz FROM messages m JOIN messages_fts_trigram_content c ON c.id = m.id \
     JOIN messages_fts_trigram_docsize d ON d.id = m.id";
const HAS_NUL: &str = "instr(CAST(m.content AS BLOB), x'00') > 0 AND instr(CAST(c.c0 AS BLOB), x'00') > 0";

/// Returns whether the index stores the text itself.
fn keeps_text(database: &Database) -> Result<bool, Failure> {
    let kept = database
        .prepare_cached("SELECT count(*) = 2 FROM sqlite_schema WHERE name IN ('messages_fts_trigram_content', 'messages_fts_trigram_docsize')")?
        .query_row([], |row| row.get::<_, bool>(0))?;
    Ok(kept)
}

fn read_row(row: &rusqlite::Row<'_>) -> Result<Row, rusqlite::Error> {
    let sizes: Vec<u8> = row.get(2)?;
    Ok(Row {
        id: row.get(0)?,
        text: crate::calls::row::text(row, 1)?.unwrap_or_default(),
        trigrams: first_number(&sizes),
    })
}

/// Returns the rows of the index that contain a NUL, of one session from a message on. Empty if the index is missing or
/// stores no text of its own.
fn with_nul(database: &Database, session: &SessionId, first: MessageId) -> Result<Vec<Row>, Failure> {
    if !keeps_text(database)? {
        return Ok(Vec::new());
    }
    let mut statement =
        database.prepare_cached(&format!("{WITH_NUL} WHERE m.session_id = ? AND m.id >= ? AND {HAS_NUL}"))?;
    let rows = statement.query_map(params![session.as_str(), first.0], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns how many trigrams a text has if it is read past any NUL.
fn trigrams(text: &str) -> u64 {
    (text.chars().filter(|character| *character != '\0').count() as u64).saturating_sub(2)
}

/// Returns the first number of a docsize record.
fn first_number(bytes: &[u8]) -> Option<u64> {
    number(bytes).map(|(number, _)| number)
}

/// Decodes a varint. Returns the number and its length in bytes. It has seven bits per byte, most significant first; a
/// set top bit means that more bytes follow.
pub(super) fn number(bytes: &[u8]) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    for (place, byte) in bytes.iter().take(9).enumerate() {
        if place == 8 {
            return Some((number << 8 | u64::from(*byte), 9));
        }
        number = number << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, place + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_sqlite_writes_them() {
        assert_eq!(first_number(&[0]), Some(0));
        assert_eq!(first_number(&[0x7f, 1]), Some(127));
        assert_eq!(first_number(&[0x81, 0x00]), Some(128));
        assert_eq!(first_number(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), Some(u64::MAX));
        assert_eq!(first_number(&[0x81]), None);
    }
}
