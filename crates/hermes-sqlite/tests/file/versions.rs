//! Files of every schema from 1 to 10, made from the table of versions, brought into use.

use crate::fixture::{File, at, id, shown, user};
use hermes_session::{Maintenance as _, MessageRequest, Relation, SessionStore as _};
use rusqlite::Connection;

/// The schema of a version, as the agent had it then: each version adds to the one before.
pub(crate) fn schema(version: i64) -> String {
    let since = |from: i64, columns: &str| if version >= from { columns.to_owned() } else { String::new() };
    let sessions = [
        "id TEXT PRIMARY KEY, source TEXT NOT NULL, user_id TEXT, model TEXT, model_config TEXT, system_prompt TEXT,
         parent_session_id TEXT, started_at REAL NOT NULL, ended_at REAL, end_reason TEXT, message_count INTEGER DEFAULT 0,
         tool_call_count INTEGER DEFAULT 0, input_tokens INTEGER DEFAULT 0, output_tokens INTEGER DEFAULT 0"
            .to_owned(),
        since(3, ", title TEXT"),
        since(
            5,
            ", cache_read_tokens INTEGER DEFAULT 0, cache_write_tokens INTEGER DEFAULT 0, reasoning_tokens INTEGER DEFAULT 0,
             billing_provider TEXT, billing_base_url TEXT, billing_mode TEXT, estimated_cost_usd REAL, actual_cost_usd REAL,
             cost_status TEXT, cost_source TEXT, pricing_version TEXT",
        ),
        since(8, ", api_call_count INTEGER DEFAULT 0"),
    ]
    .concat();
    let messages = [
        "id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL REFERENCES sessions(id), role TEXT NOT NULL, content TEXT,
         tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, token_count INTEGER"
            .to_owned(),
        since(2, ", finish_reason TEXT"),
        since(6, ", reasoning TEXT, reasoning_details TEXT, codex_reasoning_items TEXT"),
        since(7, ", reasoning_content TEXT"),
        since(9, ", codex_message_items TEXT"),
    ]
    .concat();
    let fts = |table: &str, options: &str| {
        format!(
            "CREATE VIRTUAL TABLE {table} USING fts5(content, {options}content=messages, content_rowid=id);
             CREATE TRIGGER {table}_insert AFTER INSERT ON messages BEGIN
                 INSERT INTO {table}(rowid, content) VALUES (new.id, new.content); END;
             CREATE TRIGGER {table}_delete AFTER DELETE ON messages BEGIN
                 INSERT INTO {table}({table}, rowid, content) VALUES('delete', old.id, old.content); END;
             CREATE TRIGGER {table}_update AFTER UPDATE ON messages BEGIN
                 INSERT INTO {table}({table}, rowid, content) VALUES('delete', old.id, old.content);
                 INSERT INTO {table}(rowid, content) VALUES (new.id, new.content); END;"
        )
    };
    format!(
        "CREATE TABLE schema_version (version INTEGER NOT NULL); INSERT INTO schema_version VALUES ({version});
         CREATE TABLE sessions ({sessions}); CREATE TABLE messages ({messages});
         CREATE INDEX idx_sessions_source ON sessions(source);
         CREATE INDEX idx_messages_session ON messages(session_id, timestamp);
         {} {} {}",
        since(4, "CREATE UNIQUE INDEX idx_sessions_title_unique ON sessions(title) WHERE title IS NOT NULL;"),
        fts("messages_fts", ""),
        since(10, &fts("messages_fts_trigram", "tokenize='trigram', ")),
    )
}

/// A compressed conversation, a delegate, and messages in two scripts.
const ROWS: &str = "
    INSERT INTO sessions (id, source, parent_session_id, started_at, ended_at, end_reason) VALUES
        ('old', 'cli', NULL, 1.0, 10.0, 'compression'), ('new', 'cli', 'old', 10.0, NULL, NULL), ('helper', 'cli', 'old', 5.0, NULL, NULL);
    INSERT INTO messages (session_id, role, content, timestamp) VALUES
        ('old', 'user', 'the quick fox', 2.0), ('new', 'user', '大别山项目', 12.0), ('new', 'assistant', 'lazy dog', 13.0);";

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
        // The second time nothing is left to do or to tell.
        let again = file.open();
        assert_eq!(again.notices(), Vec::<String>::new());
        assert_eq!(again.messages(&id("new"), &MessageRequest::first(9)).await.unwrap().len(), 3);
    }
}

#[tokio::test]
async fn titles_that_two_sessions_share_are_kept_apart_and_told() {
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
        notices.contains("session a is now called \"plan #4\"") && notices.contains("session e has no title now"),
        "{notices}"
    );
}

#[tokio::test]
async fn versions_that_are_missing_or_doubled_are_told_by_shape() {
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

#[tokio::test]
async fn what_is_missing_of_the_indexes_of_schema_11_is_made_and_filled() {
    for (damage, told) in [
        ("DROP TABLE messages_fts", true),
        ("DROP TRIGGER messages_fts_trigram_insert", true),
        ("DROP INDEX idx_sessions_parent", false),
        ("DELETE FROM schema_version", false),
    ] {
        let file = crate::adoption::agents_file(ROWS);
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
