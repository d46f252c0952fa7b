//! An index that is broken makes room for a new one at once: messages are the truth, and nothing that is derived from them may keep one
//! from being written.

use super::{INDEXES, Layout, drop_triggers, own, rebuild};
use crate::care::verify;
use crate::error::Failure;
use crate::open::schema;
use crate::write::database::{Card, Database};
use rusqlite::ErrorCode;
use tracing::warn;

/// Where health is kept; the same table as among the side tables, which may come later.
pub(super) const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS hx_state (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID";

/// Does `work` in the transaction that is open. What is missing of the indexes is made first.
///
/// If it fails in an index, the transaction is given up as a whole and the indexes are [blamed](Database::blame): whoever calls this
/// again, in another one, gets new indexes first. FTS5 would go on failing in the same: it keeps in hand what it could not put on disk. The same
/// goes for what was put aside and can't be cleared away: once SQLite has met damage, it writes nothing more in that transaction. If it fails
/// again in the same, or new indexes can't be made, that is the caller's to tell.
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
        super::mend(database, true)?;
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

/// Has FTS5 put on disk what it has in hand, as it does at a savepoint: else it would fail in the commit, and nobody would know why.
fn settle(database: &Database) -> Result<(), Failure> {
    database.prepare_cached("SAVEPOINT settled")?.execute([])?;
    database.prepare_cached("RELEASE settled")?.execute([])?;
    Ok(())
}

/// Whether a statement may have failed because of an index.
pub(crate) fn is_to_blame_for(failure: &Failure) -> bool {
    let Failure::Sqlite(error) = failure else { return false };
    let text = error.to_string();
    let is_damaged = error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt);
    // Also where only a part of an index is gone: "no such table: main.messages_fts_docsize".
    let is_part = ["messages_fts", "hx_"].iter().any(|name| text.contains(name));
    // So damaged that it can't be opened: "vtable constructor failed: messages_fts".
    let is_lost = ["no such", "constructor failed"].iter().any(|what| text.contains(what)) && is_part;
    is_damaged || is_lost || text.contains("no such module") || text.contains("fts5")
}

fn is_damage(failure: &Failure) -> bool {
    matches!(failure, Failure::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt))
}

/// Returns whether SQLite's own check finds the index of lists damaged. Only for a write that met damage: it reads all sessions.
fn is_card_damaged(database: &Database) -> bool {
    let is_card =
        |(object, what): &(String, String)| [object, what].iter().any(|text| text.contains("hx_sessions_card"));
    verify::about_table(database, "sessions").is_ok_and(|problems| problems.iter().any(is_card))
}

/// Whether SQLite only says that something failed, as it does of what FTS5 meets at a savepoint.
fn is_unspecific(failure: &Failure) -> bool {
    matches!(failure, Failure::Sqlite(error) if error.sqlite_error_code() == Some(ErrorCode::Unknown))
}

/// Says of a failure that the indexes in use have nothing to do with it: to make them anew would not help, and would be done again and
/// again.
pub(crate) fn elsewhere(failure: Failure) -> Failure {
    match failure {
        Failure::Sqlite(error) => Failure::Elsewhere(error),
        other => other,
    }
}

/// Puts empty indexes in the place of those that there are, whatever state they are in, and notes every message to be indexed. From then on
/// everybody goes on as ever, and finds what is indexed by then. What was there is cleared away bit by bit. Where the indexes are not ours
/// to change, or that fails, they stay as they are: much can be written without them.
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
    // How far new ones are is kept there.
    database.execute_batch(TABLE)?;
    let has_triggers = !Layout::of(database)?.has_no_triggers();
    // Which of them it was is not told: all that a write goes through is made anew.
    INDEXES.into_iter().try_for_each(|index| drop_triggers(database, index))?;
    rebuild::abandon(database)?;
    super::abandon_agents(database)?;
    INDEXES.into_iter().try_for_each(|index| rebuild::put_aside(database, index, index.table()))?;
    super::create(database)?;
    // An agent without FTS5 has taken them away, because it can't write with them.
    for index in INDEXES.into_iter().filter(|_| !has_triggers) {
        drop_triggers(database, index)?;
    }
    own::restart(database)?;
    Ok(database.refresh()?)
}

/// Whether the triggers of the indexes are ours to change: the agent's schema is one that we have made or adopted, or they were made by us.
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
        // This one shows when it is put on disk.
        "DROP TABLE messages_fts_idx",
        "UPDATE messages_fts_data SET block = x'0000000000010203' WHERE id = 10",
        "DELETE FROM messages_fts_data; DELETE FROM messages_fts_config",
        // A view that is broken is nobody's business.
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
