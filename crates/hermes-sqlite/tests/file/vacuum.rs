//! Releasing free space.

use crate::fixture::{File, at, id, new, user};
use hermes_session::{ConversationStore as _, DeleteExtent, Maintenance as _, NewMessage, SessionStore as _};
use hermes_sqlite::SqliteStore;

/// Deletes a session of some megabytes. Returns the pages of the file before and after upkeep, and the number of steps.
async fn delete(file: &File, store: &SqliteStore) -> (i64, i64, u32) {
    store.create(&new("large"), &at(1.0)).await.unwrap();
    let batch: Vec<NewMessage> =
        (0..2_400).map(|n| user(&format!("{n} {}", "words of all kinds ".repeat(400)))).collect();
    store.append(&id("large"), &batch, &at(1.0)).await.unwrap();
    store.delete(&id("large"), DeleteExtent::Conversation, &at(2.0)).await.unwrap();
    let pages = || file.foreign().query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    let (before, mut steps) = (pages(), 0);
    while store.upkeep().await.unwrap() {
        steps += 1;
        assert!(steps < 1_000);
    }
    (before, pages(), steps)
}

#[tokio::test]
async fn a_file_of_ours_shrinks_when_much_went() {
    let file = File::new();
    let store = file.open();
    let (before, after, _) = delete(&file, &store).await;
    assert!(after <= before - before / 2, "{before} pages before, {after} after");
    let free: i64 = file.foreign().query_row("PRAGMA freelist_count", [], |row| row.get(0)).unwrap();
    assert!(free <= 1_000, "{free} free pages");
    assert!(store.verify().await.unwrap().is_sound());
}

#[tokio::test]
async fn a_file_that_was_not_made_for_it_keeps_its_room() {
    let file = File::new();
    drop(file.open());
    file.foreign().execute_batch("PRAGMA auto_vacuum = NONE; VACUUM;").unwrap();
    let (before, after, _) = delete(&file, &file.open()).await;
    assert_eq!(before, after);
}
