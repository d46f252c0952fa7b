//! Checks a conversation as a strict provider does. Shares no code with the replay.

use super::ReplayMessage;
use crate::Role;
use serde_json::Value;

/// Reason why a provider would reject a conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("message {at} {why}")]
pub struct Unplayable {
    /// Index of the message, from 0.
    pub at: usize,
    /// Reason, as the rest of the sentence.
    pub why: String,
}

/// Checks that every tool call has an id and is answered exactly once, directly after the message that makes it,
/// and that there are no other results.
///
/// # Errors
/// Names the first message that a provider would reject.
pub fn validate(messages: &[ReplayMessage]) -> Result<(), Unplayable> {
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let refuse = |why: String| Err(Unplayable { at, why });
        if message.role == Role::Tool {
            let Some(id) = &message.tool_call_id else { return refuse("is a result without a call id".into()) };
            let Some(place) = open.iter().position(|call| call == id) else {
                return refuse(format!("is a result of {id:?}, which is not called before it or is answered already"));
            };
            open.remove(place);
            if message.content.is_none() {
                return refuse("is a result without content".into());
            }
        } else if let Some(id) = open.first() {
            return refuse(format!("comes before the result of {id:?}"));
        } else if message.tool_call_id.is_some() {
            return refuse("answers a call, but is not a result".into());
        }
        if let Some(calls) = &message.tool_calls {
            if message.role != Role::Assistant {
                return refuse("makes calls, but is not the assistant's".into());
            }
            open = ids(calls.to_value().as_ref()).map_err(|why| Unplayable { at, why: why.to_owned() })?;
        }
    }
    match open.first() {
        Some(id) => Err(Unplayable { at: messages.len(), why: format!("is missing: the result of {id:?}") }),
        None => Ok(()),
    }
}

fn ids(calls: Option<&Value>) -> Result<Vec<String>, &'static str> {
    let calls = calls.and_then(Value::as_array).filter(|calls| !calls.is_empty()).ok_or("has no list of calls")?;
    let mut ids: Vec<String> = Vec::new();
    for call in calls {
        let id = call.as_object().ok_or("has a call that is not an object")?.get("id").and_then(Value::as_str);
        let id = id.filter(|id| !id.is_empty()).ok_or("has a call without an id")?;
        if ids.iter().any(|other| other == id) {
            return Err("has two calls with one id");
        }
        ids.push(id.to_owned());
    }
    Ok(ids)
}
