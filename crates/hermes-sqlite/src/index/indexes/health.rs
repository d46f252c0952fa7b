//! Replaces a damaged index by a new one at once. Messages are the truth, and data derived from them must not keep one
//! from being written.

use super::{INDEXES, Layout, drop_triggers, own, rebuild};
use crate::care::verify;
use crate::error::Failure;
use crate::open::schema;
use crate::write::database::{Card, Database};
use rusqlite::ErrorCode;
use tracing::warn;

/// The table in which the state of the indexes is stored. It is also one of the side tables, which may be created
/// later.
pub(super) const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS hx_state (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID";

/// Runs `work` in the open transaction, after creating missing parts of the indexes.
///
/// If `work` fails because of an index, the whole transaction is rolled back and the indexes are
/// [blamed](Database::blame): the next call, in another transaction, creates new indexes first. Retrying in the same
/// transaction would fail again, because FTS5 keeps buffered what it could not write. The same applies to discarded
/// tables that can't be cleared: once SQLite has met damage, it writes nothing more in that transaction. If the next
/// call fails the same way, or new indexes can't be created, the error is returned to the caller.
pub(crate) fn despite_indexes<T>(
    database: &Database,
    mut work: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut blame = database.give_up();
    let removed = schema::remove_card(database, blame.card);
    let is_removed = removed.is_ok();
    if is_removed && blame.indexes {
        renew(database)?;
    }
    if is_removed && database.layout().is_torn() && is_ours(database)? {
        super::create_missing(database, true)?;
    }
    let outcome = removed.and_then(|()| work()).map(|done| (done, settle(database)));
    let (failure, is_to_blame) = match outcome {
        Ok((done, Ok(()))) => return Ok(done),
        Ok((_, Err(failure))) => (failure, true),
        Err(failure) => (failure, false),
    };
    let is_to_blame = is_to_blame && is_unspecific(&failure) || is_to_blame_for(&failure);
    let next_card = match blame.card {
        Card::Kept if is_damage(&failure) && is_card_damaged(database) => Some(Card::Dropped),
        Card::Dropped if !is_removed && is_damage(&failure) => Some(Card::Forgotten),
        _ => None,
    };
    let error = failure.code();
    match &failure {
        _ if next_card.is_some() => blame.card = next_card.unwrap_or_default(),
        Failure::Leftover { table, .. } if !blame.leftovers.contains(table) => blame.leftovers.push(table.clone()),
        _ if is_to_blame && !blame.indexes && is_ours(database)? => blame.indexes = true,
        _ => return Err(failure),
    }
    warn!(error, indexes = blame.indexes, leftovers = ?blame.leftovers, "search index damaged; the write is retried without it");
    if !database.is_autocommit() {
        database.execute_batch("ROLLBACK")?;
        database.blame(blame);
    }
    Err(failure)
}

/// Makes FTS5 write its buffered data, as it does at a savepoint. Otherwise it would fail in the commit, with an
/// unspecific error.
fn settle(database: &Database) -> Result<(), Failure> {
    database.prepare_cached("SAVEPOINT settled")?.execute([])?;
    database.prepare_cached("RELEASE settled")?.execute([])?;
    Ok(())
}

/// Returns whether a statement may have failed because of an index.
pub(crate) fn is_to_blame_for(failure: &Failure) -> bool {
    let Failure::Sqlite(error) = failure else { return false };
    let text = error.to_string();
    let is_damaged = error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt);
    // Also matches if only a part of an index is missing: "no such table: main.messages_fts_docsize".
    let is_part = ["messages_fts", "hx_"].iter().any(|name| text.contains(name));
    // Also matches an index too damaged to be opened: "vtable constructor failed: messages_fts".
    let is_lost = ["no such", "constructor failed"].iter().any(|what| text.contains(what)) && is_part;
    is_damaged || is_lost || text.contains("no such module") || text.contains("fts5")
}

fn is_damage(failure: &Failure) -> bool {
    matches!(failure, Failure::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt))
}

/// Returns whether SQLite's own check finds the index of lists damaged. Only for a write that met damage: it reads all
/// sessions.
fn is_card_damaged(database: &Database) -> bool {
    let is_card =
        |(object, what): &(String, String)| [object, what].iter().any(|text| text.contains("hx_sessions_card"));
    verify::about_table(database, "sessions").is_ok_and(|problems| problems.iter().any(is_card))
}

/// Returns whether SQLite reports only an unspecific error, as it does for errors of FTS5 at a savepoint.
fn is_unspecific(failure: &Failure) -> bool {
    matches!(failure, Failure::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown))
}

/// Marks a failure as not caused by the indexes in use. Rebuilding them would not help, and would be repeated forever.
pub(crate) fn elsewhere(failure: Failure) -> Failure {
    match failure {
        Failure::Sqlite(error) => Failure::Elsewhere(error),
        other => other,
    }
}

/// Replaces the indexes by empty ones, whatever state they are in, and puts every message into the backlog. From then
/// on writes work again, and searches find what is indexed so far. The old indexes are cleared in steps. If the indexes
/// are not ours to change, or replacing fails, they stay: most writes work without them.
fn renew(database: &Database) -> Result<(), Failure> {
    if !is_ours(database)? {
        return Ok(());
    }
    database.execute_batch("SAVEPOINT renew")?;
    if let Err(failure) = put_new(database) {
        warn!(error = failure.code(), "damaged search indexes not replaced");
        database.execute_batch("ROLLBACK TO renew")?;
    }
    Ok(database.execute_batch("RELEASE renew")?)
}

fn put_new(database: &Database) -> Result<(), Failure> {
    // The watermark of a rebuild is stored there.
    database.execute_batch(TABLE)?;
    let has_triggers = !Layout::of(database)?.has_no_triggers();
    // Which index is damaged is unknown, so everything that a write uses is replaced.
    INDEXES.into_iter().try_for_each(|index| drop_triggers(database, index))?;
    rebuild::abandon(database)?;
    super::abandon_agents(database)?;
    INDEXES.into_iter().try_for_each(|index| rebuild::put_aside(database, index, index.table()))?;
    super::create(database)?;
    // An agent without FTS5 has dropped the triggers, because it can't write with them; they are not created again.
    for index in INDEXES.into_iter().filter(|_| !has_triggers) {
        drop_triggers(database, index)?;
    }
    own::restart(database)?;
    Ok(database.refresh()?)
}

/// Returns whether the triggers of the indexes are ours to change: we created or adopted the agent's schema, or we made
/// the indexes.
pub(crate) fn is_ours(database: &Database) -> Result<bool, Failure> {
    let adopted = schema::version(database)?.is_none_or(|version| version <= schema::VERSION);
    Ok(adopted || Layout::of(database)?.is_made_by_us())
}

#[cfg(test)]
mod tests {
    use super::super::Index;
    use super::*;
    use crate::SqliteOptions;
    use crate::open::connection::open_writer;

    const DAMAGES: [&str; 8] = [
        "DROP TABLE messages_fts_docsize",
        "DROP TABLE messages_fts_trigram_docsize",
        "DROP TABLE messages_fts_trigram_data",
        "DROP TABLE messages_fts_config",
        // This damage shows only when FTS5 writes its buffer.
        "DROP TABLE messages_fts_idx",
        "UPDATE messages_fts_data SET block = x'0000000000010203' WHERE id = 10",
        "DELETE FROM messages_fts_data; DELETE FROM messages_fts_config",
        // An unrelated broken view must not matter.
        "DROP TABLE messages_fts_docsize; CREATE VIEW theirs AS SELECT gone FROM sessions",
    ];

    #[test]
    fn new_ones_take_the_place_of_what_is_broken() {
        for damage in DAMAGES {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("state.db");
            let database = open_writer(&path, &SqliteOptions::default()).unwrap().writer.unwrap();
            database
                .execute_batch(
                    "INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0);
                     INSERT INTO messages (session_id, role, content, timestamp) VALUES
                         ('a', 'user', '大别山项目', 2.0), ('a', 'user', '汉字汉 words', 3.0);",
                )
                .unwrap();
            drop(database);
            let database = open_writer(&path, &SqliteOptions::default()).unwrap().writer.unwrap();
            database.execute_batch(&format!("{damage}; BEGIN")).unwrap();
            database.refresh().unwrap();
            let delete = || Ok(database.execute("DELETE FROM messages WHERE id = 1", [])?);
            despite_indexes(&database, delete).expect_err(damage);
            assert!(database.is_autocommit() && database.has_blame(), "{damage}");
            database.execute_batch("BEGIN").unwrap();
            assert_eq!(despite_indexes(&database, delete).unwrap(), 1, "{damage}");
            assert!(!database.is_autocommit() && !database.has_blame(), "{damage}");
            let found = |table: &str, text: &str| {
                let sql = format!("SELECT count(*) FROM {table} WHERE {table} MATCH ?");
                database
                    .query_row(&sql, [text], |row| row.get::<_, i64>(0))
                    .unwrap_or_else(|error| panic!("{damage}: {error}"))
            };
            assert_eq!((found("messages_fts", "words"), super::super::backlog(&database).unwrap()), (0, 1), "{damage}");
            while super::super::fill(&database).unwrap() {}
            assert_eq!((found("messages_fts", "words"), found("messages_fts_trigram", "汉字汉")), (1, 1), "{damage}");
            while super::super::heal(&database).unwrap() {}
            database.execute_batch("COMMIT").unwrap();
            for table in INDEXES.map(Index::table) {
                let check = format!("INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)");
                database.execute_batch(&check).unwrap_or_else(|error| panic!("{damage}: {error}"));
            }
            let left = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'hx_replaced*'";
            assert_eq!(database.query_row(left, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "{damage}");
        }
    }

    #[test]
    fn what_fails_elsewhere_is_not_put_down_to_the_indexes() {
        let damaged = || {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
            Failure::Sqlite(rusqlite::Error::SqliteFailure(code, None))
        };
        assert!(is_to_blame_for(&damaged()));
        assert!(!is_to_blame_for(&elsewhere(damaged())));
    }
}
