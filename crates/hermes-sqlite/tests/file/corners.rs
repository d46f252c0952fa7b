//! Edge cases of the indexes, one by one.

use crate::fixture::{File, at, id, new, user};
use crate::verify::told;
use hermes_session::*;
use hermes_sqlite::SqliteStore;

async fn settle(store: &SqliteStore) {
    for _ in 0..10_000 {
        if !store.upkeep().await.unwrap() {
            return;
        }
    }
    panic!("upkeep does not end");
}

async fn optimized(store: &SqliteStore) {
    for _ in 0..10_000 {
        if store.optimize().await.unwrap() == Optimizing::Done {
            return;
        }
    }
    panic!("optimize does not end");
}

/// Makes a store with one session `a` of a few messages, all indexed, without background work.
async fn filled(file: &File) -> SqliteStore {
    let store = file.open_idle();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.append(&id("a"), &[user("the quick fox"), user("lazy dog")], &at(2.0)).await.unwrap();
    settle(&store).await;
    store
}

async fn is_whole(store: &SqliteStore, what: &str) {
    settle(store).await;
    assert_eq!(told(&store.verify().await.unwrap()), Vec::<String>::new(), "{what}");
}

#[tokio::test]
async fn indexes_are_made_anew_while_old_ones_are_cleared_away() {
    let file = File::new();
    let store = filled(&file).await;
    store.rebuild_indexes().await.unwrap();
    while store.optimize().await.unwrap() != Optimizing::Clearing {}
    store.rebuild_indexes().await.unwrap();
    optimized(&store).await;
    is_whole(&store, "twice").await;
}

#[tokio::test]
async fn what_they_changed_can_be_deleted_before_it_is_indexed_again() {
    for text in ["大别山项目大别山项目", "x"] {
        let file = File::new();
        let store = filled(&file).await;
        file.foreign().execute("UPDATE messages SET content = ?", [text]).unwrap();
        store.delete(&id("a"), DeleteExtent::Conversation, &at(3.0)).await.unwrap();
        is_whole(&store, text).await;
    }
}

#[tokio::test]
async fn what_is_no_part_of_the_transcript_stays_in_our_indexes() {
    let file = File::new();
    let store = filled(&file).await;
    file.foreign()
        .execute_batch(
            "ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
             UPDATE messages SET active = 0 WHERE content = 'lazy dog';",
        )
        .unwrap();
    store.replace(&id("a"), &[user("instead")], &at(3.0)).await.unwrap();
    is_whole(&store, "replaced").await;
}

#[tokio::test]
async fn damage_of_what_is_ours_alone_keeps_nobody_from_writing() {
    for damage in [
        "DROP TABLE hx_cjk_data",
        "DROP TABLE hx_cjk",
        "DROP TABLE hx_doclen",
        "DROP TABLE hx_term_trigram_idx",
        "DROP TABLE hx_term_unlisted",
        "UPDATE hx_cjk_data SET block = x'0000000000010203' WHERE id = 10",
        "UPDATE hx_term_trigram_data SET block = x'0000000000010203' WHERE id = 10",
        "UPDATE hx_doclen SET lengths = x'01'",
    ] {
        let file = File::new();
        let store = filled(&file).await;
        store.append(&id("a"), &[user("大别山项目")], &at(2.0)).await.unwrap();
        settle(&store).await;
        file.foreign().execute_batch(damage).unwrap();
        store.append(&id("a"), &[user("汉字 more")], &at(3.0)).await.unwrap();
        store.replace(&id("a"), &[user("汉字")], &at(3.0)).await.unwrap_or_else(|error| panic!("{damage}: {error:?}"));
        for _ in 0..100 {
            let _ = store.upkeep().await.unwrap_or_else(|error| panic!("{damage}: {error:?}"));
        }
        store.rebuild_indexes().await.unwrap();
        optimized(&store).await;
        is_whole(&store, damage).await;
    }
}

#[tokio::test]
async fn damage_of_what_is_being_built_keeps_nobody_from_writing() {
    for damage in [
        "DROP TABLE hx_built_words_docsize",
        "DROP TABLE hx_built_words",
        "UPDATE hx_built_words_data SET block = x'0000000000010203' WHERE id = 10",
    ] {
        let file = File::new();
        let store = filled(&file).await;
        store.rebuild_indexes().await.unwrap();
        file.foreign().execute_batch(damage).unwrap();
        store.replace(&id("a"), &[user("汉字")], &at(3.0)).await.unwrap_or_else(|error| panic!("{damage}: {error:?}"));
        for _ in 0..100 {
            let _ = store.upkeep().await.unwrap_or_else(|error| panic!("{damage}: {error:?}"));
        }
        optimized(&store).await;
        is_whole(&store, damage).await;
    }
}

#[tokio::test]
async fn indexes_that_are_spoilt_while_old_ones_are_cleared_away_are_rebuilt() {
    let file = File::new();
    let store = filled(&file).await;
    store.rebuild_indexes().await.unwrap();
    while store.optimize().await.unwrap() != Optimizing::Clearing {}
    file.foreign()
        .execute_batch(
            "DROP TRIGGER messages_fts_delete;
             CREATE TRIGGER messages_fts_delete AFTER DELETE ON messages BEGIN DELETE FROM messages_fts WHERE rowid = old.id; END;
             DELETE FROM messages WHERE content = 'lazy dog'; UPDATE sessions SET message_count = 1;",
        )
        .unwrap();
    is_whole(&store, "the agent's trigger").await;
}
