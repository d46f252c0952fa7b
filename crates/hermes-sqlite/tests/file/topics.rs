//! The agent's tables of chat topics, and other data of the agent that no call returns.

use crate::fixture::{File, at, id, new};
use hermes_session::{
    ConversationStore as _, DeleteExtent, Foreign, GatewayStore as _, Maintenance as _, Scalar, SessionStore as _,
    Timestamp, TopicBinding, TopicMode, Topics, TopicsImported,
};

fn time(seconds: f64) -> Timestamp {
    Timestamp::from_seconds(seconds).unwrap()
}

fn one_of_each() -> Topics {
    let mode = TopicMode {
        chat_id: "7".into(),
        user_id: "u".into(),
        enabled: true,
        activated_at: time(1.0),
        updated_at: time(2.0),
        has_topics_enabled: None,
        allows_users_to_create_topics: Some(true),
        capability_checked_at: None,
        intro_message_id: None,
        pinned_message_id: None,
    };
    let binding = TopicBinding {
        chat_id: "7".into(),
        thread_id: "1".into(),
        user_id: "u".into(),
        session_key: "k".into(),
        session_id: id("a"),
        managed_mode: "auto".into(),
        linked_at: time(1.0),
        updated_at: time(2.5),
    };
    Topics { modes: vec![mode], bindings: vec![binding], unreadable: Vec::new() }
}

fn tables(file: &File) -> Vec<String> {
    let foreign = file.foreign();
    let mut statement =
        foreign.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%telegram%' ORDER BY 1").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn the_tables_are_made_when_something_is_put_in() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.topics().await.unwrap();
    store.import_topics(&Topics::default()).await.unwrap();
    store.delete(&id("a"), DeleteExtent::Conversation, &at(2.0)).await.unwrap();
    assert_eq!(tables(&file), Vec::<String>::new());
    assert_eq!(store.meta("telegram_dm_topic_schema_version").await.unwrap(), None);
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.import_topics(&one_of_each()).await.unwrap();
    let made = [
        "idx_telegram_dm_topic_bindings_session",
        "idx_telegram_dm_topic_bindings_user",
        "sqlite_autoindex_telegram_dm_topic_bindings_1",
        "sqlite_autoindex_telegram_dm_topic_mode_1",
        "telegram_dm_topic_bindings",
        "telegram_dm_topic_mode",
    ];
    assert_eq!(tables(&file), made);
    assert_eq!(store.meta("telegram_dm_topic_schema_version").await.unwrap().as_deref(), Some("2"));
    // The agent deletes a session, and its topic is free.
    file.foreign().execute("DELETE FROM sessions WHERE id = 'a'", []).unwrap();
    assert_eq!(store.topics().await.unwrap().bindings, []);
}

#[tokio::test]
async fn old_bindings_are_filled_and_left_to_the_agent() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    file.foreign()
        .execute_batch(
            "CREATE TABLE telegram_dm_topic_bindings (chat_id TEXT NOT NULL, thread_id TEXT NOT NULL, user_id TEXT NOT NULL,
             session_key TEXT NOT NULL, session_id TEXT NOT NULL REFERENCES sessions(id), managed_mode TEXT NOT NULL DEFAULT 'auto',
             linked_at REAL NOT NULL, updated_at REAL NOT NULL, PRIMARY KEY (chat_id, thread_id))",
        )
        .unwrap();
    let told = store.import_topics(&one_of_each()).await.unwrap();
    assert_eq!(told, TopicsImported { taken: 2, ..TopicsImported::default() });
    assert_eq!(store.meta("telegram_dm_topic_schema_version").await.unwrap(), None, "the agent makes them anew");
    assert_eq!(store.topics().await.unwrap(), one_of_each());
    store.delete(&id("a"), DeleteExtent::Conversation, &at(2.0)).await.unwrap();
    assert_eq!(store.topics().await.unwrap().bindings, []);
}

#[tokio::test]
async fn rows_that_cannot_be_read_are_reported() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.create(&new("b"), &at(1.0)).await.unwrap();
    store.import_topics(&one_of_each()).await.unwrap();
    file.foreign()
        .execute_batch(
            "INSERT INTO telegram_dm_topic_mode (chat_id, user_id, activated_at, updated_at) VALUES ('8', 'u', 'soon', 1), (NULL, 'u', 1, 1);
             INSERT INTO telegram_dm_topic_mode (chat_id, user_id, activated_at, updated_at, capability_checked_at) VALUES ('9', 'u', 1, 1, 'x');
             INSERT INTO telegram_dm_topic_bindings VALUES ('7', '2', x'ff', 'k', 'b', 'auto', 1, 1)",
        )
        .unwrap();
    let topics = store.topics().await.unwrap();
    let told: Vec<(&str, &str)> = topics.unreadable.iter().map(|row| (row.table, row.id.as_str())).collect();
    let (modes, bindings) = ("telegram_dm_topic_mode", "telegram_dm_topic_bindings");
    assert_eq!(told, [(modes, "NULL"), (modes, "8"), (modes, "9"), (bindings, "7 2")]);
    assert_eq!((topics.modes, topics.bindings), (one_of_each().modes, one_of_each().bindings));
}

#[tokio::test]
async fn what_newer_agents_add_is_counted() {
    let file = File::new();
    let store = file.open();
    store.create(&new("a"), &at(1.0)).await.unwrap();
    store.create(&new("b"), &at(1.0)).await.unwrap();
    file.foreign()
        .execute_batch(
            "ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
             ALTER TABLE sessions ADD COLUMN cwd TEXT;
             ALTER TABLE sessions ADD COLUMN profile_name TEXT;
             UPDATE sessions SET archived = 1, cwd = '/x' WHERE id = 'a'; UPDATE sessions SET cwd = '' WHERE id = 'b';
             CREATE TABLE session_model_usage (session_id TEXT, model TEXT, input_tokens INTEGER);
             INSERT INTO session_model_usage VALUES ('a', 'm', 1), ('a', 'n', 1), ('b', 'm', 1);
             CREATE TABLE compression_locks (session_id TEXT)",
        )
        .unwrap();
    // Columns of sessions and messages are carried; other tables are not.
    let expected = [Foreign { table: "session_model_usage".into(), column: None, rows: 3 }];
    assert_eq!(store.foreign().await.unwrap(), expected);
    let a = store.session(&id("a")).await.unwrap().unwrap();
    assert!(a.archived);
    assert_eq!(a.extra.get("cwd"), Some(&Scalar::Text("/x".into())));
    let b = store.session(&id("b")).await.unwrap().unwrap();
    assert_eq!((b.archived, b.extra.get("cwd")), (false, Some(&Scalar::Text(String::new()))));
}
