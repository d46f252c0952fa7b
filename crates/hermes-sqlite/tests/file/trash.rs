//! The trash of a file: data of agents of other releases is restored, and a killed process loses nothing.

use crate::child::child;
use crate::fixture::{File, at, id, new, shown, user};
use crate::inline::agents_file;
use hermes_session::{
    ConversationStore as _, DeleteExtent, Deleted, Emptying, Maintenance as _, NewMessage, RequestKey,
    SessionStore as _, Timestamp,
};
use hermes_sqlite::SqliteStore;
use rusqlite::Connection;

const MESSAGES: usize = 5_000;

fn later() -> Timestamp {
    Timestamp::from_seconds(1e6).unwrap()
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn hidden(connection: &Connection, state: &str) -> i64 {
    count(connection, &format!("SELECT count(*) FROM hx_hidden WHERE state = '{state}'"))
}

/// Returns every row of a table with the type of every value, in the order of the rows.
fn rows(connection: &Connection, table: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("SELECT * FROM {table} ORDER BY id")).unwrap();
    let width = statement.column_count();
    let row = |row: &rusqlite::Row<'_>| {
        let values: Vec<String> = (0..width).map(|at| format!("{:?}", row.get_ref(at).unwrap())).collect();
        Ok(values.join("|"))
    };
    statement.query_map([], row).unwrap().map(Result::unwrap).collect()
}

/// Makes a session with many messages, and one with none.
async fn fill(store: &SqliteStore) {
    store.create(&new("large"), &at(1.0)).await.unwrap();
    store.create(&new("other"), &at(2.0)).await.unwrap();
    let batch: Vec<NewMessage> = (0..MESSAGES).map(|n| user(&format!("message {n} 大别山"))).collect();
    store.append(&id("large"), &batch, &at(1.0)).await.unwrap();
}

/// Columns of a newer agent are restored with their values and types.
#[tokio::test]
async fn no_column_of_an_agent_is_lost() {
    let file = File::new();
    drop(file.open());
    let foreign = file.foreign();
    foreign
        .execute_batch(
            "ALTER TABLE sessions ADD COLUMN archived INTEGER DEFAULT 0;
             ALTER TABLE sessions ADD COLUMN \"odd \"\"name\" BLOB;
             ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
             ALTER TABLE messages ADD COLUMN extra;
             INSERT INTO sessions (id, source, started_at, title, archived, \"odd \"\"name\") VALUES ('a', 'cli', 1.5, 't', 1, x'00ff');
             INSERT INTO messages (session_id, role, content, timestamp, active, extra) VALUES
                 ('a', 'user', 'one', 2.0, 0, 'text'), ('a', 'user', x'c328', 3, 1, 4.25), ('a', 'tool', NULL, 4.0, 1, x'01');",
        )
        .unwrap();
    let before = (rows(&foreign, "sessions"), rows(&foreign, "messages"));
    let store = file.open();
    let deleted = store.trash_chain(&id("a"), later(), &at(5.0)).await.unwrap();
    assert_eq!(deleted, Deleted { sessions: 1, messages: 3 });
    assert_eq!(count(&foreign, "SELECT (SELECT count(*) FROM sessions) + (SELECT count(*) FROM messages)"), 0);
    store.restore(&id("a"), &at(6.0)).await.unwrap();
    assert_eq!((rows(&foreign, "sessions"), rows(&foreign, "messages")), before);
    assert_eq!(count(&foreign, "SELECT count(*) FROM hx_trash_message"), 0);
    assert!(store.verify().await.unwrap().is_sound());
}

/// Rows of the agent's tables that refer to a session are deleted with it, restored with it, and purged with it.
#[tokio::test]
async fn rows_that_refer_to_a_session_come_back_with_it() {
    let file = File::new();
    drop(file.open());
    let foreign = file.foreign();
    foreign
        .execute_batch(
            "CREATE TABLE session_model_usage (session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE, model TEXT NOT NULL,
                 input_tokens INTEGER NOT NULL DEFAULT 0, cost REAL, PRIMARY KEY (session_id, model));
             CREATE TABLE \"odd notes\" (id INTEGER PRIMARY KEY, of TEXT REFERENCES sessions(id), note BLOB);
             INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0), ('b', 'cli', 1.0);
             INSERT INTO session_model_usage VALUES ('a', 'one', 7, 0.25), ('a', 'two', 8, NULL), ('b', 'one', 9, 0.0);
             INSERT INTO \"odd notes\" VALUES (1, 'a', x'00ff'), (2, 'b', 'of b');",
        )
        .unwrap();
    let all = |table: &str| -> Vec<String> {
        let mut statement = foreign.prepare(&format!("SELECT * FROM {table} ORDER BY 1, 2")).unwrap();
        let width = statement.column_count();
        let row = |row: &rusqlite::Row<'_>| {
            Ok((0..width).map(|at| format!("{:?}", row.get_ref(at).unwrap())).collect::<Vec<_>>().join("|"))
        };
        statement.query_map([], row).unwrap().map(Result::unwrap).collect()
    };
    let both = || (all("session_model_usage"), all("\"odd notes\""));
    let before = both();
    let store = file.open();
    store.trash_chain(&id("a"), later(), &at(5.0)).await.unwrap();
    assert_eq!((both().0.len(), both().1.len()), (1, 1));
    store.restore(&id("a"), &at(6.0)).await.unwrap();
    assert_eq!(both(), before);
    // The rowid is taken by now, so the restored row gets another one.
    store.trash_chain(&id("a"), later(), &at(7.0)).await.unwrap();
    foreign.execute_batch("INSERT INTO \"odd notes\" VALUES (1, 'b', 'newer')").unwrap();
    store.restore(&id("a"), &at(8.0)).await.unwrap();
    assert_eq!(count(&foreign, "SELECT id FROM \"odd notes\" WHERE of = 'a' AND note = x'00ff'"), 3);
    // Purging removes them too.
    store.trash_chain(&id("a"), later(), &at(9.0)).await.unwrap();
    assert_eq!(count(&foreign, "SELECT count(*) FROM hx_trash_with_session_model_usage"), 2);
    store.empty_trash(&Emptying::All).await.unwrap();
    assert_eq!(count(&foreign, "SELECT count(*) FROM hx_trash_with_session_model_usage"), 0);
    assert_eq!(count(&foreign, "SELECT count(*) FROM \"hx_trash_with_odd notes\""), 0);
    assert!(store.verify().await.unwrap().is_sound());
}

/// A message that the agent adds to a partly restored session, whose restore was killed, is not part of the trash: it
/// stays when the trash is emptied.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_adds_half_way_back_stays() {
    let file = File::new();
    let store = std::sync::Arc::new(file.open_idle());
    fill(&store).await;
    store.trash_chain(&id("large"), later(), &at(9.0)).await.unwrap();
    let (restorer, foreign) = (std::sync::Arc::clone(&store), file.foreign());
    let restoring = tokio::spawn(async move { restorer.restore(&id("large"), &at(10.0)).await });
    while hidden(&foreign, "restoring") == 0 && !restoring.is_finished() {
        tokio::task::yield_now().await;
    }
    restoring.abort();
    assert!(restoring.await.is_err(), "it takes several steps");
    // A step that is still running ends before this.
    store.append(&id("other"), &[user("after")], &at(3.0)).await.unwrap();
    let late = "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('large', 'user', 'late', 5.0)";
    foreign.execute_batch(late).unwrap();
    store.empty_trash(&Emptying::All).await.unwrap();
    while store.upkeep().await.unwrap() {}
    assert_eq!(count(&foreign, "SELECT count(*) FROM messages WHERE content = 'late' AND session_id = 'large'"), 1);
    assert!(store.session(&id("large")).await.unwrap().is_some());
    assert_eq!(hidden(&foreign, "restoring"), 0);
    assert!(store.verify().await.unwrap().is_sound());
}

/// Sessions that were in the trash before an agent added columns are restored like that agent's own rows: with the
/// defaults.
#[tokio::test]
async fn columns_that_came_since_have_their_defaults() {
    let file = File::new();
    let store = file.open();
    for name in ["a", "b"] {
        store.create(&new(name), &at(1.0)).await.unwrap();
        store.append(&id(name), &[user(name)], &at(1.0)).await.unwrap();
    }
    store.trash_chain(&id("a"), later(), &at(2.0)).await.unwrap();
    let foreign = file.foreign();
    foreign
        .execute_batch(
            "ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
             ALTER TABLE sessions ADD COLUMN archived INTEGER DEFAULT 7;",
        )
        .unwrap();
    let before = rows(&foreign, "messages");
    // A newer session goes to the same tables.
    store.trash_chain(&id("b"), later(), &at(3.0)).await.unwrap();
    store.restore(&id("a"), &at(4.0)).await.unwrap();
    store.restore(&id("b"), &at(4.0)).await.unwrap();
    assert_eq!(rows(&foreign, "messages")[1..], before);
    assert_eq!(count(&foreign, "SELECT sum(active) FROM messages"), 2);
    assert_eq!(count(&foreign, "SELECT sum(archived) FROM sessions"), 14);
    assert!(store.verify().await.unwrap().is_sound());
}

/// In the agent's layout, its triggers remove messages from the indexes and add them again.
#[tokio::test]
async fn an_agents_file_of_schema_11_finds_what_came_back() {
    let file = agents_file(
        "INSERT INTO sessions (id, source, started_at, message_count) VALUES ('a', 'cli', 1.0, 2);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'the quick fox', 2.0),
             ('a', 'user', char(0) || 'json:[{\"type\": \"text\", \"text\": \"大别山\"}]', 3.0);",
    );
    let store = file.open();
    while store.upkeep().await.unwrap() {}
    let foreign = file.foreign();
    let found =
        |term: &str| count(&foreign, &format!("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH '{term}'"));
    let before = rows(&foreign, "messages");
    store.trash_chain(&id("a"), later(), &at(5.0)).await.unwrap();
    assert_eq!((found("fox"), rows(&foreign, "messages").len()), (0, 0));
    store.restore(&id("a"), &at(6.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    assert_eq!((found("fox"), rows(&foreign, "messages")), (1, before));
    for table in ["messages_fts", "messages_fts_trigram"] {
        foreign.execute(&format!("INSERT INTO {table}({table}) VALUES('integrity-check')"), []).unwrap();
    }
    assert!(store.verify().await.unwrap().is_sound());
}

#[tokio::test]
async fn who_is_killed_on_the_way_into_the_trash_has_put_all_of_it_there() {
    let mut half = 0;
    for round in 0..10 {
        let file = File::new();
        let store = file.open_idle();
        fill(&store).await;
        let before = rows(&file.foreign(), "messages");
        let mut child = child("trash_chain", "large", &file.path()).spawn().unwrap();
        let foreign = file.foreign();
        while hidden(&foreign, "binned") == 0 && count(&foreign, "SELECT count(*) FROM sessions") == 2 {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        half += hidden(&foreign, "binned");
        assert_eq!(shown(&store).await, "other()");
        let key = RequestKey::parse("trash_chain").unwrap();
        let again = store.trash_chain(&id("large"), later(), &at(10.0).keyed(key)).await.unwrap();
        assert_eq!(again, Deleted { sessions: 1, messages: MESSAGES as u64 }, "round {round}");
        // The next process completes it: by upkeep, or by restoring the conversation.
        while round % 2 == 0 && store.upkeep().await.unwrap() {}
        let restored = store.restore(&id("large"), &at(11.0)).await.unwrap();
        assert_eq!(restored.messages, MESSAGES as u64);
        assert_eq!(rows(&foreign, "messages"), before);
        assert!(store.verify().await.unwrap().is_sound());
        if half > 1 {
            return;
        }
    }
    panic!("no process was killed half-way");
}

#[tokio::test]
async fn who_is_killed_on_the_way_back_leaves_it_in_the_trash() {
    let mut half = 0;
    for round in 0..10 {
        let file = File::new();
        let store = file.open_idle();
        fill(&store).await;
        let before = rows(&file.foreign(), "messages");
        store.trash_chain(&id("large"), later(), &at(9.0)).await.unwrap();
        let mut child = child("restore", "large", &file.path()).spawn().unwrap();
        let foreign = file.foreign();
        while hidden(&foreign, "restoring") == 0 && count(&foreign, "SELECT count(*) FROM sessions") == 1 {
            std::thread::yield_now();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let is_half = hidden(&foreign, "restoring") == 1;
        half += usize::from(is_half);
        if is_half {
            assert_eq!((shown(&store).await, store.trash(None, 9).await.unwrap().len()), ("other()".to_owned(), 1));
            while store.upkeep().await.unwrap() {}
            assert_eq!(count(&foreign, "SELECT count(*) FROM hx_trash_message"), MESSAGES as i64);
            match round % 3 {
                0 => _ = store.restore(&id("large"), &at(11.0)).await.unwrap(),
                // A new session with its id replaces it; the partly restored rows are no obstacle.
                1 => {
                    store.create(&new("large"), &at(11.0)).await.unwrap();
                    assert_eq!(count(&foreign, "SELECT count(*) FROM messages"), 0);
                    assert!(store.restore(&id("large"), &at(12.0)).await.is_err());
                    store.delete(&id("large"), DeleteExtent::Chain, &at(12.0)).await.unwrap();
                    store.restore(&id("large"), &at(13.0)).await.unwrap();
                }
                _ => {
                    store.empty_trash(&Emptying::All).await.unwrap();
                    assert_eq!(count(&foreign, "SELECT count(*) FROM messages"), 0);
                    assert_eq!((hidden(&foreign, "restoring"), hidden(&foreign, "doomed")), (0, 0));
                    continue;
                }
            }
        }
        assert_eq!(rows(&foreign, "messages"), before);
        assert_eq!(count(&foreign, "SELECT count(*) FROM hx_trash_message"), 0);
        assert!(store.verify().await.unwrap().is_sound());
        if half > 2 {
            return;
        }
    }
    panic!("no process was killed half-way");
}

/// The agent sees a session until its row is deleted, and may write to it: those messages are restored too.
#[tokio::test(flavor = "multi_thread")]
async fn what_the_agent_adds_on_the_way_comes_back() {
    let file = File::new();
    let store = std::sync::Arc::new(file.open_idle());
    fill(&store).await;
    let (deleter, foreign) = (std::sync::Arc::clone(&store), file.foreign());
    let deletion = tokio::spawn(async move { deleter.trash_chain(&id("large"), later(), &at(9.0)).await });
    while hidden(&foreign, "binned") == 0 && !deletion.is_finished() {
        tokio::task::yield_now().await;
    }
    deletion.abort();
    assert!(deletion.await.is_err(), "it takes several steps");
    store.append(&id("other"), &[user("after")], &at(3.0)).await.unwrap();
    let late = "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('large', 'user', 'late', 5.0)";
    foreign.execute_batch(late).unwrap();
    assert_eq!(shown(&store).await, "other(after)");
    assert_eq!(store.restore(&id("large"), &at(10.0)).await.unwrap().messages, MESSAGES as u64 + 1);
    assert_eq!(count(&foreign, "SELECT count(*) FROM messages WHERE content = 'late' AND session_id = 'large'"), 1);
}

#[tokio::test]
async fn a_file_that_cannot_be_written_shows_its_trash() {
    let file = File::new();
    let store = file.open();
    fill(&store).await;
    let options = hermes_sqlite::SqliteOptions { read_only: true, ..Default::default() };
    let reader = SqliteStore::open(&file.path(), &options).unwrap();
    assert_eq!(reader.trash(None, 9).await.unwrap(), []);
    store.trash_chain(&id("large"), later(), &at(9.0)).await.unwrap();
    let seen = reader.trash(None, 9).await.unwrap();
    assert_eq!((seen.len(), seen[0].id.as_str(), seen[0].messages), (1, "large", MESSAGES as u64));
    assert!(reader.restore(&id("large"), &at(10.0)).await.is_err());
}
