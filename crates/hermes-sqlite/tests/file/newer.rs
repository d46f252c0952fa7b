//! Live clients of a file with the columns and tables of newer agents, which are kept right.

use crate::fixture::{File, at, id, new, user};
use hermes_session::live::{
    Account, Inbound, InboxId, NewTurn, Origin, RouteKey, RoutePatch, Said, Switch, SwitchTo, TurnKind,
};
use hermes_session::{
    ConversationStore as _, DeleteExtent, MailStore as _, MessageRequest, MessageState, NewChild, RouteStore as _,
    SessionStore as _, TurnStore as _,
};
use hermes_sqlite::SqliteStore;

/// What agent 0.19 has of it, with entries of its own.
const NEWER: &str = r#"
    ALTER TABLE sessions ADD COLUMN session_key TEXT; ALTER TABLE sessions ADD COLUMN chat_id TEXT;
    ALTER TABLE sessions ADD COLUMN chat_type TEXT; ALTER TABLE sessions ADD COLUMN thread_id TEXT;
    ALTER TABLE sessions ADD COLUMN display_name TEXT; ALTER TABLE sessions ADD COLUMN origin_json TEXT;
    ALTER TABLE sessions ADD COLUMN rewind_count INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE messages ADD COLUMN platform_message_id TEXT;
    ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE messages ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE gateway_routing (
        scope TEXT NOT NULL DEFAULT '', session_key TEXT NOT NULL, entry_json TEXT NOT NULL, updated_at REAL NOT NULL,
        PRIMARY KEY (scope, session_key)
    );
    INSERT INTO gateway_routing VALUES
        ('s', 'agent:main:telegram:dm:8', '{"session_id": "theirs", "model_override": {"model": "x"}}', 1.0),
        ('s', 'agent:main:telegram:dm:9', 'not json', 1.0);
"#;

fn file() -> File {
    let file = File::new();
    drop(file.open());
    file.foreign().execute_batch(NEWER).unwrap();
    file
}

fn key(chat: &str) -> RouteKey {
    RouteKey {
        platform: "telegram".into(),
        account: "telegram:1".into(),
        chat_type: "dm".into(),
        chat: chat.into(),
        thread: None,
        participant: None,
    }
}

async fn switch(store: &SqliteStore, chat: &str, session: &str, expected: Option<i64>, seconds: f64) {
    let origin = Origin {
        session_key: format!("agent:main:telegram:dm:{chat}"),
        source: Some(format!(r#"{{"chat_id": "{chat}"}}"#)),
        display_name: Some("Ada".into()),
    };
    let to = SwitchTo::New(Box::new(new(session)));
    let switch = Switch { key: key(chat), expected, to, end: None, origin: Some(origin), notice: None };
    store.switch(&switch, &at(seconds)).await.unwrap();
}

fn text(file: &File, sql: &str) -> Option<String> {
    file.foreign().query_row(sql, [], |row| row.get(0)).unwrap()
}

fn entry(file: &File, chat: &str, field: &str) -> Option<String> {
    text(
        file,
        &format!(
            "SELECT max(json_extract(entry_json, '$.{field}')) FROM gateway_routing \
             WHERE session_key = 'agent:main:telegram:dm:{chat}' AND json_valid(entry_json)"
        ),
    )
}

#[tokio::test]
async fn the_agents_routes_follow_ours() {
    let file = file();
    let store = file.open();
    switch(&store, "7", "ours", None, 1.0).await;
    let scope = text(&file, "SELECT scope FROM gateway_routing WHERE session_key GLOB '*:7'");
    assert_eq!(scope, Some(file.path().with_file_name("sessions").display().to_string()));
    for (field, value) in [
        ("session_id", "ours"),
        ("session_key", "agent:main:telegram:dm:7"),
        ("platform", "telegram"),
        ("chat_type", "dm"),
        ("display_name", "Ada"),
        ("origin.chat_id", "7"),
    ] {
        assert_eq!(entry(&file, "7", field).as_deref(), Some(value), "{field}");
    }
    assert!(entry(&file, "7", "created_at").is_some_and(|time| time.len() == 23 && time.contains('T')));
    // An entry of theirs keeps what we do not know; one that we can't read stays.
    switch(&store, "8", "eight", None, 2.0).await;
    assert_eq!(entry(&file, "8", "session_id").as_deref(), Some("eight"));
    assert_eq!(entry(&file, "8", "model_override.model").as_deref(), Some("x"));
    switch(&store, "9", "nine", None, 2.0).await;
    let odd = text(&file, "SELECT entry_json FROM gateway_routing WHERE session_key GLOB '*:9'");
    assert_eq!(odd.as_deref(), Some("not json"));
    let patch = RoutePatch { suspended: Some(true), ..RoutePatch::default() };
    store.patch_route(&key("7"), &patch, &at(3.0)).await.unwrap();
    let suspended =
        text(&file, "SELECT entry_json ->> '$.suspended' || '' FROM gateway_routing WHERE session_key GLOB '*:7'");
    assert_eq!(suspended.as_deref(), Some("1"));
    store.split(&id("ours"), &NewChild::new(id("next")), &[], &at(4.0)).await.unwrap();
    assert_eq!(entry(&file, "7", "session_id").as_deref(), Some("next"));
    store.delete(&id("next"), DeleteExtent::Conversation, &at(5.0)).await.unwrap();
    let left = text(&file, "SELECT group_concat(substr(session_key, -1), ' ') FROM gateway_routing");
    assert_eq!(left.as_deref(), Some("8 9"));
}

#[tokio::test]
async fn a_session_of_a_route_names_its_place() {
    let file = file();
    let store = file.open();
    switch(&store, "7", "ours", None, 1.0).await;
    let place = text(
        &file,
        "SELECT session_key || ' ' || chat_id || ' ' || chat_type || ' ' || coalesce(thread_id, '-') || ' ' || display_name \
         || ' ' || origin_json FROM sessions WHERE id = 'ours'",
    );
    assert_eq!(place.as_deref(), Some(r#"agent:main:telegram:dm:7 7 dm - Ada {"chat_id": "7"}"#));
    let account = Account::parse("telegram:1").unwrap();
    let inbound =
        Inbound { chat: "7".into(), message_id: "4711".into(), route: None, session: None, payload: "hi".into() };
    store.receive(&account, &[inbound], None, &at(2.0)).await.unwrap();
    let said = vec![Said { message: user("hi"), inbox: Some(InboxId(1)) }, user("from a terminal").into()];
    let (kind, route, opened_by) = (TurnKind::Person, Some(key("7")), "test".into());
    store.open_turn(&NewTurn { session: id("ours"), kind, route, opened_by, said }, &at(3.0)).await.unwrap();
    let ids = text(&file, "SELECT group_concat(coalesce(platform_message_id, '-'), ' ') FROM messages");
    assert_eq!(ids.as_deref(), Some("4711 -"));
}

/// Undone messages stay where the agent's own rewind leaves them, and come back from the trash with their batch.
#[tokio::test]
async fn undone_messages_stay_in_the_agents_table() {
    let file = file();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    let said: Vec<_> = ["one", "two", "three", "four"].into_iter().map(user).collect();
    let ids = store.append(&id("a"), &said, &at(2.0)).await.unwrap();
    file.foreign().execute("UPDATE messages SET active = 0 WHERE id = ?", [ids[3].0]).unwrap();
    store.undo(&id("a"), ids[1], &at(3.0)).await.unwrap();
    let rows = text(
        &file,
        "SELECT group_concat(active || compacted, ' ') || ' ' || (SELECT rewind_count FROM sessions) FROM messages",
    );
    assert_eq!(rows.as_deref(), Some("10 00 00 00 1"));
    let batches = async || {
        let undone = store.undone(&id("a")).await.unwrap();
        undone.iter().map(|undone| (undone.message.id, undone.batch, undone.undone_at)).collect::<Vec<_>>()
    };
    let expected = [(ids[1], Some(1), Some(at(3.0).at)), (ids[2], Some(1), Some(at(3.0).at)), (ids[3], None, None)];
    assert_eq!(batches().await, expected);
    store.trash_chain(&id("a"), at(1e6).at, &at(4.0)).await.unwrap();
    assert_eq!(store.restore(&id("a"), &at(5.0)).await.unwrap().messages, 4);
    assert_eq!(batches().await, expected);
    let every = store.messages(&id("a"), &MessageRequest::first(9).every()).await.unwrap();
    let states: Vec<_> = every.iter().map(|message| message.state).collect();
    assert_eq!(states, [MessageState::Active, MessageState::Undone, MessageState::Undone, MessageState::Undone]);
}
