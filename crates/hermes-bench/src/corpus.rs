//! Reads a corpus (JSONL, a session with its messages per line) and puts it into a store by its ordinary calls.

use crate::Anything;
use crate::stopwatch::Stopwatch;
use hermes_session::*;
use hermes_sqlite::SqliteStore;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// How many messages go in together; the store takes any number, but a lock should be short.
const BATCH: usize = 50;

/// The sessions of a corpus, one after the other.
pub(crate) fn sessions(path: &Path) -> Result<impl Iterator<Item = Result<Value, Anything>>, Anything> {
    let lines = BufReader::new(std::fs::File::open(path)?).lines();
    Ok(lines.map(|line| Ok(serde_json::from_str(&line?)?)))
}

/// Loads the corpus and tells how fast: until all is acknowledged, and until all is indexed and the file closed.
pub(crate) async fn load(file: &str, path: &Path) -> Result<Value, Anything> {
    let store = crate::open(file)?;
    let watch = Stopwatch::start();
    let (mut session_count, mut message_count) = (0, 0);
    for session in sessions(path)? {
        message_count += load_session(&store, &session?).await?;
        session_count += 1;
    }
    let seconds = watch.seconds();
    crate::settle(store).await?;
    let seconds_settled = watch.seconds();
    Ok(json!({
        "sessions": session_count, "messages": message_count, "seconds": seconds, "seconds_settled": seconds_settled,
        "cpu_seconds": watch.cpu_seconds(), "per_second": f64::from(message_count) / seconds,
        "per_second_settled": f64::from(message_count) / seconds_settled,
    }))
}

/// Makes a session of the corpus, without its messages.
pub(crate) async fn create(store: &SqliteStore, session: &Value) -> Result<SessionId, Anything> {
    let text = |key: &str| session[key].as_str().map(str::to_owned);
    let id = SessionId::parse(text("id").ok_or("a session without an id")?)?;
    let new = NewSession {
        user_id: text("user_id"),
        model: text("model"),
        model_config: Some(Json::from_value(&session["model_config"])),
        system_prompt: text("system_prompt"),
        parent_session_id: text("parent_session_id").map(SessionId::parse).transpose()?,
        ..NewSession::new(id.clone(), Source::parse(text("source").ok_or("a session without a source")?)?)
    };
    store.create(&new, &Request::at(time(&session["started_at"]).ok_or("a session without a start")?)).await?;
    Ok(id)
}

async fn load_session(store: &SqliteStore, session: &Value) -> Result<u32, Anything> {
    let text = |key: &str| session[key].as_str().map(str::to_owned);
    let id = create(store, session).await?;
    let started = Request::at(time(&session["started_at"]).ok_or("a session without a start")?);
    let messages: Vec<NewMessage> =
        session["messages"].as_array().into_iter().flatten().map(message).collect::<Result<_, _>>()?;
    for batch in messages.chunks(BATCH) {
        store.append(&id, batch, &started).await?;
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
    store.record_usage(&id, &usage, &started).await?;
    if let Some(title) = text("title").map(|title| Title::parse(&title)).transpose()? {
        store.allocate_title(&id, &title, &started).await?;
    }
    if let (Some(ended), Some(reason)) = (time(&session["ended_at"]), text("end_reason")) {
        store.end(&id, &EndReason::parse(reason)?, &Request::at(ended)).await?;
    }
    Ok(u32::try_from(messages.len())?)
}

fn time(value: &Value) -> Option<Timestamp> {
    value.as_f64().and_then(|seconds| Timestamp::from_seconds(seconds).ok())
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
