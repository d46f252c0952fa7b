//! Archived sessions in files whose agent has no column for them.

use crate::fixture::{File, at, id, new, user};
use hermes_session::export::Exporter;
use hermes_session::import::{ImportOptions, import};
use hermes_session::{
    Archived, ConversationStore as _, ListRequest, Maintenance as _, NewChild, SessionFilter, SessionStore as _, View,
};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

const OBJECTS: &str = "SELECT count(*) FROM sqlite_schema WHERE name IN ('hx_archived', 'hx_archived_gone')";

async fn archived(store: &SqliteStore) -> Vec<String> {
    let filter = SessionFilter { archived: Archived::Only, ..SessionFilter::default() };
    let rows = store.list(&ListRequest { filter, view: View::Sessions, ..ListRequest::default() }).await.unwrap().rows;
    rows.into_iter().map(|row| row.id.as_str().to_owned()).collect()
}

#[tokio::test]
async fn the_table_is_made_with_the_first_archived_session() {
    let file = File::new();
    let (store, other, foreign) = (file.open(), file.open(), file.foreign());
    store.create(&new("a"), &at(1.0)).await.unwrap();
    assert!(!store.set_archived(&id("a"), false, &at(2.0)).await.unwrap());
    assert_eq!(count(&foreign, OBJECTS), 0, "nothing was archived");
    assert!(store.set_archived(&id("a"), true, &at(3.0)).await.unwrap());
    assert_eq!(count(&foreign, OBJECTS), 2);
    assert_eq!(count(&foreign, "SELECT count(*) FROM pragma_table_info('sessions') WHERE name = 'archived'"), 0);
    // A store that was opened before the table existed.
    assert_eq!(archived(&other).await, ["a"]);
    assert!(!other.set_archived(&id("a"), true, &at(4.0)).await.unwrap());
    assert!(store.verify().await.unwrap().is_sound());
}

#[tokio::test]
async fn a_deletion_of_theirs_takes_it_along() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.set_archived(&id("a"), true, &at(2.0)).await.unwrap();
    foreign.execute("DELETE FROM sessions WHERE id = 'a'", []).unwrap();
    foreign.execute("INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 9.0)", []).unwrap();
    assert!(!store.session(&id("a")).await.unwrap().unwrap().archived);
}

#[tokio::test]
async fn a_continuation_of_theirs_stays_archived() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.set_archived(&id("a"), true, &at(2.0)).await.unwrap();
    let sql = "UPDATE sessions SET ended_at = 7.0, end_reason = 'compression' WHERE id = 'a';
               INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('next', 'cli', 'a', 8.0);";
    foreign.execute_batch(sql).unwrap();
    assert!(store.list(&ListRequest::default()).await.unwrap().rows.is_empty());
    assert_eq!(archived(&store).await.len(), 2);
    assert!(store.set_archived(&id("next"), false, &at(9.0)).await.unwrap());
    assert_eq!(count(&foreign, "SELECT count(*) FROM hx_archived"), 0);
}

/// A newer agent adds its column while we have the file open: nothing is forgotten, and upkeep moves our rows there.
#[tokio::test]
async fn a_column_that_is_added_later_takes_the_rows() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.split(&id("a"), &NewChild::new(id("b")), &[user("summary")], &at(2.0)).await.unwrap();
    store.create(&new("c"), &at(3.0)).await.unwrap();
    store.set_archived(&id("b"), true, &at(4.0)).await.unwrap();
    foreign.execute_batch("ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0").unwrap();
    assert_eq!(archived(&store).await.len(), 2);
    while store.upkeep().await.unwrap() {}
    assert_eq!(count(&foreign, "SELECT count(*) FROM hx_archived"), 0);
    assert_eq!(count(&foreign, "SELECT sum(archived) FROM sessions"), 2);
    foreign.execute("UPDATE sessions SET archived = 0", []).unwrap();
    assert_eq!(archived(&store).await, [""; 0]);
    store.set_archived(&id("c"), true, &at(5.0)).await.unwrap();
    assert_eq!(count(&foreign, "SELECT archived FROM sessions WHERE id = 'c'"), 1);
}

#[tokio::test]
async fn a_file_that_is_only_read_tells_it() {
    let file = File::new();
    {
        let store = file.open();
        store.create(&new("a"), &at(1.0)).await.unwrap();
        store.set_archived(&id("a"), true, &at(2.0)).await.unwrap();
    }
    let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
    let store = SqliteStore::open(&file.path(), &options).unwrap();
    assert_eq!(archived(&store).await, ["a"]);
}

/// An import of an archived session adds the agent's own column, as for other columns, and our rows go there.
#[tokio::test]
async fn an_import_that_adds_the_column_takes_the_rows() {
    let (file, other) = (File::new(), File::new());
    let (store, from, foreign) = (file.open(), other.open(), file.foreign());
    for (store, name) in [(&store, "a"), (&from, "b")] {
        store.create(&new(name), &at(1.0)).await.unwrap();
        store.set_archived(&id(name), true, &at(2.0)).await.unwrap();
    }
    let mut text = String::new();
    let mut exporter = Exporter::new(&from, SessionFilter::default());
    while let Some(piece) = exporter.next_chunk().await.unwrap() {
        text.push_str(&piece);
    }
    let report = import(&store, &mut text.as_bytes(), ImportOptions::default(), &mut |_| {}).await.unwrap();
    assert_eq!(report.sessions, 1, "{report:?}");
    assert_eq!(count(&foreign, "SELECT sum(archived) FROM sessions"), 2);
    assert_eq!(count(&foreign, "SELECT count(*) FROM hx_archived"), 0);
    assert_eq!(archived(&store).await.len(), 2);
}
