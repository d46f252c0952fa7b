//! Files of every schema from 1 to 10, made from the table of versions, are brought into use.

use crate::fixture::{File, at, id, shown, user};
use crate::old_schema::{ROWS, schema};
use hermes_session::{Maintenance as _, MessageRequest, Relation, SessionStore as _};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;

fn found(connection: &Connection, table: &str, term: &str) -> i64 {
    connection
        .query_row(&format!("SELECT count(*) FROM {table} WHERE {table} MATCH ?"), [term], |row| row.get(0))
        .unwrap()
}

#[tokio::test]
async fn every_old_schema_is_adopted() {
    for version in 1..=10 {
        let file = File::new();
        file.foreign().execute_batch(&schema(version)).unwrap();
        file.foreign().execute_batch(ROWS).unwrap();
        let store = file.open();
        assert_eq!(shown(&store).await, "new(the quick fox)", "schema {version}");
        assert_eq!(store.session(&id("helper")).await.unwrap().unwrap().relation, Relation::Delegate);
        store.append(&id("new"), &[user("one more fox")], &at(20.0)).await.unwrap();
        while store.upkeep().await.unwrap() {}
        let notices = store.notices().join("\n");
        assert!(notices.contains(&format!("state.db.backup-v{version}")), "{notices}");
        assert!(notices.contains("search index"), "{notices}");

        let foreign = file.foreign();
        let versions: Vec<i64> = foreign
            .prepare("SELECT version FROM schema_version")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        assert_eq!(versions, [11]);
        assert_eq!(
            (found(&foreign, "messages_fts", "fox"), found(&foreign, "messages_fts_trigram", "大别山")),
            (2, 1),
            "schema {version}"
        );
        for table in ["messages_fts", "messages_fts_trigram"] {
            foreign.execute(&format!("INSERT INTO {table}({table}) VALUES('integrity-check')"), []).unwrap();
        }
        let copy = Connection::open(file.path().with_file_name(format!("state.db.backup-v{version}"))).unwrap();
        let kept: (i64, i64) = copy
            .query_row("SELECT count(*), (SELECT max(version) FROM schema_version) FROM messages", [], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .unwrap();
        assert_eq!(kept, (3, version), "the copy is the file as it was");
        drop(store);
        // The second time there is nothing to do or to report.
        let again = file.open();
        assert_eq!(again.notices(), Vec::<String>::new());
        assert_eq!(again.messages(&id("new"), &MessageRequest::first(9)).await.unwrap().len(), 3);
    }
}

#[tokio::test]
async fn titles_that_two_sessions_share_are_kept_apart_and_reported() {
    let file = File::new();
    file.foreign().execute_batch(&schema(3)).unwrap();
    file.foreign()
        .execute_batch(
            "INSERT INTO sessions (id, source, started_at, title) VALUES
                 ('a', 'cli', 1.0, 'plan'), ('b', 'cli', 3.0, 'plan'), ('c', 'cli', 2.0, 'plan'), ('d', 'cli', 1.0, 'plan #2'),
                 ('e', 'cli', 1.0, ' '), ('f', 'cli', 2.0, ' ')",
        )
        .unwrap();
    let store = file.open();
    let mut titles = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f"] {
        titles.push(store.session(&id(name)).await.unwrap().unwrap().title);
    }
    let expect = [Some("plan #4"), Some("plan"), Some("plan #3"), Some("plan #2"), None, Some(" ")];
    assert_eq!(titles.iter().map(Option::as_deref).collect::<Vec<_>>(), expect);
    let notices = store.notices().join("\n");
    assert!(
        notices.contains("session a now has the title \"plan #4\"") && notices.contains("session e has no title now"),
        "{notices}"
    );
}

#[tokio::test]
async fn versions_that_are_missing_or_doubled_are_recognised_by_shape() {
    for (rows, changed) in [
        ("DELETE FROM schema_version", 10),
        ("DELETE FROM schema_version", 6),
        ("INSERT INTO schema_version VALUES (6)", 6),
        ("UPDATE schema_version SET version = 'eleven'", 9),
        ("DROP TABLE schema_version", 10),
    ] {
        let file = File::new();
        file.foreign().execute_batch(&schema(changed)).unwrap();
        file.foreign().execute_batch(ROWS).unwrap();
        file.foreign().execute_batch(rows).unwrap();
        let store = file.open();
        while store.upkeep().await.unwrap() {}
        let foreign = file.foreign();
        let count: (i64, i64) = foreign
            .query_row("SELECT count(*), max(version) FROM schema_version", [], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap();
        assert_eq!((count, found(&foreign, "messages_fts", "fox")), ((1, 11), 1), "{rows}");
    }
}

/// The agent reads the first row. If that is stale, the agent repeats data migrations, so opening for writing keeps
/// only the highest.
#[tokio::test]
async fn surplus_version_rows_are_removed_when_a_file_is_opened_for_writing() {
    let versions = |file: &File| -> Vec<i64> {
        let foreign = file.foreign();
        let mut rows = foreign.prepare("SELECT version FROM schema_version ORDER BY rowid").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for newest in [11, 22] {
        let file = crate::inline::agents_file(ROWS);
        // The stale row comes first, where the agent looks.
        let doubled = format!("UPDATE schema_version SET version = 5; INSERT INTO schema_version VALUES ({newest})");
        file.foreign().execute_batch(&doubled).unwrap();
        drop(SqliteStore::open(&file.path(), &SqliteOptions { read_only: true, ..SqliteOptions::default() }).unwrap());
        assert_eq!(versions(&file), [5, newest], "reading changes nothing");
        let store = file.open();
        let notices = store.notices().join("\n");
        assert!(notices.contains(&format!("kept {newest}, removed 5")), "{notices}");
        assert_eq!(versions(&file), [newest], "adopted");
        drop(store);
        file.foreign().execute_batch(&doubled).unwrap();
        let store = file.open();
        assert_eq!(versions(&file), [newest], "in use");
        assert_eq!(store.notices(), [format!("schema_version had several rows; kept {newest}, removed 5")]);
        assert_eq!(store.status().await.unwrap().schema_version, newest);
        drop(store);
        assert_eq!(file.open().notices(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn what_is_missing_of_the_indexes_of_schema_11_is_made_and_filled() {
    for (damage, told) in [
        ("DROP TABLE messages_fts", true),
        ("DROP TRIGGER messages_fts_trigram_insert", true),
        ("DROP INDEX idx_sessions_parent", false),
        ("DELETE FROM schema_version", false),
    ] {
        let file = crate::inline::agents_file(ROWS);
        file.foreign().execute_batch(damage).unwrap();
        file.foreign()
            .execute_batch("INSERT INTO messages (session_id, role, content, timestamp) VALUES ('new', 'user', '全文检索 later', 30.0)")
            .ok();
        let store = file.open();
        assert_eq!(store.notices().join("\n").contains("search index"), told, "{damage}");
        while store.upkeep().await.unwrap() {}
        let foreign = file.foreign();
        assert_eq!(
            (found(&foreign, "messages_fts", "fox"), found(&foreign, "messages_fts_trigram", "大别山")),
            (1, 1),
            "{damage}"
        );
        for table in ["messages_fts", "messages_fts_trigram"] {
            let missing: i64 = foreign
                .query_row(
                    &format!("SELECT count(*) FROM messages WHERE id NOT IN (SELECT id FROM {table}_docsize)"),
                    [],
                    |row| row.get(0),
                )
                .unwrap();
            assert_eq!(missing, 0, "{damage}: {table}");
        }
    }
}
