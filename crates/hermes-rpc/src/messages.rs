//! Messages: append, replace, clear and read.

use crate::args::Value;
use crate::call::{Answer, Call, NONE, list, or_no_reference, or_nothing};
use crate::fail::Fail;
use crate::row;
use hermes_session::replay::transcript;
use hermes_session::{Message, MessageBody, NewMessage, Role, SessionId, Timestamp};

pub(crate) async fn append(call: &Call<'_>) -> Answer {
    let id = call.args.reference("session_id")?;
    let message = body(&|key| Some(call.args.value(key)))?;
    let ids = or_no_reference(call.store.append(&id, &[message.into()], &call.request()).await)?;
    Ok(ids.first().map_or_else(|| NONE.into(), |id| id.0.to_string()))
}

/// `append_messages`: appends all of them or none.
pub(crate) async fn append_all(call: &Call<'_>) -> Answer {
    let id = call.args.reference("session_id")?;
    let messages = given(call, false)?;
    let ids = or_no_reference(call.store.append(&id, &messages, &call.request()).await)?;
    Ok(list(ids.into_iter().map(|id| id.0.to_string())))
}

/// `replace_messages`: keeps reasoning only in messages of the assistant. Clearing a session that does not exist is not
/// an error.
pub(crate) async fn replace(call: &Call<'_>) -> Answer {
    let messages = given(call, true)?;
    if messages.is_empty() {
        return clear(call).await;
    }
    let id = call.args.reference("session_id")?;
    or_no_reference(call.store.replace(&id, &messages, &call.request()).await)?;
    Ok(NONE.into())
}

pub(crate) async fn clear(call: &Call<'_>) -> Answer {
    if let Some(id) = call.args.lookup("session_id") {
        or_nothing(call.store.replace(&id, &[], &call.request()).await)?;
    }
    Ok(NONE.into())
}

pub(crate) async fn get(call: &Call<'_>) -> Answer {
    let messages = match call.args.lookup("session_id") {
        Some(id) => read(call, &id).await?,
        None => Vec::new(),
    };
    Ok(rows(&messages))
}

/// Returns all messages of a session; none if it does not exist.
pub(crate) async fn read(call: &Call<'_>, id: &SessionId) -> Result<Vec<Message>, Fail> {
    Ok(or_nothing(transcript(call.store, id).await)?.unwrap_or_default())
}

pub(crate) fn rows(messages: &[Message]) -> String {
    list(messages.iter().map(row::message))
}

/// Returns the messages that were given as a list of maps.
fn given(call: &Call<'_>, reasoning_of_assistant_alone: bool) -> Result<Vec<NewMessage>, Fail> {
    let elements = call.args.value("messages").elements()?;
    elements.into_iter().map(|element| from_map(element, reasoning_of_assistant_alone)).collect()
}

fn from_map(map: Value<'_>, reasoning_of_assistant_alone: bool) -> Result<NewMessage, Fail> {
    let members = map.members()?;
    let value = |key: &str| members.iter().find(|(name, _)| name == key).map(|(_, value)| *value);
    let mut body = body(&value)?;
    if reasoning_of_assistant_alone && body.role != Role::Assistant {
        body = MessageBody {
            reasoning: None,
            reasoning_content: None,
            reasoning_details: None,
            codex_reasoning_items: None,
            codex_message_items: None,
            ..body
        };
    }
    let said_at = match value("timestamp") {
        Some(value) => value.double()?.map(Timestamp::from_seconds).transpose()?,
        None => None,
    };
    Ok(NewMessage { body, timestamp: said_at })
}

/// Returns a message of these values. Like in the agent, its role is `unknown` if none is given.
fn body<'a>(value: &dyn Fn(&str) -> Option<Value<'a>>) -> Result<MessageBody, Fail> {
    let text = |key: &str| value(key).map_or(Ok(None), Value::text);
    let json = |key: &str| match value(key) {
        // Values that are falsy in Python are stored as NULL.
        Some(value) if value.is_truthy() => value.json(),
        _ => Ok(None),
    };
    let role = match value("role") {
        Some(role) => role.text()?.ok_or_else(|| Fail::missing("messages.role"))?,
        None => "unknown".to_owned(),
    };
    Ok(MessageBody {
        role: Role::parse(&role)?,
        content: value("content").map_or(Ok(None), Value::content)?,
        tool_call_id: text("tool_call_id")?,
        tool_calls: json("tool_calls")?,
        tool_name: text("tool_name")?,
        token_count: value("token_count").map_or(Ok(None), Value::integer)?,
        finish_reason: text("finish_reason")?,
        reasoning: text("reasoning")?,
        reasoning_content: text("reasoning_content")?,
        reasoning_details: json("reasoning_details")?,
        codex_reasoning_items: json("codex_reasoning_items")?,
        codex_message_items: json("codex_message_items")?,
    })
}
