//! Files of later revisions of our tables: they are read if they permit it, and never written.

use crate::fixture::{File, at, id, new, shown, user};
use hermes_session::{Maintenance as _, Refusal, SessionStore as _, StoreError};
use hermes_sqlite::{Adopt, SqliteOptions, SqliteStore};

/// Marks the file as one of a later revision, whose readers need at least revision `reads_from`.
fn raise(file: &File, reads_from: &str) {
    file.foreign()
        .execute_batch(&format!(
            "BEGIN; CREATE TABLE hx_later (id INTEGER PRIMARY KEY);
             INSERT OR REPLACE INTO hx_state VALUES ('reads_from', '{reads_from}'); PRAGMA user_version = 99; COMMIT"
        ))
        .unwrap();
}

async fn with_a_session() -> File {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.append(&id("a"), &[user("the start")], &at(2.0)).await.unwrap();
    file
}

fn open(file: &File, options: SqliteOptions) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(&file.path(), &options)
}

#[track_caller]
fn is_refused<T>(outcome: Result<T, StoreError>) {
    match outcome {
        Err(StoreError::Refused { refusal: Refusal::NewerRevision { revision: 99 }, .. }) => {}
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was not refused"),
    }
}

#[tokio::test]
async fn a_later_revision_that_permits_it_is_read_and_not_written() {
    let file = with_a_session().await;
    raise(&file, "2");
    let before = std::fs::read(file.path()).unwrap();
    is_refused(open(&file, SqliteOptions::default()));
    let read_only = open(&file, SqliteOptions { read_only: true, ..SqliteOptions::default() }).unwrap();
    assert_eq!(shown(&read_only).await, "a(the start)");
    let notice = "a newer hermes (revision 99) has written the store; this one only reads it";
    assert_eq!(read_only.notices(), [notice]);
    let later = open(&file, SqliteOptions { adopt: Adopt::OnFirstWrite, ..SqliteOptions::default() }).unwrap();
    assert_eq!(shown(&later).await, "a(the start)");
    is_refused(later.append(&id("a"), &[user("more")], &at(3.0)).await);
    assert!(!later.upkeep().await.unwrap());
    assert_eq!(shown(&later).await, "a(the start)");
    assert_eq!(std::fs::read(file.path()).unwrap(), before);
}

#[tokio::test]
async fn a_later_revision_that_does_not_permit_it_is_refused() {
    for reads_from in ["99", "two", ""] {
        let file = with_a_session().await;
        raise(&file, reads_from);
        for read_only in [true, false] {
            is_refused(open(&file, SqliteOptions { read_only, ..SqliteOptions::default() }));
        }
    }
    let file = with_a_session().await;
    file.foreign().execute_batch("DELETE FROM hx_state WHERE key = 'reads_from'; PRAGMA user_version = 99").unwrap();
    is_refused(open(&file, SqliteOptions { read_only: true, ..SqliteOptions::default() }));
}

#[tokio::test]
async fn a_store_that_is_open_stops_writing_when_a_later_revision_arrives() {
    let file = with_a_session().await;
    let store = file.open();
    store.append(&id("a"), &[user("second")], &at(3.0)).await.unwrap();
    raise(&file, "2");
    is_refused(store.append(&id("a"), &[user("third")], &at(4.0)).await);
    assert_eq!(store.session(&id("a")).await.unwrap().unwrap().message_count, 2);
    drop(store);
    let messages: i64 = file.foreign().query_row("SELECT count(*) FROM messages", [], |row| row.get(0)).unwrap();
    assert_eq!(messages, 2);
}
