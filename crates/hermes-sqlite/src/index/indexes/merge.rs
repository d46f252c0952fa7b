//! When the pieces of an index are merged.
//!
//! FTS5 keeps an index in pieces, and merges some of them whenever 64 more pages were written: several hundred pages at once then, in each
//! index, which takes longer than all the rest of a step. So a step that writes much has FTS5 wait, and merges for as long as it may by
//! itself. Nobody else meets that: the setting is as it was when the step commits.

use super::{INDEXES, Index, health, nul, own, rebuild};
use crate::error::Failure;
use crate::index::vocabulary;
use crate::write::database::Database;
use rusqlite::{OptionalExtension as _, params};
use std::time::{Duration, Instant};

/// How long a step merges, all indexes together.
const SLICE: Duration = Duration::from_millis(15);
/// After so long a step merges nothing more: a long message has taken its time.
const STEP: Duration = Duration::from_millis(50);
/// How long while an index has too many new pieces.
const LONGEST: Duration = Duration::from_millis(30);
/// So many new pieces are too many: once there are 16, FTS5 merges all of them, however long that takes.
const CROWD: u64 = 10;
/// How many pages are merged between two looks at the clock.
const PAGES: i64 = 32;
/// How many pieces of a size we merge into one. With more than FTS5's four every page is written less often, and a search has a few more
/// pieces to look into.
const TOGETHER: i64 = 8;
/// From how many on FTS5 merges by itself, where nobody has said anything else.
const USUAL: i64 = 4;
/// Under this id an index keeps the list of its pieces.
const PIECES: i64 = 10;

/// The merging of the indexes that a step writes to. If the step fails it is taken back, and with it what is changed here.
pub(crate) struct Merging<'a> {
    database: &'a Database,
    /// The indexes that wait, and the setting that they go back to.
    held: Vec<(&'static str, i64)>,
    /// When the step began.
    began: Instant,
}

impl<'a> Merging<'a> {
    /// As FTS5 goes about it, which is best for a step that writes little.
    pub(crate) fn by_itself(database: &'a Database) -> Self {
        Self { database, held: Vec::new(), began: Instant::now() }
    }

    /// Lets all indexes wait until [`end`](Self::end). Those that are not ours to change go on as ever.
    pub(crate) fn hold(&mut self) -> Result<(), Failure> {
        if !self.held.is_empty() {
            return Ok(());
        }
        let (is_ours, has_own) = (health::is_ours(self.database)?, !own::is_emptying(self.database)?);
        let agents = INDEXES.map(Index::table).into_iter().filter(|_| is_ours);
        // What waits to be emptied may be broken, and nobody writes to it.
        let own = vocabulary::INDEXES.into_iter().filter(|_| has_own);
        self.hold_these(agents.chain(rebuild::BUILT).chain(own))
    }

    /// The same for these indexes only, as far as they are there.
    pub(super) fn hold_these(&mut self, tables: impl IntoIterator<Item = &'static str>) -> Result<(), Failure> {
        let mut exists =
            self.database.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")?;
        for table in tables {
            if !exists.exists([table])? {
                continue;
            }
            let usual = self.setting(table, "automerge")?.unwrap_or(USUAL);
            // This one stays: it is asked for by nobody but us.
            if self.setting(table, "usermerge")? != Some(TOGETHER) {
                self.tell(table, "usermerge", TOGETHER)?;
            }
            self.tell(table, "automerge", 0)?;
            self.held.push((table, usual));
        }
        Ok(())
    }

    /// Merges some of what was written, and lets FTS5 go on as before.
    pub(crate) fn end(self) -> Result<(), Failure> {
        let mut left: Vec<&str> = self.held.iter().map(|(table, _)| *table).collect();
        for table in &left {
            // What it has in hand becomes a piece like the others.
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
                // The statement itself counts as one.
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

/// How many pieces of an index were never merged, by the list of its pieces; nothing if that is of a form we do not know.
///
/// It is four bytes, then numbers: of how many ages pieces are, and two more about all of them; then for each age, the youngest first, how
/// many are being merged, and how many there are.
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

    /// A file whose indexes are in so many pieces.
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
        // Nor is the former one kept in memory: each of these is enough for FTS5 to look whether there are seven.
        for id in 10..22 {
            let words: String = (0..30_000).map(|n| format!("w{id}x{n} ")).collect();
            database.execute("INSERT INTO messages_fts (rowid, content) VALUES (?, ?)", params![id, words]).unwrap();
        }
        assert!(pieces(&database).unwrap() < 7, "{:?}", pieces(&database));
    }
}
