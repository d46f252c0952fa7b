//! Which messages of a conversation are in its window.

use crate::{Place, at, id, session};
use hermes_recall::{Reader, RecallRequest};
use hermes_session::search::SearchFilter;
use hermes_session::{Extent, Json, MessageBody, NewChild, NewMessage, Role, Scope, SessionStore as _};
use jiff::tz::TimeZone;
use std::sync::Arc;

/// Returns a message that only calls a tool.
fn call(query: &str) -> NewMessage {
    let calls = format!(r#"[{{"id": "c", "function": {{"name": "look", "arguments": {{"query": "{query}"}}}}}}]"#);
    let body = MessageBody::empty(Role::Assistant);
    MessageBody { tool_calls: Some(Json::parse(&calls).unwrap()), ..body }.into()
}

#[tokio::test]
async fn a_match_in_a_copy_is_shown_where_it_was_said_and_nowhere_else() {
    let place = Place::new();
    place.session(session("root", "cli"), 0.0).await;
    let person = |text: &str| NewMessage::new(Role::User, text);
    let mut texts = vec![person("plan the garden"), call(&format!("zinnias {}", "and so on ".repeat(20)))];
    let copied = texts.clone();
    for number in 0..40 {
        texts.extend([person("continue"), call(&format!("something else {number}"))]);
    }
    place.store.append(&id("root"), &texts, &at(1.0)).await.unwrap();
    let copied = [copied, vec![person("[CONTEXT SUMMARY]: a lot"), person(" continue"), person("go on")]].concat();
    place.store.split(&id("root"), &NewChild::new(id("tip")), &copied, &at(2.0)).await.unwrap();

    let filter = SearchFilter { sessions: Some(vec![id("tip")]), ..SearchFilter::default() };
    let request = RecallRequest { filter, budget: 1_000, ..RecallRequest::new("zinnias") };
    let results = place.recall(&request).await;
    let text = &results[0].window.text;
    assert!(text.contains("zinnias and so on and so on"), "{text}");
    assert!(text.starts_with("[USER]: plan the garden"), "what stands around has room: {text}");
}

#[tokio::test]
async fn what_an_agent_compacted_away_is_in_the_window_and_in_the_transcript() {
    let place = Place::new();
    place.session(session("s", "cli"), 0.0).await;
    place
        .say("s", &["plan the garden", "take the zinnias", "no, the beans", "[CONTEXT SUMMARY]: a lot", "go on"])
        .await;
    // As in schema 22: compacted in the same session, or undone.
    place.foreign(
        "ALTER TABLE messages ADD COLUMN active INTEGER NOT NULL DEFAULT 1;
         ALTER TABLE messages ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
         UPDATE messages SET active = 0 WHERE id <= 3; UPDATE messages SET compacted = 1 WHERE id <= 2;",
    );
    let said = "[USER, compacted]: plan the garden\n\n[ASSISTANT, compacted]: take the zinnias\n\n[ASSISTANT]: [CONTEXT SUMMARY]: a lot\n\n[USER]: go on";
    let results = place.recall(&RecallRequest::new("zinnias")).await;
    assert_eq!(results[0].window.text, said);
    let reader = Reader::new(Arc::new(place.store), Scope::All);
    assert_eq!(reader.transcript(&id("s"), 10_000).await.unwrap().trim_end(), said);
    // The extent selects the states of the messages on a page; each message has its state.
    for (extent, states) in [
        (Extent::Transcript, &["active"; 2][..]),
        (Extent::Said, &["compacted", "compacted", "active", "active"]),
        (Extent::Every, &["compacted", "compacted", "undone", "active", "active"]),
    ] {
        let read = hermes_recall::page(&reader.read_extent(&id("s"), None, 100, extent).await.unwrap(), &TimeZone::UTC);
        let told = read["messages"].as_array().unwrap().iter();
        let told: Vec<&str> = told.map(|message| message["state"].as_str().unwrap_or("active")).collect();
        assert_eq!(told, states);
    }
}
