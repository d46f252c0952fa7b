//! Pins and tags in a file that others write: their tables are created when needed, and rows are deleted with their
//! sessions.

use crate::fixture::{File, at, id, new, user};
use hermes_session::{
    ConversationStore as _, ListRequest, NewChild, PinAndTags, SessionFilter, SessionStore as _, Tag, View,
    pins_and_tags,
};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;

fn tags(texts: &[&str]) -> Vec<Tag> {
    texts.iter().map(|text| Tag::parse(text).unwrap()).collect()
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn objects(connection: &Connection) -> i64 {
    count(
        connection,
        "SELECT count(*) FROM sqlite_schema WHERE name IN ('hx_pin', 'hx_tag', 'hx_tag_tag', 'hx_mark_gone')",
    )
}

async fn mark(store: &SqliteStore, name: &str) {
    assert!(store.set_pinned(&id(name), true, &at(5.0)).await.unwrap());
    store.change_tags(&id(name), &tags(&["work", "home"]), &[], &at(6.0)).await.unwrap();
}

/// Deletes a session as the agent does.
fn delete(connection: &Connection, name: &str) {
    for sql in [
        "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?",
        "DELETE FROM messages WHERE session_id = ?",
        "DELETE FROM sessions WHERE id = ?",
    ] {
        connection.execute(sql, [name]).unwrap();
    }
}

async fn how_many(store: &SqliteStore, filter: SessionFilter) -> usize {
    let counts = store.counts(&filter).await.unwrap();
    let rows = store.list(&ListRequest { filter, view: View::Sessions, ..ListRequest::default() }).await.unwrap().rows;
    assert_eq!(rows.len() as u64, counts.sessions);
    rows.len()
}

#[tokio::test]
async fn a_deletion_of_theirs_takes_the_pins_and_tags() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    for name in ["a", "b"] {
        store.create(&new(name), &at(1.0)).await.unwrap();
        store.append(&id(name), &[user("hello")], &at(2.0)).await.unwrap();
        mark(&store, name).await;
    }
    delete(&foreign, "a");
    assert_eq!(count(&foreign, "SELECT count(*) FROM hx_pin WHERE session_id = 'a'"), 0);
    assert_eq!(count(&foreign, "SELECT count(*) FROM hx_tag WHERE session_id = 'a'"), 0);
    foreign.execute("INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 9.0)", []).unwrap();
    assert_eq!(pins_and_tags::of(&store, &id("a")).await.unwrap(), PinAndTags::default());
    assert_eq!(pins_and_tags::of(&store, &id("b")).await.unwrap().tags, tags(&["home", "work"]));
    assert_eq!(store.tags().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_conversation_of_theirs_is_marked_and_carried_on() {
    let file = File::new();
    let (store, foreign) = (file.open(), file.foreign());
    store.create(&new("a"), &at(1.0)).await.unwrap();
    mark(&store, "a").await;
    let sql = "UPDATE sessions SET ended_at = 7.0, end_reason = 'compression' WHERE id = 'a';
               INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('next', 'cli', 'a', 8.0);";
    foreign.execute_batch(sql).unwrap();
    let pins_and_tags = pins_and_tags::of(&store, &id("next")).await.unwrap();
    assert_eq!((pins_and_tags.pinned_at, pins_and_tags.tags), (Some(at(5.0).at), tags(&["home", "work"])));
    assert!(store.set_pinned(&id("next"), false, &at(9.0)).await.unwrap());
    assert_eq!(count(&foreign, "SELECT count(*) FROM hx_pin"), 0);
}

#[tokio::test]
async fn the_tables_are_made_with_the_first_mark() {
    let file = File::new();
    let (store, other, foreign) = (file.open(), file.open(), file.foreign());
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.split(&id("a"), &NewChild::new(id("b")), &[], &at(2.0)).await.unwrap();
    let pinned = |pinned| SessionFilter { pinned: Some(pinned), ..SessionFilter::default() };
    let tagged = || SessionFilter { tags: tags(&["work"]), ..SessionFilter::default() };
    assert!(!store.set_pinned(&id("a"), false, &at(3.0)).await.unwrap());
    assert_eq!(store.change_tags(&id("a"), &[], &tags(&["work"]), &at(3.0)).await.unwrap(), []);
    assert_eq!(store.tags().await.unwrap(), []);
    assert_eq!([how_many(&store, pinned(true)).await, how_many(&store, pinned(false)).await], [0, 2]);
    assert_eq!(how_many(&store, tagged()).await, 0);
    assert_eq!(objects(&foreign), 0, "nothing was marked");
    mark(&store, "b").await;
    assert_eq!(objects(&foreign), 4);
    // A store that was opened before the tables existed.
    assert_eq!([how_many(&other, pinned(true)).await, how_many(&other, pinned(false)).await], [2, 0]);
    assert_eq!(how_many(&other, tagged()).await, 2);
    assert!(other.set_pinned(&id("a"), false, &at(7.0)).await.unwrap());
    assert_eq!(how_many(&store, pinned(true)).await, 0);
}

#[tokio::test]
async fn a_file_that_is_only_read_tells_its_pins_and_tags() {
    let read_only = SqliteOptions { read_only: true, ..SqliteOptions::default() };
    let file = File::new();
    {
        let store = file.open();
        store.create(&new("a"), &at(1.0)).await.unwrap();
        mark(&store, "a").await;
    }
    let store = SqliteStore::open(&file.path(), &read_only).unwrap();
    assert_eq!(pins_and_tags::of(&store, &id("a")).await.unwrap().tags, tags(&["home", "work"]));
    assert_eq!(how_many(&store, SessionFilter { pinned: Some(true), ..SessionFilter::default() }).await, 1);
    let error = store.set_pinned(&id("a"), false, &at(9.0)).await.unwrap_err().to_string();
    assert!(
        error.starts_with("could not pin a conversation: ") && error.ends_with("was opened for reading only"),
        "{error}"
    );
    // A file that was never adopted has none.
    let theirs = crate::inline::agents_file("INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0)");
    let store = SqliteStore::open(&theirs.path(), &read_only).unwrap();
    assert_eq!(pins_and_tags::of(&store, &id("a")).await.unwrap(), PinAndTags::default());
    assert_eq!(store.tags().await.unwrap(), []);
    assert_eq!(how_many(&store, SessionFilter { pinned: Some(false), ..SessionFilter::default() }).await, 1);
    assert_eq!(how_many(&store, SessionFilter { tags: tags(&["work"]), ..SessionFilter::default() }).await, 0);
}
