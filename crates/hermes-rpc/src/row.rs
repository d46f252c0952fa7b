//! Rows like those of the agent's store: its columns, in its order.
//!
//! They are written field by field and not as types of `hermes-wire`: numbers may be `NaN` or infinite, values may be
//! bytes, and JSON is a text in the agent's formatting, with lone surrogates and numbers of any size. `wire` encodes
//! these for the pipe.

use crate::wire;
use hermes_session::json::{Json, ObjectWriter};
use hermes_session::{Content, Message, Session, SessionId, Timestamp};

/// Length of a preview in characters.
const PREVIEW: usize = 60;

/// Returns a row of the table of sessions, to which the caller may add columns.
pub(crate) fn session(session: &Session) -> ObjectWriter {
    let usage = &session.usage;
    let mut row = ObjectWriter::new();
    row.text("id", Some(session.id.as_str()))
        .text("source", Some(session.source.as_str()))
        .text("user_id", session.user_id.as_deref())
        .text("model", session.model.as_deref());
    json_text(&mut row, "model_config", session.model_config.as_ref());
    row.text("system_prompt", session.system_prompt.as_deref())
        .text("parent_session_id", session.parent_session_id.as_ref().map(SessionId::as_str));
    double(&mut row, "started_at", Some(session.started_at.seconds()));
    double(&mut row, "ended_at", session.ended_at.map(Timestamp::seconds));
    row.text("end_reason", session.end_reason.as_ref().map(|reason| reason.as_str()))
        .integer("message_count", Some(session.message_count))
        .integer("tool_call_count", Some(session.tool_call_count))
        .integer("input_tokens", Some(usage.input_tokens))
        .integer("output_tokens", Some(usage.output_tokens))
        .integer("cache_read_tokens", Some(usage.cache_read_tokens))
        .integer("cache_write_tokens", Some(usage.cache_write_tokens))
        .integer("reasoning_tokens", Some(usage.reasoning_tokens))
        .text("billing_provider", usage.billing_provider.as_deref())
        .text("billing_base_url", usage.billing_base_url.as_deref())
        .text("billing_mode", usage.billing_mode.as_deref());
    double(&mut row, "estimated_cost_usd", usage.estimated_cost_usd);
    double(&mut row, "actual_cost_usd", usage.actual_cost_usd);
    row.text("cost_status", usage.cost_status.as_deref())
        .text("cost_source", usage.cost_source.as_deref())
        .text("pricing_version", usage.pricing_version.as_deref())
        .text("title", session.title.as_deref())
        .integer("api_call_count", Some(usage.api_call_count))
        .text("handoff_state", session.handoff.state.as_deref())
        .text("handoff_platform", session.handoff.platform.as_deref())
        .text("handoff_error", session.handoff.error.as_deref());
    row
}

/// Returns a row of the table of messages, with its content and its tool calls decoded.
pub(crate) fn message(message: &Message) -> String {
    let body = &message.body;
    let text = match &body.content {
        Some(Content::Text(text)) if unread(message, "content").is_none() => Some(text.as_str()),
        _ => None,
    };
    let mut row = ObjectWriter::with_room(text.map_or(0, str::len) + 512);
    row.integer("id", Some(message.id.0))
        .text("session_id", Some(message.session_id.as_str()))
        .text("role", Some(body.role.as_str()));
    match text {
        Some(text) => row.text("content", Some(text)),
        None => row.raw("content", &content_of(message)),
    };
    row.text("tool_call_id", body.tool_call_id.as_deref())
        .raw("tool_calls", &tool_calls(message))
        .text("tool_name", body.tool_name.as_deref());
    double(&mut row, "timestamp", Some(message.timestamp.seconds()));
    row.integer("token_count", body.token_count)
        .text("finish_reason", body.finish_reason.as_deref())
        .text("reasoning", body.reasoning.as_deref())
        .text("reasoning_content", body.reasoning_content.as_deref());
    for (column, json) in [
        ("reasoning_details", &body.reasoning_details),
        ("codex_reasoning_items", &body.codex_reasoning_items),
        ("codex_message_items", &body.codex_message_items),
    ] {
        match unread(message, column) {
            Some(raw) => _ = row.raw(column, &raw),
            None => json_text(&mut row, column, json.as_ref()),
        }
    }
    row.finish()
}

/// Returns the content of a message; as it is stored if it can't be decoded.
pub(crate) fn content_of(message: &Message) -> String {
    unread(message, "content").unwrap_or_else(|| content(message.body.content.as_ref()))
}

/// Returns content as a value.
pub(crate) fn content(content: Option<&Content>) -> String {
    match content {
        None => "null".into(),
        Some(Content::Text(text)) => Json::string(text).as_str().to_owned(),
        Some(Content::Json(json)) => wire::encode(json.as_str()).into_owned(),
        Some(Content::Bytes(bytes)) => wire::bytes(bytes),
    }
}

/// Returns the tool calls of a message; an empty list if they can't be decoded.
pub(crate) fn tool_calls(message: &Message) -> String {
    match &message.body.tool_calls {
        _ if unread(message, "tool_calls").is_some() => "[]".into(),
        Some(json) => wire::encode(json.as_str()).into_owned(),
        None => "null".into(),
    }
}

/// Returns the stored value of a column that could not be decoded.
pub(crate) fn unread(message: &Message, column: &str) -> Option<String> {
    let fault = message.faults.iter().find(|fault| fault.column == column)?;
    Some(match std::str::from_utf8(&fault.raw) {
        Ok(text) => Json::string(text).as_str().to_owned(),
        Err(_) => wire::bytes(&fault.raw),
    })
}

/// Adds a number that may be null.
pub(crate) fn double(row: &mut ObjectWriter, key: &str, number: Option<f64>) {
    row.raw(key, &number.map_or_else(|| "null".to_owned(), wire::double));
}

/// Returns the preview of a conversation, cut to the agent's length.
pub(crate) fn preview(text: &str) -> String {
    match text.char_indices().nth(PREVIEW) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Adds JSON as a text, formatted as the agent stores it: ASCII only.
fn json_text(row: &mut ObjectWriter, key: &str, json: Option<&Json>) {
    row.text(key, json.map(|json| ascii(json.as_str())).as_deref());
}

fn ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii() {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_spelled_as_the_agent_does() {
        assert_eq!(ascii(r#"{"é": "大🚀", "x": "\ud800"}"#), r#"{"\u00e9": "\u5927\ud83d\ude80", "x": "\ud800"}"#);
    }

    #[test]
    fn a_preview_is_as_long_as_the_agents() {
        assert_eq!(preview(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(preview(&"é".repeat(61)), format!("{}...", "é".repeat(60)));
    }
}
