//! JSON line of a session: the agent's own keys in its own order, and the few keys that make the line complete.
//!
//! Columns that the tables keep as JSON are JSON here too, so that a column is parsed once. A text is a string,
//! structured content a list or an object. Where one key can't tell what it holds, a second one does:
//!
//! * `content_encoding: "base64"`: the content is bytes, as `{"base64": "…"}`.
//! * `content_encoding: "json"`: the content is a stored JSON null, not a missing value.
//! * `pinned_at`, `tags`: the pin and tags of the conversation, on the line of its first session.
//! * `state`: `compacted` or `undone`; a message without it is active. `archived`: 1 on the line of an archived
//!   session.
//! * Columns of newer agents that this crate does not model, under their names, where they hold something other than their default;
//!   `columns` holds those among them whose name has another meaning here.
//! * `faults`: columns that could not be read, with the reason and the value as it is stored.

use super::base64;
use crate::json::ObjectWriter;
use crate::{Content, Extra, Fault, Json, JsonKind, Message, PinAndTags, Session, SessionId, Timestamp};

/// Value of `format` on a session's line.
pub const FORMAT: &str = "hermes-sessions/1";

/// Returns a session's line up to the bracket that opens its messages. [`message_object`]s separated by `, ` follow,
/// then [`SESSION_LINE_END`](super::SESSION_LINE_END).
pub fn session_line_head(session: &Session) -> String {
    line_head_with_pin_and_tags(session, &PinAndTags::default())
}

/// Returns the head of a session's line with the pin and tags stored with the session. A session without them has no
/// keys for them.
pub fn line_head_with_pin_and_tags(session: &Session, pins_and_tags: &PinAndTags) -> String {
    let usage = &session.usage;
    let mut object = ObjectWriter::new();
    object
        .text("format", Some(FORMAT))
        .text("id", Some(session.id.as_str()))
        .text("source", Some(session.source.as_str()))
        .text("user_id", session.user_id.as_deref())
        .text("model", session.model.as_deref())
        .json("model_config", session.model_config.as_ref())
        .text("system_prompt", session.system_prompt.as_deref())
        .text("parent_session_id", session.parent_session_id.as_ref().map(SessionId::as_str))
        .double("started_at", Some(session.started_at.seconds()))
        .double("ended_at", session.ended_at.map(Timestamp::seconds))
        .text("end_reason", session.end_reason.as_ref().map(|reason| reason.as_str()))
        .integer("message_count", Some(session.message_count))
        .integer("tool_call_count", Some(session.tool_call_count))
        .integer("input_tokens", Some(usage.input_tokens))
        .integer("output_tokens", Some(usage.output_tokens))
        .integer("cache_read_tokens", Some(usage.cache_read_tokens))
        .integer("cache_write_tokens", Some(usage.cache_write_tokens))
        .integer("reasoning_tokens", Some(usage.reasoning_tokens))
        .text("billing_provider", usage.billing_provider.as_deref())
        .text("billing_base_url", usage.billing_base_url.as_deref())
        .text("billing_mode", usage.billing_mode.as_deref())
        .double("estimated_cost_usd", usage.estimated_cost_usd)
        .double("actual_cost_usd", usage.actual_cost_usd)
        .text("cost_status", usage.cost_status.as_deref())
        .text("cost_source", usage.cost_source.as_deref())
        .text("pricing_version", usage.pricing_version.as_deref())
        .text("title", session.title.as_deref())
        .integer("api_call_count", Some(usage.api_call_count))
        .text("handoff_state", session.handoff.state.as_deref())
        .text("handoff_platform", session.handoff.platform.as_deref())
        .text("handoff_error", session.handoff.error.as_deref())
        .text("relation", Some(session.relation.as_str()));
    if session.archived {
        object.integer("archived", Some(1));
    }
    add_extra(&mut object, &session.extra, &SESSION_KEYS);
    if let Some(pinned_at) = pins_and_tags.pinned_at {
        object.double("pinned_at", Some(pinned_at.seconds()));
    }
    if !pins_and_tags.tags.is_empty() {
        let tags: Vec<String> = pins_and_tags.tags.iter().map(|tag| Json::string(tag.as_str()).to_string()).collect();
        object.raw("tags", &format!("[{}]", tags.join(", ")));
    }
    add_faults(&mut object, &session.faults);
    let mut line = object.finish();
    line.truncate(line.len() - "}".len());
    line.push_str(", \"messages\": [");
    line
}

/// Returns a message as an element of its session's line.
pub fn message_object(message: &Message) -> String {
    let body = &message.body;
    let mut object = ObjectWriter::new();
    object
        .integer("id", Some(message.id.0))
        .text("session_id", Some(message.session_id.as_str()))
        .text("role", Some(body.role.as_str()));
    match &body.content {
        None => object.raw("content", "null"),
        Some(Content::Text(text)) => object.text("content", Some(text)),
        Some(Content::Json(json)) => object.json("content", Some(json)),
        Some(Content::Bytes(bytes)) => object.raw("content", &base64_object(bytes)),
    };
    object
        .text("tool_call_id", body.tool_call_id.as_deref())
        .json("tool_calls", body.tool_calls.as_ref())
        .text("tool_name", body.tool_name.as_deref())
        .double("timestamp", Some(message.timestamp.seconds()))
        .integer("token_count", body.token_count)
        .text("finish_reason", body.finish_reason.as_deref())
        .text("reasoning", body.reasoning.as_deref())
        .text("reasoning_content", body.reasoning_content.as_deref())
        .json("reasoning_details", body.reasoning_details.as_ref())
        .json("codex_reasoning_items", body.codex_reasoning_items.as_ref())
        .json("codex_message_items", body.codex_message_items.as_ref());
    match &body.content {
        Some(Content::Bytes(_)) => _ = object.text("content_encoding", Some("base64")),
        Some(Content::Json(json)) if json.kind() == JsonKind::Null => _ = object.text("content_encoding", Some("json")),
        _ => {}
    }
    if !message.state.is_active() {
        object.text("state", Some(message.state.as_str()));
    }
    add_extra(&mut object, &message.extra, &MESSAGE_KEYS);
    add_faults(&mut object, &message.faults);
    object.finish()
}

/// Keys of a session's line that do not stand for columns of the agent.
pub(crate) const SESSION_KEYS: [&str; 8] =
    ["format", "relation", "pinned_at", "tags", "trash", "columns", "faults", "messages"];

/// Keys of a message that do not stand for columns of the agent.
pub(crate) const MESSAGE_KEYS: [&str; 4] = ["content_encoding", "state", "columns", "faults"];

/// Adds the columns that are not modelled under their names, and those whose name is one of `keys` in an object of
/// their own.
fn add_extra(object: &mut ObjectWriter, extra: &Extra, keys: &[&str]) {
    let mut apart = Extra::new();
    for (column, value) in extra.iter() {
        match keys.contains(&column) {
            true => apart.put(column, value.clone()),
            false => value.write(column, object),
        }
    }
    if !apart.is_empty() {
        object.raw("columns", &apart.to_json());
    }
}

fn add_faults(object: &mut ObjectWriter, faults: &[Fault]) {
    if faults.is_empty() {
        return;
    }
    let mut columns = ObjectWriter::new();
    for (at, fault) in faults.iter().enumerate() {
        // Two faults of one column refer to the same stored value.
        if faults[..at].iter().any(|other| other.column == fault.column) {
            continue;
        }
        let mut entry = ObjectWriter::new();
        entry.text("why", Some(&fault.why));
        match std::str::from_utf8(&fault.raw) {
            Ok(text) => entry.text("raw", Some(text)),
            Err(_) => entry.raw("raw", &base64_object(&fault.raw)),
        };
        columns.raw(fault.column, &entry.finish());
    }
    object.raw("faults", &columns.finish());
}

fn base64_object(bytes: &[u8]) -> String {
    format!("{{\"base64\": {}}}", Json::string(&base64::encode(bytes)))
}

#[cfg(test)]
mod tests;
