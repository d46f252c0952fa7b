//! Content as SQLite keeps it, so that the Python agent reads the same value.
//!
//! Plain text is itself. Everything else is the mark `U+0000 json:` and JSON: structured parts, strings with lone
//! surrogates, and text that itself begins with the mark.

use hermes_session::{Content, Json};
use std::borrow::Cow;

/// What stands before JSON in a content column.
pub const MARK: &str = "\0json:";

/// The stored form of content.
pub fn encode(content: &Content) -> Cow<'_, str> {
    match content {
        Content::Text(text) if text.starts_with(MARK) => Cow::Owned(format!("{MARK}{}", Json::string(text))),
        Content::Text(text) => Cow::Borrowed(text),
        Content::Json(json) => Cow::Owned(format!("{MARK}{json}")),
        Content::Bytes(bytes) => String::from_utf8_lossy(bytes),
    }
}

/// The content of a stored text. A mark that is not followed by JSON is text that begins like one.
pub fn decode(stored: String) -> Content {
    match stored.strip_prefix(MARK).map(Json::parse) {
        Some(Ok(json)) => Content::from_json(json),
        Some(Err(_)) | None => Content::Text(stored),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(content: Content, stored: &str) {
        assert_eq!(encode(&content), stored);
        assert_eq!(decode(stored.to_owned()), content);
    }

    #[test]
    fn the_agent_reads_the_same_value() {
        check(Content::from("大别山 🚀\0x"), "大别山 🚀\0x");
        check(Content::from_json(Json::parse(r#"[{"text":"\u5927"}]"#).unwrap()), "\0json:[{\"text\": \"大\"}]");
        check(Content::from_json(Json::parse(r#""\ud800""#).unwrap()), "\0json:\"\\ud800\"");
        check(Content::from("\0json:[1]"), "\0json:\"\\u0000json:[1]\"");
    }

    #[test]
    fn a_mark_without_json_is_text() {
        assert_eq!(decode("\0json:{broken".into()), Content::from("\0json:{broken"));
        // As text it would be taken for a mark when it is written again; it then gets the mark of its own.
        assert_eq!(decode(encode(&Content::from("\0json:{broken")).into_owned()), Content::from("\0json:{broken"));
    }
}
