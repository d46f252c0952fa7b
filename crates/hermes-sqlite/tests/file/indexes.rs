//! Messages are the truth: an index that is missing, damaged or behind blocks no write, and is rebuilt.

use crate::fixture::{File, at, id, new, user};
use crate::verify::told;
use hermes_session::*;
use hermes_sqlite::SqliteStore;

const TEXTS: [&str; 3] = ["the quick fox", "大别山项目", "lazy dog"];

async fn filled(file: &File) -> SqliteStore {
    let store = file.open();
    for session in ["a", "b"] {
        store.create(&new(session), &at(1.0)).await.unwrap();
        store.append(&id(session), &TEXTS.map(user), &at(2.0)).await.unwrap();
    }
    while store.upkeep().await.unwrap() {}
    store
}

/// Appends, replaces and deletes, and checks the results.
async fn goes_on(store: &SqliteStore, what: &str) {
    store
        .append(&id("a"), &[user("一二三四"), user("more")], &at(3.0))
        .await
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    store
        .replace(&id("a"), &[user("instead 五六七")], &at(4.0))
        .await
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    let deleted = store
        .delete(&id("b"), DeleteExtent::Conversation, &at(5.0))
        .await
        .unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(deleted, Deleted { sessions: 1, messages: 3 }, "{what}");
    let kept = store.messages(&id("a"), &MessageRequest::first(9)).await.unwrap();
    assert_eq!(
        kept.iter().map(|message| message.body.plain_text().into_owned()).collect::<Vec<_>>(),
        ["instead 五六七"],
        "{what}"
    );
}

/// Checks that the indexes are sound, after a rebuild if the damage has to be detected first.
async fn assert_sound_after_upkeep(store: &SqliteStore, file: &File, what: &str) {
    while store.upkeep().await.unwrap() {}
    if !store.verify().await.unwrap().is_sound() {
        store.rebuild_indexes().await.unwrap();
        while store.optimize().await.unwrap() != Optimizing::Done {}
        while store.upkeep().await.unwrap() {}
    }
    assert_eq!(store.status().await.unwrap().indexes, IndexHealth::Whole, "{what}");
    assert_eq!(told(&store.verify().await.unwrap()), Vec::<String>::new(), "{what}");
    let foreign = file.foreign();
    for (table, query) in [("messages_fts", "instead"), ("messages_fts_trigram", "五六七")] {
        foreign.execute(&format!("INSERT INTO {table}({table}, rank) VALUES('integrity-check', 1)"), []).unwrap();
        let found: i64 = foreign
            .query_row(&format!("SELECT count(*) FROM {table} WHERE {table} MATCH ?"), [query], |row| row.get(0))
            .unwrap();
        assert_eq!(found, 1, "{what}: {query}");
    }
}

/// Damage to the indexes, and whether the next write detects it, so that no rebuild has to be requested.
const DAMAGES: [(&str, bool); 8] = [
    ("DROP TABLE messages_fts", true),
    ("DROP TABLE messages_fts; DROP TABLE messages_fts_trigram", true),
    ("DROP TRIGGER messages_fts_insert; DROP TRIGGER messages_fts_trigram_delete", true),
    ("DROP TABLE messages_fts_docsize", true),
    ("DROP TABLE messages_fts_trigram_data", true),
    ("UPDATE messages_fts_data SET block = x'0000000000010203' WHERE id = 10", true),
    // FTS5 notices only when a row is removed.
    ("UPDATE messages_fts_data SET block = zeroblob(50) WHERE id > 10", false),
    ("DROP VIEW hx_cjk_text", true),
];

#[tokio::test]
async fn damage_keeps_nobody_from_writing() {
    for (damage, shows) in DAMAGES {
        for reopened in [false, true] {
            let file = File::new();
            let mut store = Some(filled(&file).await).filter(|_| !reopened);
            file.foreign().execute_batch(damage).unwrap();
            let store = store.take().unwrap_or_else(|| file.open());
            let what = format!("{damage}, reopened: {reopened}");
            goes_on(&store, &what).await;
            while store.upkeep().await.unwrap() {}
            assert_eq!(store.verify().await.unwrap().is_sound(), shows, "{what}");
            assert_sound_after_upkeep(&store, &file, &what).await;
        }
    }
}

#[tokio::test]
async fn an_index_that_lags_by_one_row_is_found_and_rebuilt() {
    let file = File::new();
    let store = filled(&file).await;
    file.foreign()
        .execute_batch("INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', 3, 'lazy dog  ')")
        .unwrap();
    assert_eq!(
        told(&store.verify().await.unwrap()),
        ["indexes: problem messages_fts 3 is a message that is not in the index"]
    );
    store.rebuild_indexes().await.unwrap();
    goes_on(&store, "while they are made anew").await;
    assert_sound_after_upkeep(&store, &file, "lagging").await;
}

/// An agent whose SQLite has no FTS5 drops all triggers so that it can write. They stay dropped, and its messages are
/// found nevertheless.
#[tokio::test]
async fn triggers_that_were_all_taken_away_stay_away() {
    const TRIGGERS: &str = "SELECT count(*) FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'messages_fts*'";
    let file = File::new();
    let store = filled(&file).await;
    let foreign = file.foreign();
    for table in ["messages_fts", "messages_fts_trigram"] {
        for event in ["insert", "delete", "update"] {
            foreign.execute_batch(&format!("DROP TRIGGER {table}_{event}")).unwrap();
        }
    }
    foreign
        .execute_batch(
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'theirs 汉字汉', 9.0)",
        )
        .unwrap();
    store.append(&id("a"), &[user("ours 汉字汉")], &at(10.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    let count = |sql: &str| foreign.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count(TRIGGERS), 0);
    assert_eq!(count("SELECT count(*) FROM messages_fts WHERE messages_fts MATCH 'ours OR theirs'"), 2);
    assert_eq!(count("SELECT count(*) FROM messages_fts_trigram WHERE messages_fts_trigram MATCH '汉字汉'"), 2);
    goes_on(&store, "without triggers").await;
}

/// Background work meets the damage too, with no caller to report it to.
#[tokio::test]
async fn the_background_step_goes_on_with_new_indexes() {
    for damage in ["DROP TABLE messages_fts_docsize", "DROP TABLE messages_fts_idx", "DROP TABLE hx_cjk_data"] {
        let file = File::new();
        drop(filled(&file).await);
        let foreign = file.foreign();
        // A deletion whose process died.
        foreign
            .execute_batch(&format!(
                "INSERT INTO hx_hidden (session_id, state) VALUES ('b', 'doomed');
                 DELETE FROM hx_session WHERE session_id = 'b'; {damage};"
            ))
            .unwrap();
        let store = file.open();
        store.append(&id("a"), &[user("instead 五六七")], &at(3.0)).await.unwrap();
        let start = std::time::Instant::now();
        let left = || foreign.query_row("SELECT count(*) FROM messages", [], |row| row.get::<_, i64>(0)).unwrap();
        while left() != 4 || store.status().await.unwrap().indexes != IndexHealth::Whole {
            assert!(start.elapsed().as_secs() < 60, "{damage}: {} {:?}", left(), store.status().await);
            tokio::task::yield_now().await;
        }
        assert_sound_after_upkeep(&store, &file, damage).await;
    }
}
