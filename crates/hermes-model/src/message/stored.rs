//! Converts replayed messages. Content of any shape becomes text and images; none of it is dropped.

use super::{AssistantMessage, Call, CallResult, Image, Part, Reasoning, WireMessage};
use hermes_session::replay::ReplayMessage;
use hermes_session::{Content, Json, Role};
use serde_json::Value;

impl From<ReplayMessage> for WireMessage {
    /// Converts a message of a replayed conversation. Roles that models do not know are the user's.
    fn from(message: ReplayMessage) -> Self {
        let parts = message.content.map(parts).unwrap_or_default();
        match message.role {
            Role::System => Self::System(text_of(parts)),
            Role::Other(role) if role == "developer" => Self::System(text_of(parts)),
            Role::User | Role::Other(_) => Self::User(parts),
            Role::Assistant => Self::Assistant(AssistantMessage {
                text: text_of(parts),
                calls: message.tool_calls.as_ref().map(calls).unwrap_or_default(),
                reasoning: Reasoning {
                    text: message.reasoning_content.or(message.reasoning),
                    details: message.reasoning_details,
                },
            }),
            Role::Tool => {
                Self::Result(CallResult { call_id: message.tool_call_id.unwrap_or_default(), text: text_of(parts) })
            }
        }
    }
}

/// Splits content into parts.
fn parts(content: Content) -> Vec<Part> {
    let json = match content {
        Content::Text(text) => return vec![Part::Text(text)],
        Content::Bytes(_) => return vec![Part::Text(content.plain_text().into_owned())],
        Content::Json(json) => json,
    };
    match json.to_value() {
        Some(Value::Array(list)) => list.into_iter().map(part).collect(),
        Some(value) => vec![part(value)],
        // Nested too deep for a tree.
        None => vec![Part::Text(json.as_str().to_owned())],
    }
}

/// Converts one part of the chat, the responses or the messages wire format.
fn part(value: Value) -> Part {
    let kind = value.get("type").and_then(Value::as_str).unwrap_or_default();
    match kind {
        "image" | "image_url" | "input_image" => {
            image(&value).map_or_else(|| Part::Text("[image]".to_owned()), Part::Image)
        }
        "audio" | "input_audio" => Part::Text("[audio]".to_owned()),
        "file" | "input_file" => Part::Text("[file]".to_owned()),
        _ => Part::Text(part_text(value)),
    }
}

fn part_text(value: Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text,
        Value::Object(map) if map.is_empty() => String::new(),
        Value::Object(map) => match map.get("text").or_else(|| map.get("content")) {
            Some(Value::String(text)) => text.clone(),
            _ => Value::Object(map).to_string(),
        },
        other => other.to_string(),
    }
}

/// Returns the image of a part; `None` if a provider could not fetch it.
fn image(part: &Value) -> Option<Image> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let (url, detail) = match (part.get("image_url"), part.get("source")) {
        (Some(Value::String(url)), _) => (url.clone(), text(part.get("detail"))),
        (Some(image), _) => (text(image.get("url"))?, text(image.get("detail"))),
        (None, Some(source)) => match (text(source.get("url")), text(source.get("data"))) {
            (Some(url), _) => (url, None),
            (None, Some(data)) => (format!("data:{};base64,{data}", text(source.get("media_type"))?), None),
            (None, None) => return None,
        },
        (None, None) => return None,
    };
    is_image_url(&url).then_some(Image { url, detail })
}

/// Returns whether a provider can read an image by this URL. A path of this machine is not such a URL.
pub(crate) fn is_image_url(url: &str) -> bool {
    ["data:image/", "https://", "http://"].iter().any(|start| url.starts_with(start))
}

/// Joins parts where only text is allowed.
fn text_of(parts: Vec<Part>) -> String {
    let texts: Vec<String> = parts
        .into_iter()
        .map(|part| match part {
            Part::Text(text) => text,
            Part::Image(_) => "[image]".to_owned(),
        })
        .filter(|text| !text.is_empty())
        .collect();
    texts.join("\n\n")
}

/// Returns the calls in the stored `tool_calls` of a message, whichever wire format they came in.
fn calls(stored: &Json) -> Vec<Call> {
    let list = match stored.to_value() {
        Some(Value::Array(list)) => list,
        Some(single @ Value::Object(_)) => vec![single],
        _ => Vec::new(),
    };
    list.iter().filter(|call| call.is_object()).map(call).collect()
}

fn call(stored: &Value) -> Call {
    let function = stored.get("function").filter(|function| function.is_object()).unwrap_or(stored);
    let id = [stored.get("id"), stored.get("call_id")].into_iter().flatten().find_map(|id| match id {
        Value::String(id) if !id.is_empty() => Some(id.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    let arguments = function.get("arguments").or_else(|| function.get("input"));
    Call {
        id: id.unwrap_or_default(),
        name: function.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        arguments: match arguments {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        },
    }
}
