//! Files that the first write adopts, and that are only read until then.

use crate::fixture::{File, at, id, new, shown, user};
use crate::inline::agents_file;
use hermes_session::{ConversationStore as _, Maintenance as _, SessionStore as _};
use hermes_sqlite::{Adopt, SqliteOptions, SqliteStore};

const ROWS: &str = "INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0);
     INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'the start', 1.0)";

fn open(file: &File) -> SqliteStore {
    let options = SqliteOptions { adopt: Adopt::OnFirstWrite, ..SqliteOptions::default() };
    SqliteStore::open(&file.path(), &options).unwrap()
}

fn side_objects(file: &File) -> i64 {
    let sql = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'hx_*'";
    file.foreign().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn reads_adopt_nothing_and_the_first_write_does() {
    let file = agents_file(ROWS);
    std::fs::remove_file(file.path().with_file_name("state.db.queue")).unwrap();
    let store = open(&file);
    assert_eq!(shown(&store).await, "a(the start)");
    assert!(!store.upkeep().await.unwrap());
    store.status().await.unwrap();
    assert!(store.verify().await.unwrap().check("side tables").is_some());
    let found = hermes_session::search::SearchRequest::new(hermes_session::search::Query::parse("start"));
    assert_eq!(store.search(&found).await.unwrap().hits.len(), 1);
    assert_eq!((side_objects(&file), store.notices().len()), (0, 0));
    assert!(!file.path().with_file_name("state.db.queue").exists());

    store.append(&id("a"), &[user("and on")], &at(2.0)).await.unwrap();
    assert!(side_objects(&file) > 20);
    assert!(!store.notices().is_empty(), "the adoption is announced");
    // Readers that were open before see the adopted file.
    assert_eq!(store.session(&id("a")).await.unwrap().unwrap().message_count, 1);
    store.create(&new("b"), &at(3.0)).await.unwrap();
    assert_eq!(shown(&store).await, "b() a(the start)");
    assert_eq!(store.search(&found).await.unwrap().hits.len(), 1);
}

#[tokio::test]
async fn a_file_that_is_not_there_or_is_adopted_is_opened_for_writing() {
    let file = File::new();
    let store = open(&file);
    assert!(side_objects(&file) > 20);
    store.create(&new("a"), &at(1.0)).await.unwrap();
    drop(store);
    let store = open(&file);
    while store.upkeep().await.unwrap() {}
    assert_eq!(store.notices(), Vec::<String>::new());
}

#[tokio::test]
async fn a_first_write_that_cannot_adopt_says_why_and_the_next_one_tries_again() {
    let file = agents_file(ROWS);
    let options = SqliteOptions {
        adopt: Adopt::OnFirstWrite,
        wait: std::time::Duration::from_millis(50),
        ..SqliteOptions::default()
    };
    let store = SqliteStore::open(&file.path(), &options).unwrap();
    let foreign = file.foreign();
    foreign.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.append(&id("a"), &[user("x")], &at(2.0)).await.unwrap_err();
    assert!(matches!(error, hermes_session::StoreError::Busy { .. }), "{error:?}");
    foreign.execute_batch("ROLLBACK").unwrap();
    store.append(&id("a"), &[user("x")], &at(2.0)).await.unwrap();
}

#[tokio::test]
async fn a_reader_that_stays_open_sees_what_an_agent_writes_and_that_somebody_adopts_the_file() {
    let file = agents_file(ROWS);
    let foreign = file.foreign();
    let store =
        SqliteStore::open(&file.path(), &SqliteOptions { read_only: true, ..SqliteOptions::default() }).unwrap();
    assert_eq!(shown(&store).await, "a(the start)");
    foreign
        .execute_batch(
            "INSERT INTO sessions (id, source, started_at) VALUES ('b', 'cli', 2.0);
             INSERT INTO messages (session_id, role, content, timestamp) VALUES ('b', 'user', 'next', 3.0)",
        )
        .unwrap();
    assert_eq!(shown(&store).await, "b(next) a(the start)");
    foreign
        .execute_batch(
            "UPDATE sessions SET ended_at = 2.0, end_reason = 'compression' WHERE id = 'a';
             UPDATE sessions SET parent_session_id = 'a' WHERE id = 'b'",
        )
        .unwrap();
    assert_eq!(shown(&store).await, "b(the start)");
    foreign.execute_batch("DELETE FROM messages WHERE session_id = 'b'; DELETE FROM sessions WHERE id = 'b'").unwrap();
    assert_eq!(shown(&store).await, "a(the start)");
    let writer = file.open();
    writer.create(&new("c"), &at(9.0)).await.unwrap();
    assert_eq!(shown(&store).await, "c() a(the start)");
}
