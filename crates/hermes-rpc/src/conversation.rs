//! A transcript as it is sent to a model again.

use crate::call::{Answer, Call, list, or_nothing};
use crate::{messages, row, wire};
use hermes_session::json::ObjectWriter;
use hermes_session::{Content, Json, Message, Role, replay, scrub};

/// `get_messages_as_conversation`: the messages of a session; with those of the sessions that were compressed into it, if asked for, what each
/// repeats of the one before left out.
pub(crate) async fn get(call: &Call<'_>) -> Answer {
    let Some(id) = call.args.lookup("session_id") else { return Ok("[]".into()) };
    let messages = if call.args.flag("include_ancestors") {
        let Some(lineage) = or_nothing(call.store.lineage(&id).await)? else { return Ok("[]".into()) };
        let mut segments = Vec::new();
        for id in lineage.compressed_into(&id).iter().chain([&id]) {
            segments.push(messages::read(call, id).await?);
        }
        replay::without_repeats(segments).messages
    } else {
        messages::read(call, &id).await?
    };
    Ok(list(messages.iter().map(message)))
}

fn message(message: &Message) -> String {
    let body = &message.body;
    let is_assistant = body.role == Role::Assistant;
    let mut map = ObjectWriter::new();
    map.text("role", Some(body.role.as_str())).raw("content", &content(message));
    filled(&mut map, "tool_call_id", body.tool_call_id.as_deref());
    filled(&mut map, "tool_name", body.tool_name.as_deref());
    let calls = row::tool_calls(message);
    if calls != "null" {
        map.raw("tool_calls", &calls);
    }
    if is_assistant {
        filled(&mut map, "finish_reason", body.finish_reason.as_deref());
        filled(&mut map, "reasoning", body.reasoning.as_deref());
        if body.reasoning_content.is_some() {
            map.text("reasoning_content", body.reasoning_content.as_deref());
        }
        for (column, json) in [
            ("reasoning_details", &body.reasoning_details),
            ("codex_reasoning_items", &body.codex_reasoning_items),
            ("codex_message_items", &body.codex_message_items),
        ] {
            parsed(&mut map, message, column, json.as_ref());
        }
    }
    map.finish()
}

/// What was said; without memory that leaked into what the person or the model said.
fn content(message: &Message) -> String {
    match &message.body.content {
        Some(Content::Text(text))
            if matches!(message.body.role, Role::User | Role::Assistant) && message.faults.is_empty() =>
        {
            Json::string(&scrub::without_memory_blocks(text)).as_str().to_owned()
        }
        _ => row::content_of(message),
    }
}

fn filled(map: &mut ObjectWriter, key: &str, text: Option<&str>) {
    if text.is_some_and(|text| !text.is_empty()) {
        map.text(key, text);
    }
}

/// A value that is kept as JSON; nothing where it can't be read.
fn parsed(map: &mut ObjectWriter, message: &Message, column: &str, json: Option<&Json>) {
    if row::unread(message, column).is_some() {
        map.raw(column, "null");
    } else if let Some(json) = json {
        map.raw(column, &wire::encode(json.as_str()));
    }
}
