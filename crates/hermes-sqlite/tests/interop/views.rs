//! The same data as we and the agent return it, in one form that can be compared.

use crate::fixture::{all_messages, id};
use crate::peer::Peer;
use hermes_session::{
    Content, ConversationStore as _, EndReason, Json, ListRequest, Message, MessageBody, PageRequest, SessionSummary,
    Timestamp,
};
use hermes_sqlite::SqliteStore;
use serde_json::{Map, Value, json};

/// Columns that the agent returns as JSON text.
const JSON_COLUMNS: [&str; 3] = ["reasoning_details", "codex_reasoning_items", "codex_message_items"];

fn tree(json: &Option<Json>) -> Value {
    json.as_ref().map_or(Value::Null, |json| json.to_value().unwrap())
}

/// Returns the fields of a message, by the agent's names.
pub(crate) fn fields(body: &MessageBody) -> Value {
    let content = match &body.content {
        None => Value::Null,
        Some(Content::Text(text)) => json!(text),
        Some(Content::Json(json)) => json.to_value().unwrap(),
        Some(Content::Bytes(_)) => panic!("no sample holds bytes"),
    };
    json!({
        "role": body.role.as_str(),
        "content": content,
        "tool_call_id": body.tool_call_id,
        "tool_calls": tree(&body.tool_calls),
        "tool_name": body.tool_name,
        "token_count": body.token_count,
        "finish_reason": body.finish_reason,
        "reasoning": body.reasoning,
        "reasoning_content": body.reasoning_content,
        "reasoning_details": tree(&body.reasoning_details),
        "codex_reasoning_items": tree(&body.codex_reasoning_items),
        "codex_message_items": tree(&body.codex_message_items),
    })
}

/// Returns the arguments with which the agent appends such a message.
pub(crate) fn arguments(session: &str, body: &MessageBody) -> Value {
    let mut arguments = fields(body);
    arguments["session_id"] = json!(session);
    arguments
}

fn message(message: &Message) -> Value {
    assert_eq!(message.faults, [], "message {}", message.id.0);
    let mut row = fields(&message.body);
    row["id"] = json!(message.id.0);
    row["session_id"] = json!(message.session_id.as_str());
    row["timestamp"] = json!(message.timestamp.seconds());
    row
}

/// Returns a session's messages as the agent returns them, in the columns that every release has.
pub(crate) fn their_messages(peer: &mut Peer, session: &str) -> Vec<Value> {
    let rows = peer.call("get_messages", json!({"session_id": session}));
    let known: Vec<String> = {
        let mut row = fields(&MessageBody::empty(hermes_session::Role::User));
        ["id", "session_id", "timestamp"].into_iter().for_each(|column| row[column] = Value::Null);
        row.as_object().unwrap().keys().cloned().collect()
    };
    let narrow = |row: &Value| {
        let value = |column: &String| match &row[column] {
            Value::String(text) if JSON_COLUMNS.contains(&column.as_str()) => serde_json::from_str(text).unwrap(),
            value => value.clone(),
        };
        Value::Object(known.iter().map(|column| (column.clone(), value(column))).collect::<Map<_, _>>())
    };
    rows.as_array().unwrap().iter().map(narrow).collect()
}

/// Checks that both sides read the same messages.
#[track_caller]
pub(crate) fn same_messages(ours: &[Message], theirs: &[Value]) {
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(theirs) {
        assert_eq!(&message(ours), theirs);
    }
}

/// Checks that both sides read the same messages in each of the sessions.
pub(crate) async fn same_transcripts(store: &SqliteStore, peer: &mut Peer, sessions: &[&str]) {
    for session in sessions {
        same_messages(&all_messages(store, session).await, &their_messages(peer, session));
    }
}

/// Returns the conversations, newest activity first.
pub(crate) async fn our_list(store: &SqliteStore) -> Vec<SessionSummary> {
    let listing =
        store.list(&ListRequest { page: PageRequest::first(10_000), ..ListRequest::default() }).await.unwrap();
    assert_eq!(listing.unreadable, []);
    listing.rows
}

/// Returns the conversations as `id(preview)`, newest activity first.
pub(crate) async fn shown(store: &SqliteStore) -> String {
    let rows: Vec<String> = our_list(store).await.iter().map(|row| format!("{}({})", row.id, row.preview)).collect();
    rows.join(" ")
}

/// Checks that both sides list the same conversations in the same order, with the same facts.
pub(crate) async fn same_list(store: &SqliteStore, peer: &mut Peer) {
    let ours: Vec<Value> = our_list(store)
        .await
        .iter()
        .map(|row| {
            json!({
                "id": row.id.as_str(),
                "source": row.source.as_str(),
                "user_id": row.user_id,
                "model": row.model,
                "title": row.title,
                "started_at": row.started_at.seconds(),
                "ended_at": row.ended_at.map(Timestamp::seconds),
                "end_reason": row.end_reason.as_ref().map(EndReason::as_str),
                "message_count": row.message_count,
                "tool_call_count": row.tool_call_count,
                "last_active": row.last_active.seconds(),
            })
        })
        .collect();
    let rows = peer.call("list_sessions_rich", json!({"limit": 10_000, "order_by_last_active": true}));
    let columns = [
        "id",
        "source",
        "user_id",
        "model",
        "title",
        "started_at",
        "ended_at",
        "end_reason",
        "message_count",
        "tool_call_count",
        "last_active",
    ];
    let narrow = |row: &Value| -> Value {
        Value::Object(columns.iter().map(|column| ((*column).to_owned(), row[*column].clone())).collect())
    };
    let theirs: Vec<Value> = rows.as_array().unwrap().iter().map(narrow).collect();
    assert_eq!(ours, theirs);
}

/// Returns the ids of the messages that the agent's search finds, ascending.
pub(crate) fn their_hits(peer: &mut Peer, query: &str) -> Vec<i64> {
    let hits = peer.call("search_messages", json!({"query": query, "limit": 1_000_000}));
    let mut ids: Vec<i64> = hits.as_array().unwrap().iter().map(|hit| hit["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    ids
}

/// Checks that both sides follow a session to the same end of its compressed chain.
pub(crate) async fn same_tip(store: &SqliteStore, peer: &mut Peer, session: &str, tip: &str) {
    assert_eq!(store.lineage(&id(session)).await.unwrap().tip(&id(session)), id(tip));
    assert_eq!(peer.call("get_compression_tip", json!({"session_id": session})), json!(tip));
}
