//! Controls when the segments of an FTS5 index are merged.
//!
//! FTS5 keeps an index in segments, and merges some of them whenever 64 more pages were written. It then merges several
//! hundred pages at once, in each index, which takes longer than the rest of a step. So a step that writes much turns
//! this off, and merges by itself for a bounded time. Other writers do not notice: the setting is restored before the
//! step commits.

use super::{INDEXES, Index, health, nul, own, rebuild};
use crate::error::Failure;
use crate::index::vocabulary;
use crate::write::database::Database;
use rusqlite::{OptionalExtension as _, params};
use std::time::{Duration, Instant};

/// Time that a step spends on merging, for all indexes together.
const SLICE: Duration = Duration::from_millis(15);
/// Age of a step from which on it merges nothing more, because a long message has used up its time.
const STEP: Duration = Duration::from_millis(50);
/// Time that a step spends on merging while an index has too many new segments.
const LONGEST: Duration = Duration::from_millis(30);
/// Number of new segments that is too many: at 16, FTS5 merges all of them, however long that takes.
const CROWD: u64 = 10;
/// How many pages are merged between two checks of the clock.
const PAGES: i64 = 32;
/// How many segments of a level we merge into one. With more than the four of FTS5 every page is rewritten less often,
/// and a search reads a few more segments.
const TOGETHER: i64 = 8;
/// The default of FTS5's `automerge`.
const USUAL: i64 = 4;
/// Row of the `_data` table in which FTS5 keeps the list of segments.
const PIECES: i64 = 10;

/// The merging of the indexes that a step writes to. If the step fails, rolling it back also restores the settings.
pub(crate) struct Merging<'a> {
    database: &'a Database,
    /// The indexes whose `automerge` is off, with the value to restore.
    held: Vec<(&'static str, i64)>,
    /// When the step started.
    began: Instant,
}

impl<'a> Merging<'a> {
    /// Leaves merging to FTS5, which is best for a step that writes little.
    pub(crate) fn by_itself(database: &'a Database) -> Self {
        Self { database, held: Vec::new(), began: Instant::now() }
    }

    /// Turns off automatic merging of all indexes until [`end`](Self::end), except those that are not ours to change.
    pub(crate) fn hold(&mut self) -> Result<(), Failure> {
        if !self.held.is_empty() {
            return Ok(());
        }
        let (is_ours, has_own) = (health::is_ours(self.database)?, !own::is_emptying(self.database)?);
        let agents = INDEXES.map(Index::table).into_iter().filter(|_| is_ours);
        // An index that is being emptied may be damaged, and nothing writes to it.
        let own = vocabulary::INDEXES.into_iter().filter(|_| has_own);
        self.hold_these(agents.chain(rebuild::BUILT).chain(own))
    }

    /// Turns off automatic merging of these indexes, as far as they exist.
    pub(super) fn hold_these(&mut self, tables: impl IntoIterator<Item = &'static str>) -> Result<(), Failure> {
        let mut exists =
            self.database.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")?;
        for table in tables {
            if !exists.exists([table])? {
                continue;
            }
            let usual = self.setting(table, "automerge")?.unwrap_or(USUAL);
            // `usermerge` is not restored: only we use it.
            if self.setting(table, "usermerge")? != Some(TOGETHER) {
                self.tell(table, "usermerge", TOGETHER)?;
            }
            self.tell(table, "automerge", 0)?;
            self.held.push((table, usual));
        }
        Ok(())
    }

    /// Merges some of the new segments, and restores the settings of FTS5.
    pub(crate) fn end(self) -> Result<(), Failure> {
        let mut left: Vec<&str> = self.held.iter().map(|(table, _)| *table).collect();
        for table in &left {
            // Buffered data becomes a segment like the others.
            self.tell(table, "flush", 0)?;
        }
        let (start, slice) = (Instant::now(), SLICE.min(STEP.saturating_sub(self.began.elapsed())));
        while !left.is_empty() && start.elapsed() < LONGEST {
            let is_late = start.elapsed() >= slice;
            let mut more = Vec::new();
            for table in left {
                if is_late && !self.is_crowded(table)? {
                    continue;
                }
                let before = self.database.total_changes();
                self.tell(table, "merge", PAGES)?;
                // The statement itself counts as one change.
                if self.database.total_changes() - before > 1 {
                    more.push(table);
                }
            }
            left = more;
        }
        self.held.iter().try_for_each(|(table, usual)| self.tell(table, "automerge", *usual))
    }

    fn is_crowded(&self, table: &str) -> Result<bool, Failure> {
        let list: Option<Vec<u8>> = self
            .database
            .prepare_cached(&format!("SELECT block FROM {table}_data WHERE id = ?"))?
            .query_row([PIECES], |row| row.get(0))
            .optional()?;
        Ok(list.and_then(|list| new_pieces(&list)).is_some_and(|pieces| pieces >= CROWD))
    }

    fn setting(&self, table: &str, name: &str) -> Result<Option<i64>, Failure> {
        let mut statement = self.database.prepare_cached(&format!("SELECT v FROM {table}_config WHERE k = ?"))?;
        Ok(statement.query_row([name], |row| row.get(0)).optional()?)
    }

    fn tell(&self, table: &str, what: &str, value: i64) -> Result<(), Failure> {
        let sql = format!("INSERT INTO {table}({table}, rank) VALUES (?, ?)");
        self.database.prepare_cached(&sql)?.execute(params![what, value])?;
        Ok(())
    }
}

/// Merges some more pages of indexes, until each has one segment. Returns whether there is more to do.
pub(super) fn into_one(database: &Database, tables: impl IntoIterator<Item = &'static str>) -> Result<bool, Failure> {
    let (start, merging) = (Instant::now(), Merging::by_itself(database));
    for table in tables {
        loop {
            let before = database.total_changes();
            // With a negative number FTS5 merges all segments, however few, and goes on with that at the next call.
            merging.tell(table, "merge", -PAGES)?;
            // The statement itself counts as one change.
            if database.total_changes() - before <= 1 {
                break;
            }
            if start.elapsed() >= SLICE {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Returns how many segments of an index were never merged; `None` if the list of segments has an unknown format.
///
/// The list is four bytes, then varints: the number of levels, and two more about all of them; then for each level, the
/// newest first, the number of segments being merged and the number of segments.
fn new_pieces(list: &[u8]) -> Option<u64> {
    let mut rest = list.get(4..)?;
    let mut numbers = std::iter::from_fn(|| {
        let (number, length) = nul::number(rest)?;
        rest = &rest[length..];
        Some(number)
    });
    let ages = numbers.next()?;
    if ages == 0 { Some(0) } else { numbers.nth(3) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteOptions;
    use crate::open::connection::open_writer;

    /// Makes a file whose word index has this many segments.
    fn file(pieces: i64) -> (tempfile::TempDir, Database) {
        let folder = tempfile::tempdir().unwrap();
        let opened = open_writer(&folder.path().join("state.db"), &SqliteOptions::default()).unwrap();
        let database = opened.writer.unwrap();
        let merging = Merging::by_itself(&database);
        merging.tell("messages_fts", "automerge", 0).unwrap();
        for id in 0..pieces {
            database.execute("INSERT INTO messages_fts (rowid, content) VALUES (?, 'some words')", [id]).unwrap();
        }
        merging.tell("messages_fts", "automerge", 7).unwrap();
        (folder, database)
    }

    fn pieces(database: &Database) -> Option<u64> {
        let list: Vec<u8> =
            database.query_row("SELECT block FROM messages_fts_data WHERE id = 10", [], |row| row.get(0)).unwrap();
        new_pieces(&list)
    }

    #[test]
    fn new_pieces_are_counted_as_fts5_lists_them() {
        for count in [0, 1, 12] {
            assert_eq!(pieces(&file(count).1), Some(count.unsigned_abs()));
        }
        assert_eq!(new_pieces(b""), None);
        assert_eq!(new_pieces(&[0, 0, 0, 0, 1, 0x81]), None);
    }

    #[test]
    fn a_step_merges_by_itself_and_leaves_the_setting_as_it_was() {
        let (_folder, database) = file(CROWD.cast_signed() + 2);
        database.execute_batch("BEGIN").unwrap();
        let mut merging = Merging::by_itself(&database);
        merging.hold().unwrap();
        assert_eq!(merging.setting("messages_fts", "automerge").unwrap(), Some(0));
        assert!(merging.is_crowded("messages_fts").unwrap());
        merging.hold().unwrap();
        merging.end().unwrap();
        database.execute_batch("COMMIT").unwrap();
        let merging = Merging::by_itself(&database);
        assert!(!merging.is_crowded("messages_fts").unwrap());
        assert_eq!(merging.setting("messages_fts", "automerge").unwrap(), Some(7), "what somebody else has said");
        assert_eq!(merging.setting("messages_fts_trigram", "automerge").unwrap(), Some(USUAL));
    }

    #[test]
    fn a_step_that_is_taken_back_changes_no_setting() {
        let (_folder, database) = file(1);
        let mut merging = Merging::by_itself(&database);
        database.execute_batch("BEGIN").unwrap();
        merging.hold().unwrap();
        database.execute_batch("ROLLBACK").unwrap();
        assert_eq!(Merging::by_itself(&database).setting("messages_fts", "automerge").unwrap(), Some(7));
        // The former setting is not cached either: each of these inserts makes FTS5 check whether there are seven
        // segments.
        for id in 10..22 {
            let words: String = (0..30_000).map(|n| format!("w{id}x{n} ")).collect();
            database.execute("INSERT INTO messages_fts (rowid, content) VALUES (?, ?)", params![id, words]).unwrap();
        }
        assert!(pieces(&database).unwrap() < 7, "{:?}", pieces(&database));
    }
}
