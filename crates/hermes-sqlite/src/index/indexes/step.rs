//! Indexes messages after they were acknowledged, in short steps.

use super::pending::{self, Range};
use super::{INDEXES, Index, Kind, Merging, compact, health, own, plain, rebuild, text};
use crate::error::Failure;
use crate::write::database::Database;
use rusqlite::params;
use rusqlite::types::{ToSqlOutput, ValueRef};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// How long one step indexes. The lock is held for longer: FTS5 sorts and writes its buffer, and segments are merged. A
/// single message may take longer too, because it is indexed as a whole.
pub(super) const STEP: Duration = Duration::from_millis(20);

/// Maximum number of messages that are read at once.
const BATCH: usize = 32;
/// Size at which a batch is full: reading messages in vain takes time, and indexing a batch can't be interrupted.
pub(super) const BYTES: usize = 256 * 1024;

/// Indexes some of the backlog, the newest range first. Returns whether there is more.
///
/// Call this through [`health::despite_indexes`], because an index may turn out to be damaged.
pub(crate) fn fill(database: &Database) -> Result<bool, Failure> {
    if INDEXES.iter().all(|index| database.layout().look(*index).kind == Kind::Missing) {
        return Ok(false);
    }
    let (start, mut merging) = (Instant::now(), Merging::by_itself(database));
    let more = fill_for(database, start, &mut merging)? || own::fill(database, start, &mut merging)?;
    merging.end()?;
    Ok(more)
}

/// Indexes some of the backlog in the agent's indexes only. Returns whether there is more.
pub(crate) fn fill_noted(database: &Database) -> Result<bool, Failure> {
    let mut merging = Merging::by_itself(database);
    let more = fill_for(database, Instant::now(), &mut merging)?;
    merging.end()?;
    Ok(more)
}

fn fill_for(database: &Database, start: Instant, merging: &mut Merging<'_>) -> Result<bool, Failure> {
    let building = rebuild::watermark(database)?;
    while let Some(range) = pending::newest(database)? {
        let (texts, is_all) = read(database, range).map_err(health::elsewhere)?;
        if !is_all {
            merging.hold()?;
        }
        let up_to = texts.last().filter(|_| !is_all).map_or(range.last, |last| last.id);
        let mut done = up_to;
        for message in &texts {
            own::again(database, message.id)?;
            add_everywhere(database, message)?;
            if building.is_some_and(|edge| message.id <= edge) {
                for index in INDEXES {
                    rebuild::add(database, index, message)?;
                }
            }
            if start.elapsed() > STEP {
                done = if message.id == texts[texts.len() - 1].id { up_to } else { message.id };
                break;
            }
        }
        pending::done(database, range, done)?;
        if start.elapsed() > STEP {
            return pending::is_behind(database);
        }
    }
    Ok(false)
}

/// A message and its text in the form that the indexes take.
pub(super) struct Text {
    pub(super) id: i64,
    pub(super) bytes: Vec<u8>,
}

impl Text {
    pub(super) const fn of(id: i64, bytes: Vec<u8>) -> Self {
        Self { id, bytes }
    }

    pub(super) fn new(row: &rusqlite::Row<'_>) -> Result<Self, rusqlite::Error> {
        // A foreign writer may have left invalid UTF-8. SQLite treats it as text, and an index has to get the same
        // bytes.
        let bytes = match row.get_ref(1)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
            _ => Vec::new(),
        };
        Ok(Self { id: row.get(0)?, bytes })
    }
}

/// Returns the first messages of a range, and whether these are all.
fn read(database: &Database, range: Range) -> Result<(Vec<Text>, bool), Failure> {
    static SQL: LazyLock<String> =
        LazyLock::new(|| format!("SELECT id, {} FROM messages WHERE id BETWEEN ? AND ? ORDER BY id", text("messages")));
    let mut statement = database.prepare_cached(&SQL)?;
    let mut rows = statement.query_map(params![range.first, range.last], Text::new)?;
    let texts = some(&mut rows, BATCH, |message| message.bytes.len())?;
    let is_all = rows.next().transpose()?.is_none();
    Ok((texts, is_all))
}

/// Returns the next of these rows, at most `most`, and none after [`BYTES`].
pub(super) fn some<T>(
    rows: &mut impl Iterator<Item = Result<T, rusqlite::Error>>,
    most: usize,
    size: impl Fn(&T) -> usize,
) -> Result<Vec<T>, rusqlite::Error> {
    let (mut some, mut bytes) = (Vec::new(), 0);
    while some.len() < most && bytes < BYTES {
        let Some(row) = rows.next().transpose()? else { break };
        bytes += size(&row);
        some.push(row);
    }
    Ok(some)
}

/// Adds a message to both indexes, unless it is already there or an index does not take it.
pub(super) fn add_everywhere(database: &Database, message: &Text) -> Result<(), Failure> {
    INDEXES.into_iter().try_for_each(|index| add(database, index, index.table(), message))
}

/// Adds a message to an index, unless it is already there or the index does not take it.
fn add(database: &Database, index: Index, table: &str, message: &Text) -> Result<(), Failure> {
    match database.layout().look(index).kind {
        Kind::Missing => Ok(()),
        Kind::Compact => add_compact(database, index, table, message),
        Kind::Inline => {
            if has(database, table, message.id)? {
                return Ok(());
            }
            let text = String::from_utf8_lossy(&message.bytes);
            insert(database, table, message.id, plain(&text).as_bytes())
        }
    }
}

/// Adds a message to a compact index, unless it is already there or the index does not take it.
pub(super) fn add_compact(database: &Database, index: Index, table: &str, message: &Text) -> Result<(), Failure> {
    if has(database, table, message.id)? {
        return Ok(());
    }
    match std::str::from_utf8(&message.bytes) {
        Ok(text) => match compact::taken(index, text) {
            Some(text) => insert(database, table, message.id, text.as_bytes()),
            None => Ok(()),
        },
        // Only SQLite can say how it treats invalid UTF-8.
        Err(_) => match compact::taken_by_sqlite(database, index, message.id)? {
            Some(bytes) => insert(database, table, message.id, &bytes),
            None => Ok(()),
        },
    }
}

pub(super) fn has(database: &Database, table: &str, id: i64) -> Result<bool, Failure> {
    Ok(database.prepare_cached(&format!("SELECT 1 FROM {table}_docsize WHERE id = ?"))?.exists([id])?)
}

pub(super) fn insert(database: &Database, table: &str, id: i64, text: &[u8]) -> Result<(), Failure> {
    // VALUES, not SELECT: for a statement that may insert several rows, FTS5 first writes its buffer.
    database
        .prepare_cached(&format!("INSERT INTO {table}(rowid, content) VALUES (?, ?)"))?
        .execute(params![id, ToSqlOutput::Borrowed(ValueRef::Text(text))])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_ends_after_many_rows_or_many_bytes() {
        let read = |sizes: &[usize]| some(&mut sizes.iter().map(|size| Ok(*size)), 3, |size| *size).unwrap();
        assert_eq!(read(&[1, 2, 3, 4]), [1, 2, 3]);
        assert_eq!(read(&[BYTES - 1, 1, 5]), [BYTES - 1, 1]);
        assert_eq!(read(&[10 * BYTES, 5]), [10 * BYTES], "however large, one");
        assert_eq!(read(&[]), [0; 0]);
    }
}
