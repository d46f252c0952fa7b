//! Rows that are deleted from the word index alone: every search still finds the messages, and they are indexed again
//! if the index is ours.

use crate::fixture::{File, at, id, new, user};
use crate::inline::agents_file;
use hermes_session::search::{Query, SearchAnswer, SearchRequest};
use hermes_session::*;
use hermes_sqlite::{SqliteOptions, SqliteStore};

/// Makes a file with 320 messages whose indexes are complete.
async fn file_with_messages(layout: &str) -> File {
    let file = match layout {
        "compact" => File::new(),
        _ => agents_file(""),
    };
    if layout == "guest" {
        file.foreign().execute_batch("UPDATE schema_version SET version = 22").unwrap();
    }
    let store = file.open_idle();
    store.create(&new("s"), &at(1.0)).await.unwrap();
    let said: Vec<NewMessage> = (0..320).map(|n| user(&format!("pebble number{n}"))).collect();
    store.append(&id("s"), &said, &at(2.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    assert_eq!(indexed(&file), 320, "{layout}");
    file
}

fn indexed(file: &File) -> i64 {
    file.foreign().query_row("SELECT count(*) FROM messages_fts_docsize", [], |row| row.get(0)).unwrap()
}

async fn pebbles(store: &SqliteStore) -> SearchAnswer {
    let request = SearchRequest { page: PageRequest::first(1_000), ..SearchRequest::new(Query::parse("pebble")) };
    store.search(&request).await.unwrap()
}

#[tokio::test]
async fn messages_that_the_index_lost_are_found_and_indexed_again() {
    for layout in ["compact", "inline", "guest"] {
        let file = file_with_messages(layout).await;
        let before = file.open_idle();
        let whole = pebbles(&before).await;
        assert_eq!((whole.hits.len(), whole.served.unindexed), (320, 0), "{layout}");
        file.foreign().execute_batch("DELETE FROM messages_fts WHERE rowid <= 100").unwrap();
        for (store, when) in [(&before, "open before"), (&file.open_idle(), "opened since")] {
            let answer = pebbles(store).await;
            assert_eq!((answer.hits.len(), answer.served.unindexed), (320, 100), "{layout}, {when}");
            let health = match layout {
                "guest" => IndexHealth::Broken { why: "messages_fts lacks 100 of the messages".into() },
                _ => IndexHealth::Behind { messages: 100 },
            };
            assert_eq!(store.status().await.unwrap().indexes, health, "{layout}, {when}");
        }
        while before.upkeep().await.unwrap() {}
        if layout == "guest" {
            assert_eq!(indexed(&file), 220, "its index is the agent's");
            assert_eq!(pebbles(&before).await.hits.len(), 320);
            before.rebuild_indexes().await.unwrap();
            while before.optimize().await.unwrap() != Optimizing::Done {}
            while before.upkeep().await.unwrap() {}
        }
        assert_eq!(indexed(&file), 320, "{layout}");
        let healed = pebbles(&before).await;
        assert_eq!((healed.hits.len(), healed.served.unindexed), (320, 0), "{layout}");
        assert!(before.verify().await.unwrap().is_sound(), "{layout}");
    }
}

/// As many rows are lost as messages are added: the number of rows in the index stays the same.
#[tokio::test]
async fn a_loss_is_noticed_beside_new_messages() {
    for layout in ["compact", "inline", "guest"] {
        let file = file_with_messages(layout).await;
        let store = file.open_idle();
        assert_eq!(pebbles(&store).await.hits.len(), 320);
        file.foreign()
            .execute_batch(
                "DELETE FROM messages_fts WHERE rowid IN (7, 8, 200);
                 INSERT INTO messages (session_id, role, content, timestamp) SELECT 's', 'user', 'pebble more', 9.0 \
                     FROM (VALUES (1), (2), (3))",
            )
            .unwrap();
        assert_eq!(pebbles(&store).await.hits.len(), 323, "{layout}");
        // A deletion is not a loss.
        file.foreign().execute_batch("DELETE FROM messages WHERE id BETWEEN 100 AND 110").unwrap();
        assert_eq!(pebbles(&store).await.hits.len(), 312, "{layout}");
        store.append(&id("s"), &[user("pebble of ours")], &at(3.0)).await.unwrap();
        assert_eq!(pebbles(&store).await.hits.len(), 313, "{layout}");
    }
}

#[tokio::test]
async fn a_file_that_is_only_read_finds_them_too() {
    for layout in ["compact", "inline", "guest"] {
        let file = file_with_messages(layout).await;
        file.foreign().execute_batch("DELETE FROM messages_fts WHERE rowid <= 100").unwrap();
        let read_only = SqliteOptions { read_only: true, ..SqliteOptions::default() };
        let store = SqliteStore::open(&file.path(), &read_only).unwrap();
        assert_eq!(pebbles(&store).await.hits.len(), 320, "{layout}");
        assert_eq!(indexed(&file), 220, "{layout}");
    }
    // The same in a file that we never adopted.
    let file = agents_file(
        "INSERT INTO sessions (id, source, started_at) VALUES ('s', 'cli', 1.0);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('s', 'user', 'pebble one', 1.0), ('s', 'user', 'pebble two', 2.0);
         DELETE FROM messages_fts WHERE rowid = 1;",
    );
    let read_only = SqliteOptions { read_only: true, ..SqliteOptions::default() };
    let store = SqliteStore::open(&file.path(), &read_only).unwrap();
    assert_eq!(pebbles(&store).await.hits.len(), 2);
}
