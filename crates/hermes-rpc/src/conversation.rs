//! A transcript in the form in which it is sent to a model again.
//!
//! Messages are written field by field, for the reasons given in `row`.

use crate::call::{Answer, Call, list, or_nothing};
use crate::{messages, row, wire};
use hermes_session::json::ObjectWriter;
use hermes_session::{Content, Json, Message, Role, scrub};
use std::collections::HashSet;

/// `get_messages_as_conversation`: the messages of a session, and of all its ancestors if requested, in the order in
/// which they were stored.
pub(crate) async fn get(call: &Call<'_>) -> Answer {
    let Some(id) = call.args.lookup("session_id") else { return Ok("[]".into()) };
    if !call.args.flag("include_ancestors") {
        return Ok(list(messages::read(call, &id).await?.iter().map(message)));
    }
    let Some(lineage) = or_nothing(call.store.lineage(&id).await)? else { return Ok("[]".into()) };
    let mut said = Vec::new();
    for id in lineage.ancestors(&id).iter().chain([&id]) {
        said.extend(messages::read(call, id).await?);
    }
    said.sort_by_key(|message| message.id);
    Ok(list(without_repeated_prompts(&said).into_iter().map(message)))
}

/// Leaves out each message of the person that repeats an earlier one which the assistant has not answered yet, as the
/// agent does: a resumed session begins with the prompt that it was resumed with.
fn without_repeated_prompts(said: &[Message]) -> Vec<&Message> {
    let (mut kept, mut unanswered) = (Vec::new(), HashSet::new());
    for message in said {
        match (&message.body.role, prompt(message)) {
            (Role::User, Some(prompt)) if !unanswered.insert(prompt.clone()) => continue,
            (Role::Assistant, _) if is_answer(message) => unanswered.clear(),
            _ => {}
        }
        kept.push(message);
    }
    kept
}

/// Returns the text of a message as it is replayed, without white space around it; `None` if it has none.
fn prompt(message: &Message) -> Option<String> {
    match &message.body.content {
        Some(Content::Text(text)) => {
            let text = scrub::without_memory_blocks(text).trim().to_owned();
            Some(text).filter(|text| !text.is_empty())
        }
        _ => None,
    }
}

/// Returns whether the assistant wrote something or called a tool.
fn is_answer(message: &Message) -> bool {
    let says_nothing = match &message.body.content {
        None => true,
        Some(Content::Text(_)) => prompt(message).is_none(),
        Some(Content::Json(json)) => json.is_falsy(),
        Some(Content::Bytes(bytes)) => bytes.is_empty(),
    };
    !says_nothing || message.body.tool_calls.as_ref().is_some_and(|calls| !calls.is_falsy())
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

/// Returns the content; for messages of the person and the model without memory blocks that leaked into it.
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

/// Adds a value that is stored as JSON; null if it can't be read.
fn parsed(map: &mut ObjectWriter, message: &Message, column: &str, json: Option<&Json>) {
    if row::unread(message, column).is_some() {
        map.raw(column, "null");
    } else if let Some(json) = json {
        map.raw(column, &wire::encode(json.as_str()));
    }
}
