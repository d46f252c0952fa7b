//! Each kind of damage, made by plain SQL past the store, is found and named; sound data is not reported.

use crate::fixture::{File, at, id, new, user};
use hermes_session::*;
use hermes_sqlite::SqliteStore;
use std::os::unix::fs::PermissionsExt as _;

/// Makes a chain of two with a delegate, a branch, and a conversation of its own, all indexed.
async fn family(file: &File) -> SqliteStore {
    let store = file.open();
    store.create(&new("root"), &at(10.0)).await.unwrap();
    store.append(&id("root"), &[user("the start"), user("大别山项目")], &at(11.0)).await.unwrap();
    store.create(&new("helper").child_of(id("root"), Relation::Delegate), &at(12.0)).await.unwrap();
    store.split(&id("root"), &NewChild::new(id("next")), &[user("go on")], &at(13.0)).await.unwrap();
    store.branch(&id("next"), &NewChild::new(id("fork")), &at(14.0)).await.unwrap();
    store.create(&new("alone"), &at(15.0)).await.unwrap();
    let calls = Json::parse(r#"[{"id": "1"}, {"id": "2"}]"#).unwrap();
    let calling = MessageBody { tool_calls: Some(calls), ..MessageBody::empty(Role::Assistant) };
    store.append(&id("alone"), &[user("hi"), calling.into()], &at(16.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    store
}

/// Returns every finding of a report, as `check: severity object what`.
pub(crate) fn told(report: &Report) -> Vec<String> {
    let line = |check: &Check, found: &Finding| {
        format!("{}: {} {} {}", check.name, found.severity.as_str(), found.object, found.what)
    };
    report.checks.iter().flat_map(|check| check.findings.iter().map(move |found| line(check, found))).collect()
}

/// Does the damage with the store open, and checks that exactly these findings are reported, each given by its start.
async fn damaged(damage: &str, expect: &[&str]) {
    damaged_in(File::new(), damage, expect).await;
}

/// Checks the same in a file with the agent's indexes.
async fn damaged_inline(damage: &str, expect: &[&str]) {
    damaged_in(crate::inline::agents_file(""), damage, expect).await;
}

async fn damaged_in(file: File, damage: &str, expect: &[&str]) {
    let store = family(&file).await;
    let report = store.verify().await.unwrap();
    assert_eq!(told(&report), Vec::<String>::new(), "before {damage}");
    let foreign = file.foreign();
    foreign.pragma_update(None, "foreign_keys", false).unwrap();
    foreign.execute_batch(damage).unwrap();
    let before: i64 = foreign.pragma_query_value(None, "data_version", |row| row.get(0)).unwrap();
    let report = store.verify().await.unwrap();
    let found = told(&report);
    assert_eq!(found.len(), expect.len(), "{damage}: {found:#?}");
    for (found, expect) in std::iter::zip(&found, expect) {
        assert!(found.starts_with(expect), "{damage}: {found}, not {expect}");
    }
    assert_eq!(report.is_sound(), !expect.iter().any(|line| line.contains(": problem ")), "{damage}");
    let after: i64 = foreign.pragma_query_value(None, "data_version", |row| row.get(0)).unwrap();
    assert_eq!(before, after, "verifying wrote something");
}

#[tokio::test]
async fn what_is_missing_is_named() {
    damaged("DROP TRIGGER messages_fts_insert", &["schema: problem trigger messages_fts_insert is missing"]).await;
    damaged("DROP TRIGGER hx_message_said", &["schema: problem trigger hx_message_said is missing"]).await;
    damaged("DROP INDEX idx_sessions_parent", &["schema: problem index idx_sessions_parent is missing"]).await;
    damaged("DROP INDEX hx_session_root", &["schema: problem index hx_session_root is missing"]).await;
    damaged(
        "DROP TABLE messages_fts_trigram",
        &[
            "schema: problem table messages_fts_trigram is missing",
            "indexes: problem table messages_fts_trigram can't be compared with the messages: no such table",
        ],
    )
    .await;
    damaged("DELETE FROM schema_version", &["schema: problem table schema_version has no row"]).await;
    damaged("INSERT INTO schema_version VALUES (11)", &["schema: problem table schema_version has 2 rows"]).await;
}

#[tokio::test]
async fn the_list_of_what_has_to_be_there_is_that_of_a_new_file() {
    let file = File::new();
    let store = file.open();
    let objects: u32 = file
        .foreign()
        .query_row(
            "SELECT count(*) FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
             AND NOT (type = 'table' AND name GLOB 'messages_fts*_*' AND name <> 'messages_fts_trigram') \
             AND name NOT GLOB 'hx_term_trigram_*' AND name NOT GLOB 'hx_cjk_[cdi]*' \
             AND name <> 'hx_sessions_card'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(store.verify().await.unwrap().check("schema").unwrap().looked_at, u64::from(objects));
}

#[tokio::test]
async fn the_agents_indexes_are_compared_message_by_message() {
    damaged_inline(
        "DELETE FROM messages_fts WHERE rowid = 2",
        &["indexes: problem messages_fts 2 is a message that is not in the index"],
    )
    .await;
    damaged_inline(
        "INSERT INTO messages_fts_trigram(rowid, content) VALUES (77, 'nobody said this')",
        &["indexes: problem messages_fts_trigram 77 is in the index, but there is no such message"],
    )
    .await;
    damaged_inline(
        "UPDATE messages_fts SET content = 'something else' WHERE rowid = 1",
        &["indexes: problem messages_fts 1 is in the index with another text than the message has"],
    )
    .await;
    damaged_inline(
        "UPDATE messages_fts_data SET block = zeroblob(8) WHERE id = 10",
        &["indexes: problem table messages_fts "],
    )
    .await;
    damaged_inline(
        "UPDATE messages_fts_content SET c0 = 'the end  ' WHERE id = 1",
        &[
            "indexes: problem table messages_fts ",
            "indexes: problem messages_fts 1 is in the index with another text than the message has",
        ],
    )
    .await;
}

#[tokio::test]
async fn trigrams_of_an_older_sqlite_are_no_damage() {
    // The older one stops at the U+0000. This reproduces its index, with the row set back to the text that it should
    // have.
    let cut = "UPDATE messages SET content = char(0) || 'json:[1]' WHERE id = 1;
         DELETE FROM messages_fts_trigram WHERE rowid = 1; INSERT INTO messages_fts_trigram(rowid, content) VALUES (1, '');
         UPDATE messages_fts_trigram_content SET c0 = (SELECT content || '  ' FROM messages WHERE id = 1) WHERE id = 1;";
    damaged_inline(
        cut,
        &[
            "indexes: note table messages_fts_trigram can't be checked as a whole: versions of SQLite differ",
            "side tables: note hx_session root has a stale preview and stale times; the next write refreshes them",
            "index backlog: note table messages has a message that is not indexed yet",
        ],
    )
    .await;
}

#[tokio::test]
async fn our_indexes_are_compared_message_by_message() {
    const TAKE_OUT: &str =
        "INSERT INTO messages_fts(messages_fts, rowid, content) VALUES ('delete', 2, '大别山项目  ')";
    let lacks = "indexes: problem messages_fts 2 is a message that is not in the index";
    damaged(TAKE_OUT, &[lacks]).await;
    damaged("DELETE FROM messages_fts_docsize WHERE id = 2", &[lacks]).await;
    damaged(
        "INSERT INTO messages_fts_trigram(rowid, content) VALUES (77, 'nobody said this')",
        &["indexes: problem messages_fts_trigram 77 is in the index, but there is no such message"],
    )
    .await;
    damaged(
        "INSERT INTO messages_fts_trigram(rowid, content) VALUES (1, 'the start  ')",
        &["indexes: problem messages_fts_trigram 1 is in the index, but should not be"],
    )
    .await;
    // The same rows, with another text.
    damaged(
        "DROP TRIGGER messages_fts_update; UPDATE messages SET content = 'the end' WHERE id = 1;
         UPDATE hx_session SET dirty = 0, preview = 'the end' WHERE session_id = 'root'",
        &[
            "schema: problem trigger messages_fts_update is missing",
            "indexes: problem messages_fts 1 is in the index with another text than the message has",
            "index backlog: note table messages has a message that is not indexed yet",
        ],
    )
    .await;
    // An index that states that it is empty.
    damaged(
        "UPDATE messages_fts_data SET block = zeroblob(8) WHERE id = 10",
        &["1", "2", "3", "4", "5", "6"]
            .map(|id| format!("indexes: problem messages_fts {id} is in the index with"))
            .each_ref()
            .map(String::as_str),
    )
    .await;
}

#[tokio::test]
async fn a_backlog_is_a_note_and_what_is_behind_it_is_not() {
    let file = crate::inline::agents_file("");
    let store = family(&file).await;
    file.foreign().execute_batch("DELETE FROM messages_fts_trigram; INSERT INTO hx_pending VALUES (2, 9)").unwrap();
    let report = store.verify().await.unwrap();
    assert_eq!(
        told(&report),
        [
            "indexes: problem messages_fts_trigram 1 is a message that is not in the index",
            "index backlog: note table messages has 5 messages that are not indexed yet"
        ]
    );
    file.foreign().execute_batch("UPDATE hx_pending SET first = 1").unwrap();
    assert!(store.verify().await.unwrap().is_sound());
    while store.upkeep().await.unwrap() {}
    assert_eq!(told(&store.verify().await.unwrap()), Vec::<String>::new());
}

#[tokio::test]
async fn counters_are_compared_with_the_rows() {
    damaged(
        "UPDATE sessions SET message_count = 9, tool_call_count = NULL WHERE id = 'alone'",
        &[
            "counters: problem sessions alone has message_count 9, not 2",
            "counters: problem sessions alone has tool_call_count 0, not 2",
        ],
    )
    .await;
    damaged(
        "UPDATE messages SET tool_calls = '{broken' WHERE tool_calls IS NOT NULL; UPDATE hx_session SET dirty = 0",
        &[
            "counters: problem messages 6 has tool_calls that are not JSON",
            "index backlog: note table messages has a message that is not indexed yet",
        ],
    )
    .await;
}

#[tokio::test]
async fn a_newer_agent_that_takes_back_leaves_its_counters() {
    damaged(
        "ALTER TABLE messages ADD COLUMN active INTEGER DEFAULT 1; ALTER TABLE messages ADD COLUMN compacted INTEGER DEFAULT 0;
         UPDATE messages SET active = 0 WHERE id = 2; UPDATE sessions SET message_count = 7 WHERE id = 'alone'",
        &[
            "counters: note sessions alone has message_count 7, not 2",
            "side tables: note hx_session root has a stale preview and stale times; the next write refreshes them",
        ],
    )
    .await;
}

#[tokio::test]
async fn relations_that_lead_nowhere() {
    damaged(
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('nobody', 'user', 'x', 5.0)",
        &[
            "relations: problem messages 7 belongs to the session nobody, which does not exist",
            "index backlog: note table messages has a message that is not indexed yet",
        ],
    )
    .await;
    damaged(
        "UPDATE sessions SET parent_session_id = 'gone' WHERE id = 'fork'; UPDATE hx_session SET dirty = 0",
        &["relations: note sessions fork has the parent gone, which does not exist"],
    )
    .await;
    damaged(
        "INSERT INTO sessions (id, source, started_at) VALUES (NULL, 'cli', 1.0), ('when', 'cli', 'soon')",
        &[
            "relations: problem sessions rowid 6 has no id",
            "relations: problem sessions when has a started_at that is not a time",
        ],
    )
    .await;
    damaged(
        "UPDATE sessions SET parent_session_id = 'fork' WHERE id = 'root'; UPDATE hx_session SET dirty = 0",
        &["relations: note sessions fork is its own ancestor: fork → next → root → fork"],
    )
    .await;
    damaged(
        "CREATE TABLE session_notes (session_id TEXT REFERENCES sessions(id)); INSERT INTO session_notes VALUES ('gone')",
        &["relations: problem session_notes rowid 1 refers to a row of sessions that does not exist"],
    )
    .await;
}

#[tokio::test]
async fn side_rows_are_recomputed_and_compared() {
    damaged("DELETE FROM hx_session WHERE session_id = 'alone'", &["side tables: problem hx_session alone is missing"])
        .await;
    damaged(
        "INSERT INTO hx_session (session_id, relation, root, tip, started_at, last_active, active) VALUES ('x', 'root', 'x', 'x', 1, 1, 1)",
        &["side tables: problem hx_session x belongs to a session that does not exist"],
    )
    .await;
    for (change, expect) in [
        ("preview = 'other' WHERE session_id = 'root'", "root has the preview \"other\", not \"the start\""),
        (
            "last_active = 99 WHERE session_id = 'helper'; UPDATE hx_session SET active = 99 WHERE session_id = 'root'",
            "helper has the last_active 99, not 12",
        ),
        ("active = 3 WHERE session_id = 'root'", "root has the active 3, not 13"),
        ("tip = 'root' WHERE session_id = 'root'", "root has the tip root, not next"),
        ("root = 'helper' WHERE session_id = 'helper'", "helper has the root helper, not root"),
        ("started_at = 1 WHERE session_id = 'fork'", "fork has another started_at than the session"),
        ("relation = 'twin' WHERE session_id = 'alone'", "alone has the unknown relation \"twin\""),
    ] {
        let expect = format!("side tables: problem hx_session {expect}");
        damaged(&format!("UPDATE hx_session SET {change}"), &[&expect]).await;
    }
}

#[tokio::test]
async fn rows_left_stale_by_foreign_writers_are_notes() {
    for work in [
        "UPDATE sessions SET parent_session_id = 'helper' WHERE id = 'next'",
        "UPDATE sessions SET parent_session_id = 'alone' WHERE id = 'helper'",
        "UPDATE sessions SET parent_session_id = 'alone' WHERE id = 'next'",
        "UPDATE sessions SET parent_session_id = NULL WHERE id = 'next'",
        "UPDATE sessions SET started_at = 50.0 WHERE id = 'next'",
        "DELETE FROM messages WHERE session_id = 'root'; UPDATE sessions SET message_count = 0 WHERE id = 'root'",
        "UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = 'root'; DELETE FROM messages WHERE session_id = 'root';
         DELETE FROM sessions WHERE id = 'root'",
        "INSERT INTO sessions (id, source, parent_session_id, started_at) VALUES ('child', 'cli', 'helper', 70.0)",
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('helper', 'user', 'first', 80.0);
         UPDATE sessions SET message_count = 1 WHERE id = 'helper'",
    ] {
        let file = File::new();
        let store = family(&file).await;
        file.foreign().execute_batch(work).unwrap();
        let report = store.verify().await.unwrap();
        assert!(report.is_sound(), "{work}: {:#?}", told(&report));
        while store.upkeep().await.unwrap() {}
        assert_eq!(told(&store.verify().await.unwrap()), Vec::<String>::new(), "{work}");
    }
}

#[tokio::test]
async fn a_file_that_others_may_read_is_a_note() {
    let file = File::new();
    let store = family(&file).await;
    std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let report = store.verify().await.unwrap();
    assert!(report.is_sound());
    assert!(told(&report)[0].starts_with("file: note file has mode 0644"), "{:?}", told(&report));
}

/// Overwrites one page of a closed file.
pub(crate) fn spoil(file: &File, page: i64) {
    use std::os::unix::fs::FileExt as _;
    let size: i64 = file.foreign().pragma_query_value(None, "page_size", |row| row.get(0)).unwrap();
    let bytes = std::fs::File::options().write(true).open(file.path()).unwrap();
    bytes.write_all_at(&vec![0xa5; size as usize], ((page - 1) * size) as u64).unwrap();
}

fn root_page(file: &File, name: &str) -> i64 {
    file.foreign().query_row("SELECT rootpage FROM sqlite_schema WHERE name = ?", [name], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn a_spoilt_page_is_reported_and_the_rest_is_still_looked_at() {
    for (tree, expect) in [
        ("messages", "file: problem table messages Tree "),
        ("idx_sessions_source", "file: problem index idx_sessions_source Tree "),
        ("hx_session", "file: problem table hx_session Tree "),
        ("messages_fts_data", "file: problem table messages_fts_data Tree "),
    ] {
        let file = File::new();
        drop(family(&file).await);
        spoil(&file, root_page(&file, tree));
        let report = file.open().verify().await.unwrap_or_else(|error| panic!("{tree}: {error:?}"));
        let found = told(&report);
        assert!(found.iter().any(|line| line.starts_with(expect)), "{tree}: {found:#?}");
        assert_eq!(report.checks.len(), 7);
        assert!(!found.iter().any(|line| line.starts_with("schema")), "{tree}: {found:#?}");
        let counters = report.check("counters").unwrap();
        assert_eq!(counters.problems > 0, tree == "messages", "{tree}: {counters:?}");
    }
}
