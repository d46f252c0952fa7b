//! Damaged pages: operations that need them fail or skip them, and everything else continues.

use crate::fixture::{File, at, id, new, user};
use hermes_session::*;
use rusqlite::params;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

/// Overwrites a page of a closed file, except its first bytes.
fn overwrite(file: &File, page: u32, from: u64) {
    let opened = std::fs::OpenOptions::new().read(true).write(true).open(file.path()).unwrap();
    let mut size = [0; 2];
    opened.read_exact_at(&mut size, 16).unwrap();
    let size = u64::from(u16::from_be_bytes(size));
    opened.write_all_at(&vec![0xee; (size - from) as usize], (u64::from(page) - 1) * size + from).unwrap();
}

/// Returns a message that takes many pages.
fn long() -> NewMessage {
    user(&"word after word ".repeat(20_000))
}

/// With an unreadable freelist there is no space for new rows, nor for new indexes.
#[tokio::test]
async fn a_damaged_list_of_free_pages_is_one_error() {
    let file = File::new();
    let store = file.open_idle();
    for session in ["goes", "stays"] {
        store.create(&new(session), &at(1.0)).await.unwrap();
        store.append(&id(session), &[user("short"), long()], &at(2.0)).await.unwrap();
    }
    while store.upkeep().await.unwrap() {}
    store.delete(&id("goes"), DeleteExtent::Conversation, &at(3.0)).await.unwrap();
    drop(store);
    let head = std::fs::read(file.path()).unwrap();
    overwrite(&file, u32::from_be_bytes(head[32..36].try_into().unwrap()), 0);
    let store = file.open_idle();
    let appended = store.append(&id("stays"), &[long()], &at(4.0)).await;
    assert!(matches!(appended, Err(StoreError::Corrupt { .. })), "{appended:?}");
    assert_eq!(store.messages(&id("stays"), &MessageRequest::first(9)).await.unwrap().len(), 2);
}

/// The content of the table, including the progress of the indexes, is recomputed.
#[tokio::test]
async fn a_table_of_states_that_is_taken_away_comes_back() {
    let file = File::new();
    let store = file.open_idle();
    for session in ["goes", "stays"] {
        store.create(&new(session), &at(1.0)).await.unwrap();
        store.append(&id(session), &[user("a word")], &at(2.0)).await.unwrap();
    }
    while store.upkeep().await.unwrap() {}
    file.foreign().execute_batch("DROP TABLE hx_state").unwrap();
    store.delete(&id("goes"), DeleteExtent::Conversation, &at(3.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    assert_eq!(store.status().await.unwrap().indexes, IndexHealth::Whole);
}

/// Overwrites the first leaf of a table or index of a closed file.
fn spoil(file: &File, owner: &str) {
    let first = "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path LIMIT 1";
    let foreign = file.foreign();
    // The WAL is copied into the file first.
    foreign.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let page = foreign.query_row(first, params![owner], |row| row.get(0)).unwrap();
    drop(foreign);
    overwrite(file, page, 0);
}

fn count(file: &File, sql: &str) -> i64 {
    file.foreign().query_row(sql, [], |row| row.get(0)).unwrap()
}

const REPLACED: &str = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'hx_replaced*' OR name GLOB '*_old'";
const DAMAGED: &str = "SELECT count(*) FROM sqlite_schema WHERE name GLOB 'hx_damaged*'";

/// If one of our own indexes has a damaged page, all are rebuilt, once; the unreadable table is left where it is.
#[tokio::test]
async fn a_damaged_page_of_our_own_indexes_costs_them_once() {
    let file = File::new();
    let store = file.open_idle();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let words = |from: usize| (from..from + 200).map(|n| format!("word{:x}", n * 7919)).collect::<Vec<_>>().join(" ");
    let said: Vec<NewMessage> = (0..20).map(|n| user(&words(n * 200))).collect();
    store.append(&id("a"), &said, &at(2.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    drop(store);
    spoil(&file, "hx_term");
    let before = std::fs::metadata(file.path()).unwrap().len();
    let store = file.open();
    for round in 0..4 {
        // It sorts before all other words.
        store.append(&id("a"), &[user(&format!("aardvark{round}"))], &at(3.0)).await.unwrap();
        let start = Instant::now();
        while store.status().await.unwrap().indexes != IndexHealth::Whole || count(&file, REPLACED) > 0 {
            assert!(start.elapsed().as_secs() < 60, "{round}: {:?}", store.status().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
    assert_eq!(count(&file, DAMAGED), 1);
    drop(store);
    let after = std::fs::metadata(file.path()).unwrap().len();
    assert!(after < 3 * before, "{before} bytes before, {after} after");
}

/// A discarded table that can't be read is left, and the rest is done.
#[tokio::test]
async fn a_damaged_page_of_an_index_that_was_replaced_is_in_nobodys_way() {
    let file = File::new();
    let store = file.open_idle();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.append(&id("a"), &[user("a word")], &at(2.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    drop(store);
    file.foreign()
        .execute_batch(
            "CREATE TABLE hx_replaced_words_data (id INTEGER PRIMARY KEY, block BLOB);
             CREATE TABLE hx_replaced_trigrams_data (id INTEGER PRIMARY KEY, block BLOB);
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
             INSERT INTO hx_replaced_words_data SELECT i, randomblob(500) FROM n;
             INSERT INTO hx_replaced_trigrams_data SELECT * FROM hx_replaced_words_data;",
        )
        .unwrap();
    spoil(&file, "hx_replaced_words_data");
    let store = file.open_idle();
    store.append(&id("a"), &[user("another word")], &at(3.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    assert_eq!(store.optimize().await.unwrap(), Optimizing::Done);
    assert_eq!((store.status().await.unwrap().indexes, count(&file, REPLACED)), (IndexHealth::Whole, 0));
    assert_eq!(count(&file, DAMAGED), 1);
}

/// Every write to `sessions` updates the index of lists. If that is damaged, it is removed and created again.
#[tokio::test]
async fn a_damaged_index_of_lists_costs_the_index_and_not_the_write() {
    let file = File::new();
    let store = file.open_idle();
    for number in 0..200 {
        store.create(&new(&format!("s{number:03}")), &at(1.0)).await.unwrap();
    }
    while store.upkeep().await.unwrap() {}
    drop(store);
    spoil(&file, "hx_sessions_card");
    let store = file.open_idle();
    store.append(&id("s000"), &[user("hello")], &at(3.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    assert_eq!(store.list(&ListRequest::default()).await.unwrap().rows[0].id, id("s000"));
    assert_eq!(store.messages(&id("s000"), &MessageRequest::first(9)).await.unwrap().len(), 1);
    let report = store.verify().await.unwrap();
    drop(store);
    assert_eq!(count(&file, "SELECT count(*) FROM sqlite_schema WHERE name = 'hx_sessions_card'"), 1);
    assert_eq!(count(&file, "SELECT count(*) FROM sessions INDEXED BY hx_sessions_card"), 200);
    // Pages of the old index may be left over; nothing else is wrong, and writes are not refused.
    let foreign = file.foreign();
    let mut lines = foreign.prepare("PRAGMA integrity_check").unwrap();
    let lines: Vec<String> = lines.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
    let is_fine = |line: &String| line == "ok" || line.starts_with("*** ") || line.ends_with("never used");
    assert!(lines.iter().flat_map(|text| text.lines().map(str::to_owned)).all(|line| is_fine(&line)), "{lines:?}");
    assert_eq!(hermes_sqlite::damage_marker(&file.path()), None, "{report:?}");
}

/// Only damage to the agent's tables stops all writes.
#[tokio::test]
async fn damage_in_an_index_sets_no_marker() {
    for (owner, is_marked) in [("messages_fts_data", false), ("hx_sessions_card", false), ("messages", true)] {
        let file = File::new();
        let store = file.open_idle();
        for number in 0..100 {
            let name = format!("s{number:03}");
            store.create(&new(&name), &at(1.0)).await.unwrap();
            store
                .append(&id(&name), &[user(&format!("{number} {}", "many words ".repeat(50)))], &at(2.0))
                .await
                .unwrap();
        }
        while store.upkeep().await.unwrap() {}
        drop(store);
        spoil(&file, owner);
        let report = crate::read_only::only_read(&file).verify().await.unwrap();
        let problems = report.problems();
        assert!(problems > 0, "{owner}");
        let marker = hermes_sqlite::damage_marker(&file.path());
        assert_eq!(marker.is_some(), is_marked, "{owner}: {report:?}");
        assert_eq!(file.path().with_file_name("state.db.damaged").exists(), is_marked, "{owner}");
    }
}
