//! Reads a corpus (JSONL, a session with its messages per line) and puts it into a store by its ordinary calls.

use crate::Anything;
use hermes_session::*;
use hermes_sqlite::SqliteStore;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::time::Instant;

/// How many messages go in together; the store takes any number, but a lock should be short.
const BATCH: usize = 50;

/// The sessions of a corpus, one after the other.
pub(crate) fn sessions(path: &Path) -> Result<impl Iterator<Item = Result<Value, Anything>>, Anything> {
    let lines = BufReader::new(std::fs::File::open(path)?).lines();
    Ok(lines.map(|line| Ok(serde_json::from_str(&line?)?)))
}

/// Loads the corpus and tells how fast.
pub(crate) async fn load(store: &SqliteStore, path: &Path) -> Result<Value, Anything> {
    let start = Instant::now();
    let (mut session_count, mut message_count) = (0, 0);
    for session in sessions(path)? {
        let session = session?;
        message_count += load_session(store, &session).await?;
        session_count += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(
        json!({"sessions": session_count, "messages": message_count, "seconds": seconds, "messages_per_second": message_count as f64 / seconds}),
    )
}

async fn load_session(store: &SqliteStore, session: &Value) -> Result<usize, Anything> {
    let text = |key: &str| session[key].as_str().map(str::to_owned);
    let time = |value: &Value| value.as_f64().and_then(|seconds| Timestamp::from_seconds(seconds).ok());
    let started = time(&session["started_at"]).ok_or("a session without a start")?;
    let id = SessionId::parse(text("id").ok_or("a session without an id")?)?;
    let new = NewSession {
        user_id: text("user_id"),
        model: text("model"),
        model_config: Some(Json::from_value(&session["model_config"])),
        system_prompt: text("system_prompt"),
        parent_session_id: text("parent_session_id").map(SessionId::parse).transpose()?,
        ..NewSession::new(id.clone(), Source::parse(text("source").ok_or("a session without a source")?)?)
    };
    store.create(&new, &Request::at(started)).await?;
    let messages: Vec<NewMessage> =
        session["messages"].as_array().into_iter().flatten().map(message).collect::<Result<_, _>>()?;
    for batch in messages.chunks(BATCH) {
        store.append(&id, batch, &Request::at(started)).await?;
    }
    let usage = UsageUpdate {
        input_tokens: session["input_tokens"].as_i64(),
        output_tokens: session["output_tokens"].as_i64(),
        cache_read_tokens: session["cache_read_tokens"].as_i64(),
        cache_write_tokens: session["cache_write_tokens"].as_i64(),
        reasoning_tokens: session["reasoning_tokens"].as_i64(),
        api_call_count: session["api_call_count"].as_i64(),
        estimated_cost_usd: session["estimated_cost_usd"].as_f64(),
        billing_provider: text("billing_provider"),
        ..UsageUpdate::default()
    };
    store.record_usage(&id, &usage, &Request::at(started)).await?;
    if let Some(title) = text("title").map(|title| Title::parse(&title)).transpose()? {
        store.allocate_title(&id, &title, &Request::at(started)).await?;
    }
    if let (Some(ended), Some(reason)) = (time(&session["ended_at"]), text("end_reason")) {
        store.end(&id, &EndReason::parse(reason)?, &Request::at(ended)).await?;
    }
    Ok(messages.len())
}

/// A message of the corpus.
pub(crate) fn message(message: &Value) -> Result<NewMessage, Anything> {
    let text = |key: &str| message[key].as_str().map(str::to_owned);
    let json = |key: &str| message.get(key).filter(|value| !value.is_null()).map(Json::from_value);
    let body = MessageBody {
        content: message
            .get("content")
            .filter(|value| !value.is_null())
            .map(|value| Content::from_json(Json::from_value(value))),
        tool_call_id: text("tool_call_id"),
        tool_calls: json("tool_calls"),
        tool_name: text("tool_name"),
        token_count: message["token_count"].as_i64(),
        finish_reason: text("finish_reason"),
        reasoning: text("reasoning"),
        ..MessageBody::empty(Role::parse(message["role"].as_str().unwrap_or_default())?)
    };
    let timestamp = message["timestamp"].as_f64().map(Timestamp::from_seconds).transpose()?;
    Ok(NewMessage { body, timestamp })
}
