//! Search on files that are foreign, damaged or read-only: the answer is the same, and says how it was served.

use crate::child::told;
use crate::fixture::{File, at, id, new, user};
use crate::inline::agents_file;
use crate::old_schema::{ROWS, schema};
use hermes_conformance::oracle;
use hermes_conformance::property::search::{Scene, scene};
use hermes_session::search::matching::Tier;
use hermes_session::search::{Query, SearchRequest, Served, Way};
use hermes_session::{
    Content, ConversationStore as _, ListRequest, Maintenance as _, MessageBody, MessageId, MessageRequest, Optimizing,
    PageRequest, SessionStore as _, View, search_text,
};
use hermes_sqlite::SqliteStore;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRunner};
use rusqlite::{Connection, params};
use std::collections::BTreeMap;
use std::time::Duration;

const TEXTS: [&str; 6] = [
    "the quick fox, don't!",
    "大别山项目 fox",
    "lazy dogs in src/main.rs",
    "ship it 🚀",
    "ภาษาไทย",
    "Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunterbeamtengesellschaft",
];
const QUERIES: [&str; 13] = [
    "fox",
    "ox",
    "don't",
    "大别",
    "山",
    "fox 大",
    "dog",
    "main.rs",
    "🚀",
    "ไท",
    "betrieb",
    "fox NOT 大 OR dogs",
    "\"\" NOT fox",
];

async fn say(store: &SqliteStore) {
    for session in ["a", "b"] {
        store.create(&new(session), &at(1.0)).await.unwrap();
        store.append(&id(session), &TEXTS.map(user), &at(2.0)).await.unwrap();
    }
}

fn question(text: &str) -> SearchRequest {
    let timeout = Duration::from_secs(100);
    SearchRequest { relax: false, timeout, page: PageRequest::first(5), ..SearchRequest::new(Query::parse(text)) }
}

/// Returns every message as a person reads it.
async fn texts(store: &SqliteStore) -> BTreeMap<MessageId, String> {
    let all = ListRequest { view: View::Sessions, page: PageRequest::first(1_000), ..ListRequest::default() };
    let mut texts = BTreeMap::new();
    for row in store.list(&all).await.unwrap().rows {
        for message in store.messages(&row.id, &MessageRequest::first(u32::MAX)).await.unwrap() {
            texts.insert(message.id, search_text::of_body(&message.body).into_owned());
        }
    }
    texts
}

/// Returns how an answer differs from the expected one; `None` if it does not.
async fn difference(store: &SqliteStore, texts: &BTreeMap<MessageId, String>, text: &str) -> Option<String> {
    let request = question(text);
    let tier = |text: &String| oracle::tier(&request.query, text);
    let expect: Vec<(MessageId, Tier)> = texts.iter().filter_map(|(id, text)| Some((*id, tier(text)?))).collect();
    let hits = match oracle::every_page(store, &request).await {
        Ok(hits) => hits,
        Err(error) => return Some(format!("{text:?} ends in an error: {error}")),
    };
    let mut found: Vec<(MessageId, Tier)> = hits.iter().map(|hit| (hit.message, hit.tier)).collect();
    found.sort_unstable();
    let ids = |list: &[(MessageId, Tier)]| list.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    let is_same = if request.query.is_negative() { ids(&found) == ids(&expect) } else { found == expect };
    (!is_same).then(|| format!("{text:?} should find {expect:?}, but finds {found:?}"))
}

async fn check(store: &SqliteStore, what: &str) {
    let texts = texts(store).await;
    assert!(!texts.is_empty(), "{what}");
    for text in QUERIES {
        assert_eq!(difference(store, &texts, text).await, None, "{what}");
    }
}

async fn served(store: &SqliteStore, text: &str) -> Served {
    store.search(&question(text)).await.unwrap().served
}

/// Damage to the indexes.
const DAMAGES: [&str; 17] = [
    "UPDATE messages_fts_data SET block = zeroblob(50) WHERE id > 10",
    "UPDATE hx_cjk_data SET block = zeroblob(50) WHERE id > 10",
    "UPDATE hx_term_trigram_data SET block = zeroblob(50) WHERE id > 10",
    "DROP TABLE messages_fts",
    "DROP TABLE messages_fts; DROP TABLE messages_fts_trigram",
    "DROP TABLE messages_fts_data",
    "DROP TABLE messages_fts_idx",
    "UPDATE messages_fts_data SET block = x'0000000000010203' WHERE id = 10",
    "DELETE FROM messages_fts_data WHERE id > 10",
    "UPDATE messages_fts_data SET block = x'ff' WHERE id > 10",
    "DROP TABLE hx_term",
    "DROP TABLE hx_term_block",
    "DROP TABLE hx_term_trigram",
    "DROP TABLE hx_cjk",
    "DROP TABLE hx_cjk_data",
    "DROP TABLE hx_doclen",
    "DELETE FROM hx_cjk_data WHERE id > 10; DELETE FROM hx_term_trigram_data WHERE id > 10; DELETE FROM messages_fts_data WHERE id > 10",
];

#[tokio::test]
async fn damage_changes_no_answer() {
    for damage in DAMAGES {
        for is_reopened in [false, true] {
            let file = File::new();
            let mut store = file.open_idle();
            say(&store).await;
            while store.upkeep().await.unwrap() {}
            check(&store, "whole").await;
            assert_eq!(served(&store, "fox").await.way, Way::Index);
            file.foreign().execute_batch(damage).unwrap();
            if is_reopened {
                drop(store);
                store = file.open_idle();
            }
            check(&store, &format!("{damage}, reopened: {is_reopened}")).await;
        }
    }
}

/// Without an index, an answer says that it scanned all messages, and that no index covers them.
#[tokio::test]
async fn an_answer_says_that_it_scanned() {
    let file = File::new();
    let store = file.open_idle();
    say(&store).await;
    let expect =
        |way, unindexed| Served { way, is_relaxed: false, is_partial: false, unindexed, needs_adoption: false };
    assert_eq!(served(&store, "fox").await, expect(Way::Index, 12));
    while store.upkeep().await.unwrap() {}
    assert_eq!(served(&store, "fox").await, expect(Way::Index, 0));
    assert_eq!(served(&store, "🚀").await, expect(Way::Scan, 0));
    file.foreign().execute_batch("DROP TABLE messages_fts").unwrap();
    for _ in 0..3 {
        assert_eq!(served(&store, "fox").await, expect(Way::Scan, 12), "this store does nothing unasked");
    }
}

/// The agent fills no index of ours. If it is the only writer, searches have the backlog indexed.
#[tokio::test]
async fn what_the_agent_wrote_is_indexed_by_those_who_search() {
    let file = agents_file("INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0)");
    // Completes all other upkeep first.
    let store = file.open_idle();
    while store.upkeep().await.unwrap() {}
    drop(store);
    let foreign = file.foreign();
    let say = || {
        let sql =
            "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'the quick fox', 2.0)";
        foreign.execute(sql, []).unwrap();
    };
    let store = file.open();
    for _ in 0..2 {
        say();
        let start = std::time::Instant::now();
        while served(&store, "fox").await.unindexed > 0 {
            assert!(start.elapsed().as_secs() < 60, "nobody indexes it");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
    drop(store);
    // A command that searches once leaves the backlog indexed.
    say();
    let command = file.open();
    assert_eq!(served(&command, "fox").await.unindexed, 1);
    drop(command);
    assert_eq!(served(&file.open_idle(), "fox").await.unindexed, 0);
}

/// Messages that were not checked may match: an answer that ran out of time is partial, and never relaxed.
#[tokio::test]
async fn no_time_is_no_relaxation() {
    for is_indexed in [false, true] {
        let file = File::new();
        let store = file.open_idle();
        say(&store).await;
        while is_indexed && store.upkeep().await.unwrap() {}
        for text in ["fox", "🚀", "fox zebra", "大别 OR zebra", "\"\" NOT zebra", "ox", "quick*"] {
            let request = SearchRequest { relax: true, timeout: Duration::ZERO, ..question(text) };
            let served = store.search(&request).await.unwrap().served;
            assert!(served.is_partial && !served.is_relaxed, "{text}, indexed: {is_indexed}: {served:?}");
        }
    }
}

#[tokio::test]
async fn a_file_that_cannot_be_written_is_searched() {
    let file = File::new();
    let store = file.open_idle();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.append(&id("a"), &[user("hello there"), user("大别山")], &at(2.0)).await.unwrap();
    while store.upkeep().await.unwrap() {}
    drop(store);
    let output = crate::read_only::read(&file, 0o444, 0o555);
    assert_eq!(told(&output.stdout, "found"), ["[1] Index"], "{}", String::from_utf8_lossy(&output.stdout));
    let agents = agents_file(
        "INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0);
         INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', 'say hello', 1.0), ('a', 'user', '大', 2.0)",
    );
    let output = crate::read_only::read(&agents, 0o444, 0o555);
    assert_eq!(told(&output.stdout, "found"), ["[1] Scan"], "{}", String::from_utf8_lossy(&output.stdout));
}

/// A file of the agent, in its own layout, with JSON as the agent spells it.
#[tokio::test]
async fn the_agents_own_file() {
    let file = agents_file(
        r#"INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0);
           INSERT INTO messages (session_id, role, content, tool_calls, timestamp) VALUES
               ('a', 'user', 'the quick fox, don''t', NULL, 1.0),
               ('a', 'user', char(0) || 'json:[{"type": "text", "text": "\u5927\u522b\u5c71 fox"}]', NULL, 2.0),
               ('a', 'assistant', NULL, '[{"function": {"name": "f", "arguments": "{\"p\": \"src/main.rs\\ndogs \\u0e44\\u0e17 \\ud83d\\ude80 \\ud83e\\udd70\"}"}}]', 3.0);"#,
    );
    let store = file.open_idle();
    check(&store, "new to us").await;
    while store.upkeep().await.unwrap() {}
    check(&store, "its indexes").await;
    let found = async |text: &str| store.search(&question(text)).await.unwrap().hits.len();
    for (text, count) in
        [("大别", 1), ("ไท", 1), ("🚀", 1), ("🥰", 1), ("dogs", 1), ("ndogs", 0), ("u5927", 0), ("fox", 2), ("json", 0)]
    {
        assert_eq!(found(text).await, count, "{text}");
    }
    while store.optimize().await.unwrap() != Optimizing::Done {
        assert_eq!(served(&store, "fox").await.unindexed, 0, "the indexes in use stay whole");
    }
    while store.upkeep().await.unwrap() {}
    check(&store, "optimized").await;
}

/// Messages that are added while a trigger is missing are indexed nevertheless, even if the trigger exists again before
/// anything checks.
#[tokio::test]
async fn a_trigger_that_was_away_for_a_while_hides_nothing() {
    const TRIGGER: &str = "SELECT sql FROM sqlite_schema WHERE name = 'messages_fts_insert'";
    for is_back in [false, true] {
        let file = agents_file("INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0)");
        let store = file.open_idle();
        let foreign = file.foreign();
        let say = |text: &str| {
            let sql = "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('a', 'user', ?, 2.0)";
            foreign.execute(sql, [text]).unwrap();
        };
        while store.upkeep().await.unwrap() {}
        let trigger: String = foreign.query_row(TRIGGER, [], |row| row.get(0)).unwrap();
        foreign.execute_batch("DROP TRIGGER messages_fts_insert").unwrap();
        say("the quick fox");
        if is_back {
            foreign.execute_batch(&trigger).unwrap();
        }
        while store.upkeep().await.unwrap() {}
        let again: String = foreign.query_row(TRIGGER, [], |row| row.get(0)).unwrap();
        assert_eq!(again, trigger, "it was made again");
        say("a lazy fox");
        while store.upkeep().await.unwrap() {}
        let answer = store.search(&question("fox")).await.unwrap();
        assert_eq!((answer.hits.len(), answer.served.way, answer.served.unindexed), (2, Way::Index, 0), "{is_back}");
    }
}

#[tokio::test]
async fn files_of_old_schemas() {
    for version in 1..=10 {
        let file = File::new();
        file.foreign().execute_batch(&schema(version)).unwrap();
        file.foreign().execute_batch(ROWS).unwrap();
        let store = file.open_idle();
        check(&store, &format!("schema {version}")).await;
        while store.upkeep().await.unwrap() {}
        check(&store, &format!("schema {version}, indexed")).await;
        assert_eq!(store.search(&question("别山")).await.unwrap().hits[0].conversation, id("new"));
    }
}

/// Escapes JSON as Python does: ASCII only.
fn ascii(json: &str) -> String {
    let mut out = String::new();
    let mut units = [0; 2];
    for character in json.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            let units = character.encode_utf16(&mut units);
            units.iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        }
    }
    out
}

/// Writes a message as the agent does.
fn insert(foreign: &Connection, body: &MessageBody) {
    let content = body.content.as_ref().map(|content| match content {
        Content::Text(text) => text.clone(),
        Content::Json(json) => format!("\0json:{}", ascii(json.as_str())),
        Content::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    });
    let calls = body.tool_calls.as_ref().map(|calls| ascii(calls.as_str()));
    foreign
        .execute(
            "INSERT INTO messages (session_id, role, content, tool_name, tool_calls, timestamp) VALUES ('a', ?, ?, ?, ?, 2.0)",
            params![body.role.as_str(), content, body.tool_name, calls],
        )
        .unwrap();
}

async fn play(scene: &Scene, is_inline: bool) -> Result<(), String> {
    const SESSION: &str = "INSERT INTO sessions (id, source, started_at) VALUES ('a', 'cli', 1.0)";
    let file = if is_inline { agents_file(SESSION) } else { File::new() };
    let store = file.open_idle();
    if !is_inline {
        file.foreign().execute_batch(SESSION).unwrap();
    }
    let foreign = file.foreign();
    let half = scene.said.len() / 2;
    for (moment, said) in [("first", &scene.said[..half]), ("second", &scene.said[half..]), ("changed", &[])] {
        said.iter().for_each(|said| insert(&foreign, &said.message().body));
        if moment == "changed" {
            let sql = "UPDATE messages SET content = (SELECT content FROM messages WHERE id = 2) WHERE id = 1;
                       UPDATE messages SET content = 'foo ' || content, tool_calls = NULL WHERE id = 3; DELETE FROM messages WHERE id = 4";
            foreign.execute_batch(sql).unwrap();
        }
        for is_settled in [false, true] {
            while is_settled && store.upkeep().await.unwrap() {}
            let texts = texts(&store).await;
            for question in scene.questions() {
                if let Some(difference) = difference(&store, &texts, &question).await {
                    return Err(format!("{moment}, inline: {is_inline}, settled: {is_settled}: {difference}"));
                }
            }
        }
    }
    Ok(())
}

/// Random messages that the agent wrote, changed and deleted, in both layouts.
#[test]
fn random_messages_of_the_agents() {
    let cases = std::env::var("HERMES_PROPERTY_CASES").map_or(8, |text| text.parse().unwrap());
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 3_000,
        max_shrink_time: 30_000,
        ..Config::default()
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let outcome = TestRunner::new(config).run(&scene(), |scene| {
        for is_inline in [false, true] {
            runtime
                .block_on(play(&scene, is_inline))
                .map_err(|reason| TestCaseError::fail(format!("{reason}\n{scene}")))?;
        }
        Ok(())
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, _)) => panic!("{reason}"),
        Err(TestError::Abort(reason)) => panic!("no scene could be made: {reason}"),
    }
}
