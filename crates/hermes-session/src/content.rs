//! Content of a message: plain text, structured parts, or bytes left by a foreign writer.

use crate::{Json, JsonKind};
use serde_json::Value;
use std::borrow::Cow;

/// The content of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Valid Unicode text.
    Text(String),
    /// Structured parts, or a string with lone surrogates (as a JSON string).
    Json(Json),
    /// Bytes that are not text, from a foreign writer. They are read, shown lossily and exported, and never written by
    /// us.
    Bytes(Vec<u8>),
}

impl Content {
    /// Returns the canonical content for a JSON value: a string without lone surrogates becomes plain text.
    pub fn from_json(json: Json) -> Self {
        match json.to_plain_string() {
            Some(text) => Self::Text(text),
            None => Self::Json(json),
        }
    }

    /// Returns the content in its canonical form, which is also the form in which it is read back.
    #[must_use]
    pub fn normalized(self) -> Self {
        match self {
            Self::Json(json) => Self::from_json(json),
            Self::Bytes(bytes) => {
                String::from_utf8(bytes).map_or_else(|error| Self::Bytes(error.into_bytes()), Self::Text)
            }
            Self::Text(_) => self,
        }
    }

    /// Returns the content as a person would read it: text parts joined by a space, an image as `[image]`.
    pub fn plain_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Bytes(bytes) => String::from_utf8_lossy(bytes),
            Self::Json(json) => match json.to_value() {
                Some(value) => Cow::Owned(value_text(&value)),
                None => Cow::Borrowed(json.as_str()),
            },
        }
    }

    /// Returns whether the content has no text and no parts.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Json(json) => json.kind() != JsonKind::String && json.is_falsy(),
            Self::Bytes(bytes) => bytes.is_empty(),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

fn value_text(value: &Value) -> String {
    let parts: Vec<Cow<'_, str>> = match value {
        Value::String(text) => return text.clone(),
        Value::Array(parts) => parts.iter().filter_map(part_text).collect(),
        Value::Object(_) => part_text(value).into_iter().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => return value.to_string(),
    };
    parts.join(" ")
}

/// Returns the text of one part of structured content. The kinds are those of the chat and the responses wire formats.
fn part_text(part: &Value) -> Option<Cow<'_, str>> {
    if let Value::String(text) = part {
        return Some(Cow::Borrowed(text));
    }
    match part.get("type").and_then(Value::as_str) {
        Some("image" | "image_url" | "input_image") => Some(Cow::Borrowed("[image]")),
        Some("audio" | "input_audio") => Some(Cow::Borrowed("[audio]")),
        Some("file" | "input_file") => Some(Cow::Borrowed("[file]")),
        _ => part
            .get("text")
            .or_else(|| part.get("content"))?
            .as_str()
            .filter(|text| !text.is_empty())
            .map(Cow::Borrowed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Content {
        Content::from_json(Json::parse(text).unwrap())
    }

    #[test]
    fn a_json_string_is_text_unless_rust_cannot_hold_it() {
        assert_eq!(json(r#""hi \u5927""#), Content::Text("hi 大".into()));
        assert!(matches!(json(r#""\ud800""#), Content::Json(_)));
        assert_eq!(Content::Bytes(b"ok".into()).normalized(), Content::Text("ok".into()));
    }

    #[test]
    fn parts_read_as_a_person_wrote_them() {
        let content = json(
            r#"[{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": ""}]"#,
        );
        assert_eq!(content.plain_text(), "look [image]");
        assert_eq!(json(r#"{"text": "one"}"#).plain_text(), "one");
        assert_eq!(json(r#""a\ud800""#).plain_text(), "a\u{fffd}");
        assert_eq!(Content::Bytes(vec![b'a', 0xff]).plain_text(), "a\u{fffd}");
    }

    #[test]
    fn empty_is_no_text_and_no_parts() {
        assert!(Content::from("").is_empty() && json("[]").is_empty());
        assert!(!Content::from(" ").is_empty() && !json("[{}]").is_empty());
    }
}
