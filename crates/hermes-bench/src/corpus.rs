//! Reads a corpus (JSONL, a session with its messages per line) and imports it.

use crate::Anything;
use crate::stopwatch::Stopwatch;
use hermes_session::import::{ImportOptions, import};
use hermes_session::*;
use hermes_sqlite::SqliteStore;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// Returns the sessions of a corpus one by one.
pub(crate) fn sessions(path: &Path) -> Result<impl Iterator<Item = Result<Value, Anything>>, Anything> {
    let lines = BufReader::new(std::fs::File::open(path)?).lines();
    Ok(lines.map(|line| Ok(serde_json::from_str(&line?)?)))
}

/// Imports the corpus and reports the speed: until all is acknowledged, and until all is indexed and the file closed.
pub(crate) async fn load(file: &str, path: &Path) -> Result<Value, Anything> {
    let store = crate::open(file)?;
    let watch = Stopwatch::start();
    let mut lines = BufReader::new(std::fs::File::open(path)?);
    let report =
        import(&store, &mut lines, ImportOptions { is_strict: true, ..ImportOptions::default() }, &mut |_| {}).await?;
    if report.conflicts + report.skipped > 0 {
        return Err(format!("not all was imported: {report:?}").into());
    }
    let seconds = watch.seconds();
    crate::settle(store).await?;
    let (seconds_settled, messages) = (watch.seconds(), report.messages as f64);
    Ok(json!({
        "sessions": report.sessions, "messages": report.messages, "seconds": seconds, "seconds_settled": seconds_settled,
        "cpu_seconds": watch.cpu_seconds(), "per_second": messages / seconds, "per_second_settled": messages / seconds_settled,
    }))
}

/// Creates a session of the corpus, without its messages.
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

fn time(value: &Value) -> Option<Timestamp> {
    value.as_f64().and_then(|seconds| Timestamp::from_seconds(seconds).ok())
}

/// Converts a message of the corpus.
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
