//! The searchable text of a message: as a person wrote it, never in its JSON spelling.
//!
//! It consists of plain content unchanged; of structured content the texts of its parts, without images and audio; the
//! name of the tool; of tool calls the values, and of their arguments the keys as well. Text that should be JSON and is
//! not is taken unchanged. A line break separates the texts, so that no phrase extends from one into the other.

use crate::{Content, Json, MessageBody};
use std::borrow::Cow;

/// Columns of a message that are searched, as stored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Columns<'a> {
    /// The stored content.
    pub content: Option<&'a str>,
    /// The JSON in it, if the store says that it is structured. If it can't be parsed, the content is taken for text.
    pub structured: Option<&'a str>,
    /// In a tool result: name of the tool.
    pub tool_name: Option<&'a str>,
    /// Tool calls of an assistant message, as JSON.
    pub tool_calls: Option<&'a str>,
}

/// Returns the searchable text of a message. It is borrowed if there is nothing to decode.
pub fn of_body(body: &MessageBody) -> Cow<'_, str> {
    let content = match &body.content {
        None => Cow::Borrowed(""),
        Some(Content::Text(text)) => Cow::Borrowed(text.as_str()),
        Some(Content::Bytes(bytes)) => String::from_utf8_lossy(bytes),
        Some(Content::Json(json)) => Cow::Owned(walked(json, Part::Content)),
    };
    let calls = body.tool_calls.as_ref().map(|calls| Cow::Owned(walked(calls, Part::Calls)));
    joined(content, body.tool_name.as_deref(), calls)
}

/// Returns the searchable text of a message from its columns. It is borrowed if there is nothing to decode.
pub fn of_columns(columns: Columns<'_>) -> Cow<'_, str> {
    let content = match columns.structured.map(Json::parse) {
        Some(Ok(json)) => Cow::Owned(walked(&json, Part::Content)),
        Some(Err(_)) | None => Cow::Borrowed(columns.content.unwrap_or_default()),
    };
    let calls = columns.tool_calls.filter(|calls| !calls.is_empty()).map(|calls| match Json::parse(calls) {
        Ok(json) => Cow::Owned(walked(&json, Part::Calls)),
        Err(_) => Cow::Borrowed(calls),
    });
    joined(content, columns.tool_name, calls)
}

/// Appends a text that has every run of letters and digits of the searchable text, and more: JSON is not parsed, only
/// the escapes of its characters are resolved. Equal to the searchable text if there is no JSON.
///
/// Returns `false` if runs may be missing: the JSON has escapes at several depths, so it is open which of them are
/// characters and which are meant as written.
pub fn rough(columns: Columns<'_>, out: &mut String) -> bool {
    let before = out.len();
    let mut depth = None;
    let mut is_sure = true;
    match columns.structured {
        None => out.push_str(columns.content.unwrap_or_default()),
        Some(json) => is_sure &= push_resolved(json, &mut depth, out),
    }
    if let Some(name) = columns.tool_name.filter(|name| !name.is_empty()) {
        if out.len() > before {
            out.push('\n');
        }
        out.push_str(name);
    }
    if let Some(calls) = columns.tool_calls.filter(|calls| !calls.is_empty()) {
        out.push('\n');
        is_sure &= push_resolved(calls, &mut depth, out);
    }
    is_sure
}

/// Appends JSON, and if it has escapes of characters, once more with these characters. An escape in JSON within a string
/// has more than one backslash: that number is its depth. Returns whether all escapes have the same depth.
fn push_resolved(json: &str, depth: &mut Option<usize>, out: &mut String) -> bool {
    out.push_str(json);
    let Some(first) = json.find("\\u") else { return true };
    out.push('\n');
    let (mut rest, mut next, mut is_sure) = (json, Some(first), true);
    while let Some(at) = next {
        let before = rest[..at].trim_end_matches('\\');
        let backslashes = at - before.len();
        out.push_str(before);
        rest = &rest[at..];
        match escaped(rest) {
            Some((character, length)) => {
                is_sure &= *depth.get_or_insert(backslashes) == backslashes;
                out.push(character);
                rest = &rest[length..];
            }
            None => {
                out.push('\\');
                rest = &rest[1..];
            }
        }
        next = rest.find("\\u");
    }
    out.push_str(rest);
    is_sure
}

/// Returns the character of the escape that a text begins with, and the length of the escape.
fn escaped(text: &str) -> Option<(char, usize)> {
    let unit = |text: &str| u16::from_str_radix(text.get(2..6)?, 16).ok();
    let first = unit(text)?;
    if let Some(character) = char::from_u32(u32::from(first)) {
        return Some((character, 6));
    }
    let backslashes = text[6..].bytes().take_while(|byte| *byte == b'\\').count();
    let low = backslashes.checked_sub(1).map(|extra| &text[6 + extra..]);
    let low = low.filter(|low| low.starts_with("\\u")).and_then(unit);
    let pair = low.and_then(|low| char::decode_utf16([first, low]).next()?.ok());
    Some(pair.map_or((char::REPLACEMENT_CHARACTER, 6), |character| (character, 6 + backslashes + 5)))
}

fn joined<'a>(content: Cow<'a, str>, tool_name: Option<&'a str>, calls: Option<Cow<'a, str>>) -> Cow<'a, str> {
    let mut text = content;
    for more in [tool_name.map(Cow::Borrowed), calls].into_iter().flatten() {
        if text.is_empty() {
            text = more;
        } else if !more.is_empty() {
            let text = text.to_mut();
            text.push('\n');
            text.push_str(&more);
        }
    }
    text
}

/// Role of a piece of JSON in a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Content,
    Calls,
    /// Arguments of a call, with their keys.
    Arguments,
}

fn walked(json: &Json, part: Part) -> String {
    let mut out = String::with_capacity(json.as_str().len());
    walk(json.as_str(), part, &mut out);
    out
}

/// Walks JSON in canonical spelling from left to right. Without recursion, so that no nesting is too deep.
fn walk(json: &str, part: Part, out: &mut String) {
    let (mut at, mut depth, mut key) = (0, 0_usize, "");
    // Depth at which the surrounding arguments start, if any.
    let mut arguments = (part == Part::Arguments).then_some(0);
    while let Some(byte) = json.as_bytes().get(at) {
        match byte {
            b'"' => {
                let raw = string_at(json, at);
                at += raw.len() + 2;
                if json[at..].starts_with(':') {
                    key = raw;
                    if arguments.is_some() {
                        push(out, |out| unescape(raw, out));
                    }
                } else {
                    value(raw, key, if arguments.is_some() { Part::Arguments } else { part }, out);
                }
            }
            b'{' | b'[' => {
                depth += 1;
                at += 1;
                if part == Part::Calls && arguments.is_none() && is_arguments(key) {
                    arguments = Some(depth);
                }
            }
            b'}' | b']' => {
                arguments = arguments.filter(|outer| *outer == 0 || *outer < depth);
                depth -= 1;
                at += 1;
                // The key belonged to a nested value.
                key = "";
            }
            b',' | b':' | b' ' => at += 1,
            first => {
                let length = json[at..].find([',', ']', '}']).unwrap_or(json.len() - at);
                if matches!(first, b'-' | b'0'..=b'9') && part != Part::Content {
                    push(out, |out| out.push_str(&json[at..at + length]));
                }
                at += length;
            }
        }
    }
}

/// Returns whether a key holds arguments, in either wire format.
fn is_arguments(key: &str) -> bool {
    matches!(key, "arguments" | "input")
}

/// Adds a string, given the key it belongs to.
fn value(raw: &str, key: &str, part: Part, out: &mut String) {
    match part {
        Part::Content | Part::Calls if key == "type" => {}
        Part::Content if is_media(raw, key) => {}
        Part::Calls if is_arguments(key) => {
            let mut text = String::with_capacity(raw.len());
            unescape(raw, &mut text);
            let json = if text.trim_start().starts_with(['{', '[']) { Json::parse(&text).ok() } else { None };
            match json {
                Some(json) => walk(json.as_str(), Part::Arguments, out),
                None => push(out, |out| out.push_str(&text)),
            }
        }
        _ => push(out, |out| unescape(raw, out)),
    }
}

/// Returns whether a string is an image or audio: nobody wrote it, and nobody searches for a piece of it.
fn is_media(raw: &str, key: &str) -> bool {
    let is_blank = |byte: u8| byte.is_ascii_whitespace() || byte == b'\\';
    raw.starts_with("data:") && raw.bytes().take(200).any(|byte| byte == b',') && !raw.bytes().any(is_blank)
        || key == "data" && raw.len() > 64 && !raw.bytes().any(is_blank)
}

/// Appends a text on a line of its own, unless it is empty.
fn push(out: &mut String, write: impl FnOnce(&mut String)) {
    let before = out.len();
    if before > 0 {
        out.push('\n');
    }
    let start = out.len();
    write(out);
    if out.len() == start {
        out.truncate(before);
    }
}

/// Returns the text between the quotes of the string at `at`.
fn string_at(json: &str, at: usize) -> &str {
    let bytes = json.as_bytes();
    let mut end = at + 1;
    while let Some(step) = bytes[end..].iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        end += step;
        if bytes[end] == b'"' {
            break;
        }
        end += 2;
    }
    &json[at + 1..end]
}

/// Appends the value of a string in canonical spelling. A lone surrogate, which Rust can't hold, becomes U+FFFD.
fn unescape(raw: &str, out: &mut String) {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (character, length) = match rest.as_bytes()[at + 1] {
            b'n' => ('\n', 2),
            b'r' => ('\r', 2),
            b't' => ('\t', 2),
            b'b' => ('\u{8}', 2),
            b'f' => ('\u{c}', 2),
            b'u' => {
                let code = u32::from_str_radix(&rest[at + 2..at + 6], 16).ok();
                (code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
            }
            other => (char::from(other), 2),
        };
        out.push(character);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests;
