//! Stored form of content and other text.
//!
//! SQLite: the Python agent reads the same value. Plain text is stored unchanged. Everything else is the mark
//! `U+0000 json:` followed by JSON: structured parts, strings with lone surrogates, and text that itself begins with the
//! mark.
//!
//! Servers: a second column has the kind of the content, because PostgreSQL stores no NUL. Other texts hardly ever
//! contain one; those that do are a mark followed by a JSON string.

use hermes_session::export::base64;
use hermes_session::{Content, Json};
use std::borrow::Cow;

/// Mark before JSON in a content column.
pub const MARK: &str = "\0json:";

/// Returns the stored form of content.
pub fn encode(content: &Content) -> Cow<'_, str> {
    match content {
        Content::Text(text) if text.starts_with(MARK) => Cow::Owned(format!("{MARK}{}", Json::string(text))),
        Content::Text(text) => Cow::Borrowed(text),
        Content::Json(json) => Cow::Owned(format!("{MARK}{json}")),
        Content::Bytes(bytes) => String::from_utf8_lossy(bytes),
    }
}

/// Returns the content of a stored text. A mark that is not followed by valid JSON is plain text.
pub fn decode(stored: String) -> Content {
    match stored.strip_prefix(MARK).map(Json::parse) {
        Some(Ok(json)) => Content::from_json(json),
        Some(Err(_)) | None => Content::Text(stored),
    }
}

/// Kind of the value in the content column of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The text itself.
    Text,
    /// JSON: structured parts, and strings that cannot be stored as text.
    Json,
    /// Bytes that are not text, in base64.
    Bytes,
}

impl Kind {
    /// Returns the value of the column `content_kind`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Bytes => "bytes",
        }
    }
}

/// Returns the kind and the stored form of content on a server.
pub fn keep(content: &Content) -> (Kind, Cow<'_, str>) {
    match content {
        Content::Text(text) if text.contains('\0') => (Kind::Json, Cow::Owned(Json::string(text).as_str().to_owned())),
        Content::Text(text) => (Kind::Text, Cow::Borrowed(text)),
        Content::Json(json) => (Kind::Json, Cow::Borrowed(json.as_str())),
        Content::Bytes(bytes) => (Kind::Bytes, Cow::Owned(base64::encode(bytes))),
    }
}

/// Returns the content of a server's two columns. A value that is invalid for its kind becomes text.
pub fn recall(kind: &str, text: String) -> Content {
    match kind {
        "json" => Json::parse(&text).map_or(Content::Text(text), Content::from_json),
        "bytes" => base64::decode(&text).map_or(Content::Text(text), |bytes| Content::Bytes(bytes).normalized()),
        _ => Content::Text(text),
    }
}

/// Mark before JSON in any other text column of a server.
const ESCAPE: &str = "\u{1}json:";

/// Returns the form of a text without a NUL, for a server.
pub fn without_nul(text: &str) -> Cow<'_, str> {
    match text.contains('\0') || text.starts_with(ESCAPE) {
        true => Cow::Owned(format!("{ESCAPE}{}", Json::string(text))),
        false => Cow::Borrowed(text),
    }
}

/// Returns the original of a text escaped by [`without_nul`], or `None` if it is not escaped.
pub fn with_nul(text: &str) -> Option<String> {
    Json::parse(text.strip_prefix(ESCAPE)?).ok()?.to_plain_string()
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
    fn a_server_keeps_every_content_without_a_nul() {
        let json = |text: &str| Content::from_json(Json::parse(text).unwrap());
        let table = [
            (Content::from("大别山 🚀"), Kind::Text),
            (Content::from("\0json:[1]"), Kind::Json),
            (Content::from("a\0b"), Kind::Json),
            (Content::from("[1]"), Kind::Text),
            (json(r#""\ud800""#), Kind::Json),
            (json(r#"[{"text": "x"}]"#), Kind::Json),
            (Content::Bytes(vec![0, 255]), Kind::Bytes),
        ];
        for (content, kind) in table {
            let (kept, text) = keep(&content);
            assert!(kept == kind && !text.contains('\0'), "{content:?}");
            assert_eq!(recall(kept.as_str(), text.into_owned()), content);
        }
        assert_eq!(recall("json", "{broken".into()), Content::from("{broken"));
    }

    #[test]
    fn other_texts_come_back_too() {
        for text in ["", "plain", "a\0b", "\u{1}json:\"x\"", "\u{1}json:"] {
            let kept = without_nul(text);
            assert!(!kept.contains('\0'));
            assert_eq!(with_nul(&kept).as_deref().unwrap_or(&kept), text);
        }
    }

    #[test]
    fn a_mark_without_json_is_text() {
        assert_eq!(decode("\0json:{broken".into()), Content::from("\0json:{broken"));
        // Written unchanged it could be taken for a mark, so it is encoded with a mark of its own.
        assert_eq!(decode(encode(&Content::from("\0json:{broken")).into_owned()), Content::from("\0json:{broken"));
    }
}
