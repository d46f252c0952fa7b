//! The part of the indexing step that fills the indexes that only we use, with the messages of all writers.
//!
//! Ids only grow, so a watermark says which messages are indexed. Messages that are imported below it, or changed, are
//! recorded one by one.

use super::step::{self, STEP};
use super::{Merging, health, text};
use crate::error::Failure;
use crate::index::vocabulary::{self, Document};
use crate::write::database::Database;
use rusqlite::types::ValueRef;
use rusqlite::{OptionalExtension as _, params};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Key of the watermark: the last message up to which the indexes are filled.
const KEY: &str = "own:filled";
/// Key of the state of emptying the indexes: [`TO_SET_ASIDE`] or [`SET_ASIDE`]. Absent if they are not being emptied.
const EMPTYING: &str = "own:emptying";
/// The old tables have not been renamed yet.
const TO_SET_ASIDE: &str = "1";
/// New tables have replaced the old ones, which are being deleted.
const SET_ASIDE: &str = "2";

/// Key of the watermark at which the segments of the indexes were last merged into one.
const MERGED: &str = "own:merged";
/// Minimum number of new messages after which the segments are merged again.
const MERGE_AFTER: i64 = 2_000;
/// Share of new messages from which on the segments are merged again: one in four. Each time all of them are rewritten.
const MERGE_SHARE: i64 = 4;

/// Maximum number of messages in a batch, if they are short. The larger a batch, the fewer words are looked up twice.
const BATCH: usize = 250;
/// Batch size from which on automatic merging of the indexes is off.
const LARGE_BATCH: usize = 32;
/// Age of a step after which no batch is started, so that the step ends in time.
const BEGIN: Duration = Duration::from_millis(10);

/// Table of messages to index again, and the trigger that records changes by foreign writers.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS hx_again (id INTEGER PRIMARY KEY);
CREATE TRIGGER IF NOT EXISTS hx_message_edited AFTER UPDATE OF content, tool_name, tool_calls ON messages BEGIN
    INSERT OR IGNORE INTO hx_again (id) VALUES (new.id);
END;
";

/// Creates the tables.
pub(super) fn lay_ground(database: &Database) -> Result<(), Failure> {
    database.execute_batch(vocabulary::TABLES)?;
    Ok(database.execute_batch(TABLES)?)
}

/// Records a message that was inserted below the watermark.
pub(super) fn again(database: &Database, id: i64) -> Result<(), Failure> {
    if watermark(database)?.is_some_and(|edge| id <= edge) {
        database.prepare_cached("INSERT OR IGNORE INTO hx_again (id) VALUES (?)")?.execute([id])?;
    }
    Ok(())
}

fn watermark(database: &Database) -> Result<Option<i64>, Failure> {
    stored(database, KEY)
}

fn stored(database: &Database, key: &str) -> Result<Option<i64>, Failure> {
    let value: Option<String> = database
        .prepare_cached("SELECT value FROM hx_state WHERE key = ?")?
        .query_row([key], |row| row.get(0))
        .optional()?;
    Ok(value.and_then(|text| text.parse().ok()))
}

fn store(database: &Database, key: &str, edge: i64) -> Result<(), Failure> {
    database
        .prepare_cached("INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, ?)")?
        .execute(params![key, edge.to_string()])?;
    Ok(())
}

/// Makes the next steps rebuild the indexes from empty.
pub(super) fn restart(database: &Database) -> Result<(), Failure> {
    for key in [KEY, MERGED] {
        database.prepare_cached("DELETE FROM hx_state WHERE key = ?")?.execute([key])?;
    }
    database.execute_batch("DELETE FROM hx_again")?;
    set_emptying(database, TO_SET_ASIDE)
}

fn emptying(database: &Database) -> Result<Option<String>, Failure> {
    Ok(database
        .prepare_cached("SELECT value FROM hx_state WHERE key = ?")?
        .query_row([EMPTYING], |row| row.get(0))
        .optional()?)
}

/// Returns whether the indexes are to be emptied, or are being emptied.
pub(super) fn is_emptying(database: &Database) -> Result<bool, Failure> {
    Ok(emptying(database)?.is_some())
}

fn set_emptying(database: &Database, state: &str) -> Result<(), Failure> {
    database
        .prepare_cached("INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, ?)")?
        .execute([EMPTYING, state])?;
    Ok(())
}

/// Empties the indexes one more step, for a caller that is about to drop them. Returns whether there is more to do. If
/// this is interrupted, the next process that runs upkeep fills them again.
pub(crate) fn empty_step(database: &Database) -> Result<bool, Failure> {
    if !is_emptying(database)? {
        if watermark(database)?.is_none() {
            return Ok(false);
        }
        restart(database)?;
    }
    empty(database, Instant::now())
}

/// Empties the indexes one more step. Returns whether there is more to do.
fn empty(database: &Database, start: Instant) -> Result<bool, Failure> {
    while let Some(state) = emptying(database)? {
        while vocabulary::clear_step(database).map_err(health::elsewhere)? {
            if start.elapsed() > STEP {
                return Ok(true);
            }
        }
        if state == SET_ASIDE {
            database.prepare_cached("DELETE FROM hx_state WHERE key = ?")?.execute([EMPTYING])?;
        } else {
            vocabulary::set_aside(database).map_err(health::elsewhere)?;
            set_emptying(database, SET_ASIDE)?;
        }
    }
    Ok(false)
}

/// Indexes some more messages. Returns whether there are more.
pub(super) fn fill(database: &Database, start: Instant, merging: &mut Merging<'_>) -> Result<bool, Failure> {
    if empty(database, start)? {
        return Ok(true);
    }
    loop {
        if start.elapsed() > BEGIN {
            return Ok(true);
        }
        let again = read(database, &AGAIN, i64::MIN).map_err(health::elsewhere)?;
        if again.is_empty() {
            break;
        }
        add(database, &again)?;
        let mut done = database.prepare_cached("DELETE FROM hx_again WHERE id = ?")?;
        for message in &again {
            done.execute([message.id])?;
        }
    }
    // Entries of deleted messages are left over.
    database.prepare_cached("DELETE FROM hx_again")?.execute([])?;
    let mut edge = watermark(database)?.unwrap_or(i64::MIN);
    // Messages that were added while a trigger was missing are in no index, and the trigger may exist again.
    let is_seen_to = database.layout().has_no_triggers() || health::is_ours(database)?;
    let first = edge;
    loop {
        if start.elapsed() > BEGIN {
            return Ok(true);
        }
        let next = read(database, &NEXT, edge).map_err(health::elsewhere)?;
        let Some(last) = next.last() else {
            // FTS5 buffers the rows that this step added until the commit, so a merge would not include them.
            return Ok(is_merge_due(database, edge)? && (edge > first || merge_segments(database, edge)?));
        };
        if next.len() >= LARGE_BATCH {
            merging.hold()?;
        }
        edge = last.id;
        if is_seen_to {
            for message in &next {
                step::add_everywhere(database, &step::Text::of(message.id, message.whole.clone()))?;
            }
        }
        add(database, &next)?;
        store(database, KEY, edge)?;
    }
}

/// Returns whether so many messages were added since the segments were last merged that it pays to merge them.
fn is_merge_due(database: &Database, edge: i64) -> Result<bool, Failure> {
    let merged = stored(database, MERGED)?.unwrap_or(0);
    Ok(edge.saturating_sub(merged) >= MERGE_AFTER.max(merged / MERGE_SHARE))
}

/// Merges some more pages of the segments into one. Returns whether there is more to do.
///
/// A search looks up each of its words in each segment, and these indexes are small.
fn merge_segments(database: &Database, edge: i64) -> Result<bool, Failure> {
    if super::merge::into_one(database, vocabulary::INDEXES)? {
        return Ok(true);
    }
    store(database, MERGED, edge)?;
    Ok(false)
}

/// Returns the messages that should be indexed but are not, judged by the stored lengths.
pub(crate) fn lacking(database: &Database) -> Result<Vec<i64>, Failure> {
    let Some(edge) = watermark(database)? else { return Ok(Vec::new()) };
    let lengths = vocabulary::Lengths::load(database)?;
    let mut statement = database.prepare(
        "SELECT id FROM messages NOT INDEXED WHERE id <= ? AND id NOT IN (SELECT id FROM hx_again) ORDER BY id",
    )?;
    let mut rows = statement.query([edge])?;
    let mut lacking = Vec::new();
    while let Some(row) = rows.next()? {
        let id = row.get(0)?;
        if lengths.get(id).is_none() && !super::pending::is_noted(database, id)? {
            lacking.push(id);
        }
    }
    Ok(lacking)
}

/// Returns the messages that some index does not have yet, unordered and possibly twice.
pub(crate) fn unindexed(database: &Database) -> Result<Vec<i64>, Failure> {
    let mut statement = database.prepare_cached(
        "SELECT m.id FROM hx_pending p CROSS JOIN messages m ON m.id BETWEEN p.first AND p.last \
         UNION ALL SELECT id FROM messages WHERE id > ?1 UNION ALL SELECT id FROM hx_again",
    )?;
    let edge = watermark(database)?.unwrap_or(i64::MIN);
    let ids = statement.query_map([edge], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(ids)
}

/// Returns how many messages are not indexed yet.
pub(crate) fn backlog(database: &Database) -> Result<u64, Failure> {
    let count: i64 = database
        .prepare_cached("SELECT (SELECT count(*) FROM messages WHERE id > ?) + (SELECT count(*) FROM hx_again)")?
        .query_row([watermark(database)?.unwrap_or(i64::MIN)], |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// Removes messages from the indexes, before they are deleted.
///
/// A message that was changed after it was indexed stays: removing it takes the text that was indexed, and any other
/// text would damage the index. While the indexes are being emptied nothing has to be removed.
pub(super) fn remove(database: &Database, messages: &[i64]) -> Result<(), Failure> {
    if is_emptying(database)? {
        return Ok(());
    }
    let mut statement = database.prepare_cached(&UNCHANGED)?;
    let mut gone = Vec::with_capacity(messages.len());
    for id in messages {
        gone.extend(statement.query_row([id], Stored::new).optional()?);
    }
    with_documents(&gone, |documents| vocabulary::remove(database, documents))
}

fn add(database: &Database, messages: &[Stored]) -> Result<(), Failure> {
    with_documents(messages, |documents| vocabulary::add(database, documents))
}

static COLUMNS: LazyLock<String> =
    LazyLock::new(|| format!("SELECT m.id, {}, m.content, m.tool_name, m.tool_calls FROM", text("m")));
static NEXT: LazyLock<String> =
    LazyLock::new(|| format!("{} messages m WHERE m.id > ? ORDER BY m.id LIMIT {BATCH}", *COLUMNS));
// CROSS JOIN: the list is nearly always empty, which SQLite can't know; it would scan the messages.
static AGAIN: LazyLock<String> = LazyLock::new(|| {
    format!("{} hx_again a CROSS JOIN messages m ON m.id = a.id WHERE a.id > ? ORDER BY a.id LIMIT {BATCH}", *COLUMNS)
});
static UNCHANGED: LazyLock<String> = LazyLock::new(|| {
    format!("{} messages m WHERE m.id = ?1 AND NOT EXISTS (SELECT 1 FROM hx_again WHERE id = ?1)", *COLUMNS)
});

/// The stored columns of a message.
struct Stored {
    id: i64,
    whole: Vec<u8>,
    content: Option<String>,
    tool_name: Option<String>,
    tool_calls: Option<String>,
}

impl Stored {
    fn new(row: &rusqlite::Row<'_>) -> Result<Self, rusqlite::Error> {
        let whole = match row.get_ref(1)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.to_vec(),
            _ => Vec::new(),
        };
        let text = |index| crate::calls::row::text(row, index);
        Ok(Self { id: row.get(0)?, whole, content: text(2)?, tool_name: text(3)?, tool_calls: text(4)? })
    }
}

fn read(database: &Database, sql: &str, edge: i64) -> Result<Vec<Stored>, Failure> {
    let mut statement = database.prepare_cached(sql)?;
    let mut rows = statement.query_map([edge], Stored::new)?;
    Ok(step::some(&mut rows, BATCH, |message| message.whole.len())?)
}

fn with_documents(
    messages: &[Stored],
    work: impl FnOnce(&[Document<'_>]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let decoded: Vec<_> = messages
        .iter()
        .map(|message| {
            vocabulary::decoded(message.content.as_deref(), message.tool_name.as_deref(), message.tool_calls.as_deref())
        })
        .collect();
    let documents: Vec<Document<'_>> = messages
        .iter()
        .zip(&decoded)
        .map(|(message, decoded)| Document { id: message.id, stored: &message.whole, decoded })
        .collect();
    work(&documents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteOptions;
    use crate::open::connection::open_writer;
    use std::ops::ControlFlow;

    /// Makes a file with one session.
    fn file() -> (tempfile::TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let opened = open_writer(&folder.path().join("state.db"), &SqliteOptions::default()).unwrap();
        let database = opened.writer.unwrap();
        database.execute_batch("INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0)").unwrap();
        (folder, database)
    }

    /// Adds a message like a foreign writer. Returns its id.
    fn say(database: &Database, text: &str) -> i64 {
        let sql = "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', ?, 2.0)";
        database.execute(sql, [text]).unwrap();
        database.last_insert_rowid()
    }

    fn words(database: &Database, piece: &str) -> Vec<String> {
        vocabulary::terms_containing(database, piece, 10, |_| true).unwrap().terms
    }

    fn with(database: &Database, text: &str) -> Vec<i64> {
        let mut found = Vec::new();
        vocabulary::Pairs::of(text)
            .unwrap()
            .candidates(database, None, |id| {
                found.push(id);
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
        found
    }

    fn settle(database: &Database) {
        while fill(database, Instant::now(), &mut Merging::by_itself(database)).unwrap() {}
    }

    #[test]
    fn what_others_add_change_and_take_away_is_followed() {
        let (_folder, database) = file();
        let (first, second) = (say(&database, "the quick 大别山"), say(&database, "lazy 项目"));
        settle(&database);
        assert_eq!(words(&database, "uic"), ["quick"]);
        assert_eq!((with(&database, "别山"), with(&database, "项")), (vec![first], vec![second]));
        assert!(lacking(&database).unwrap().is_empty() && backlog(&database).unwrap() == 0);
        database.execute("UPDATE messages SET content = 'sleepy 汉字' WHERE id = ?", [second]).unwrap();
        assert_eq!(backlog(&database).unwrap(), 1);
        settle(&database);
        assert_eq!((words(&database, "leep"), with(&database, "汉字")), (vec!["sleepy".to_owned()], vec![second]));
        remove(&database, &[first]).unwrap();
        assert_eq!(with(&database, "别山"), Vec::<i64>::new());
        assert_eq!(lacking(&database).unwrap(), [first]);
    }

    #[test]
    fn a_message_below_the_watermark_is_looked_at_again() {
        let (_folder, database) = file();
        say(&database, "one");
        database.execute("UPDATE messages SET id = 100", []).unwrap();
        settle(&database);
        database
            .execute_batch("INSERT INTO messages (id, session_id, role, content, timestamp) VALUES (7, 'a', 'user', 'late 汉字', 2.0)")
            .unwrap();
        again(&database, 7).unwrap();
        settle(&database);
        assert_eq!((words(&database, "late"), with(&database, "汉字")), (vec!["late".to_owned()], vec![7]));
    }

    #[test]
    fn segments_are_merged_into_one_once_many_messages_are_new() {
        let (_folder, database) = file();
        let segments = |table: &str| -> i64 {
            let sql = format!("SELECT count(DISTINCT segid) FROM {table}_idx");
            database.query_row(&sql, [], |row| row.get(0)).unwrap()
        };
        database.execute_batch("BEGIN").unwrap();
        let last = (0..MERGE_AFTER).map(|number| say(&database, &format!("汉字 word{number}"))).last().unwrap();
        database.execute_batch("COMMIT").unwrap();
        settle(&database);
        assert_eq!(vocabulary::INDEXES.map(segments), [1, 1]);
        assert_eq!(stored(&database, MERGED).unwrap(), Some(last));
        assert_eq!((with(&database, "汉字").len(), words(&database, "ord1999").len()), (2_000, 1));
        say(&database, "别山 more");
        settle(&database);
        assert_eq!(stored(&database, MERGED).unwrap(), Some(last), "one message is too few");
        assert_eq!(segments("hx_cjk"), 2);
    }

    #[test]
    fn they_are_rebuilt_from_nothing() {
        let (_folder, database) = file();
        let only = say(&database, "汉字 word");
        settle(&database);
        database.execute_batch("DELETE FROM hx_term; DELETE FROM hx_doclen;").unwrap();
        assert_eq!(lacking(&database).unwrap(), [only]);
        restart(&database).unwrap();
        settle(&database);
        assert_eq!((words(&database, "wor"), with(&database, "汉字")), (vec!["word".to_owned()], vec![only]));
        assert!(lacking(&database).unwrap().is_empty());
    }
}
