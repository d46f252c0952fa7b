//! An index that is broken stands aside: messages are the truth, and nothing that is derived from them may keep one from being written.

use super::{EVENTS, INDEXES, Layout, drop_triggers, own, rebuild};
use crate::database::Database;
use crate::error::Failure;
use crate::schema;
use rusqlite::{ErrorCode, OptionalExtension as _};

/// Where health is kept; the same table as among the side tables, which may come later.
pub(super) const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS hx_state (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID";

/// Under this key stands why the indexes are not in use; nothing stands there while they are.
const KEY: &str = "index:broken";
/// Under this key stands why the indexes have to be made anew, though they are in use.
const DOUBT: &str = "index:doubtful";

/// A condition that never holds and that tells a trigger which does nothing.
pub(super) const QUIET: &str = "'hx_quiet' IS NULL";

/// Does `work`; if it fails in a trigger of an index, lets the indexes stand aside and does it once more. What is missing of them is made
/// first.
///
/// To be called within the savepoint `savepoint`, which is taken back before the second try. If that fails as well, the indexes were not
/// to blame, and the caller, who takes back everything, is told the first failure.
pub(crate) fn despite_indexes<T>(
    database: &Database,
    savepoint: &str,
    mut work: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    if database.layout().is_torn() && is_ours(database)? {
        super::mend(database, true)?;
    }
    let failure = match work() {
        Err(failure) if !database.is_autocommit() => failure,
        outcome => return outcome,
    };
    let Some(why) = blame(&failure) else { return Err(failure) };
    database.execute_batch(&format!("ROLLBACK TO {savepoint}"))?;
    match stand_aside(database, &why) {
        Ok(true) => work().map_err(|_| failure),
        Ok(false) | Err(_) => Err(failure),
    }
}

/// Whether a statement may have failed because of an index.
pub(crate) fn blame(failure: &Failure) -> Option<String> {
    let Failure::Sqlite(error) = failure else { return None };
    let text = error.to_string();
    let is_damaged = error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt);
    // Also where only a part of an index is gone: "no such table: main.messages_fts_docsize".
    let is_part = ["messages_fts", "hx_"].iter().any(|name| text.contains(name));
    let is_missing = text.contains("no such") && is_part || text.contains("no such module");
    (is_damaged || is_missing || text.contains("fts5:")).then_some(text)
}

/// Takes the triggers of the indexes out of the way and remembers why; whether that may be done in this file.
///
/// They keep their names: the agent makes missing ones anew, and would index into what is broken.
pub(super) fn stand_aside(database: &Database, why: &str) -> Result<bool, Failure> {
    if !is_ours(database)? {
        return Ok(false);
    }
    for index in INDEXES {
        drop_triggers(database, index)?;
        for event in EVENTS {
            let (table, when) = (index.table(), event.to_uppercase());
            database.execute_batch(&format!(
                "CREATE TRIGGER {table}_{event} AFTER {when} ON messages WHEN {QUIET} BEGIN SELECT 1; END"
            ))?;
        }
    }
    // Which of them it was is not told: all that a write goes through is made anew.
    rebuild::abandon(database)?;
    own::lay_ground(database)?;
    own::restart(database)?;
    database.prepare_cached("INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, ?)")?.execute([KEY, why])?;
    database.refresh()?;
    Ok(true)
}

/// Whether the triggers of the indexes are ours to change: the agent's schema is one that we have made or adopted, or they were made by us.
pub(super) fn is_ours(database: &Database) -> Result<bool, Failure> {
    let adopted = schema::version(database)?.is_none_or(|version| version <= schema::VERSION);
    Ok(adopted || Layout::of(database)?.is_compact())
}

/// Why the indexes are not in use, if they are not.
pub(crate) fn broken(database: &Database) -> Result<Option<String>, Failure> {
    note(database, KEY)
}

/// Whether the indexes have to be made anew.
pub(super) fn is_spoilt(database: &Database) -> Result<bool, Failure> {
    Ok(note(database, KEY)?.is_some() || note(database, DOUBT)?.is_some())
}

fn note(database: &Database, key: &str) -> Result<Option<String>, Failure> {
    Ok(database
        .prepare_cached("SELECT value FROM hx_state WHERE key = ?")?
        .query_row([key], |row| row.get(0))
        .optional()?)
}

/// Notes that the indexes may hold rows that are gone.
pub(super) fn doubt(database: &Database, why: &str) -> Result<(), Failure> {
    database.prepare_cached("INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, ?)")?.execute([DOUBT, why])?;
    Ok(())
}

/// Forgets what was wrong with them.
pub(super) fn mended(database: &Database) -> Result<(), Failure> {
    database.prepare_cached("DELETE FROM hx_state WHERE key IN (?, ?)")?.execute([KEY, DOUBT])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteOptions;
    use crate::connection::open_writer;

    #[test]
    fn what_fails_in_an_index_is_done_without_it() {
        for damage in ["DROP TABLE messages_fts_docsize", "DROP TABLE messages_fts_trigram_data"] {
            let folder = tempfile::tempdir().unwrap();
            let opened = open_writer(&folder.path().join("state.db"), &SqliteOptions::default()).unwrap();
            let database = opened.writer.unwrap();
            database
                .execute_batch(&format!(
                    "INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0);
                     INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', '大别山项目', 2.0);
                     {damage}; BEGIN; SAVEPOINT job;"
                ))
                .unwrap();
            database.refresh().unwrap();
            assert_eq!(broken(&database).unwrap(), None, "{damage}");
            let deleted = despite_indexes(&database, "job", || Ok(database.execute("DELETE FROM messages", [])?));
            assert_eq!(deleted.unwrap(), 1, "{damage}");
            assert!(broken(&database).unwrap().is_some(), "{damage}");
        }
    }
}
