//! The encoding of values on the pipe. JSON has no NaN, no infinities and no bytes: an object with a single key that
//! begins with `$` represents them, and an object that really has such a key is wrapped.
//!
//! Both directions are one pass over text in the canonical format of [`hermes_session::Json`], without a tree and
//! without recursion.

use crate::fail::Fail;
use hermes_session::export::base64;
use std::borrow::Cow;
use std::collections::HashMap;

/// Decodes the text of a value: returns JSON as Python writes it, with `NaN` and the infinities.
///
/// # Errors
/// If it contains bytes, which JSON can't hold.
pub(crate) fn decode(text: &str) -> Result<Cow<'_, str>, Fail> {
    if !text.contains("{\"$") {
        return Ok(Cow::Borrowed(text));
    }
    let marked = marked(text);
    let mut out = String::with_capacity(text.len());
    let (mut from, mut at) = (0, 0);
    let mut dropped: Vec<usize> = Vec::new();
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            b'{' if let Some(end) = marked.get(&at) => {
                let inner = &text[at + 1..*end];
                out.push_str(&text[from..at]);
                from = at;
                if let Some(number) = number_of(inner) {
                    out.push_str(number);
                    at = *end;
                    from = at + 1;
                } else if inner.starts_with("\"$b\": \"") {
                    return Err(Fail::wrong_type("Object of type bytes is not JSON serializable"));
                } else if inner.starts_with("\"$o\": {") {
                    from = at + "{\"$o\": ".len();
                    at = from;
                    dropped.push(*end);
                }
            }
            b'}' if dropped.last() == Some(&at) => {
                dropped.pop();
                out.push_str(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    out.push_str(&text[from..]);
    Ok(Cow::Owned(out))
}

/// Encodes the text of a value for the pipe.
pub(crate) fn encode(text: &str) -> Cow<'_, str> {
    if !["{\"$", "NaN", "Infinity"].iter().any(|piece| text.contains(piece)) {
        return Cow::Borrowed(text);
    }
    let marked = marked(text);
    let mut out = String::with_capacity(text.len() + 32);
    let (mut from, mut at) = (0, 0);
    let mut closing: Vec<usize> = Vec::new();
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let rest = &text[at..];
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            b'{' if let Some(end) = marked.get(&at) => {
                out.push_str(&text[from..at]);
                out.push_str("{\"$o\": ");
                from = at;
                closing.push(*end);
            }
            b'}' if closing.last() == Some(&at) => {
                closing.pop();
                out.push_str(&text[from..=at]);
                from = at;
            }
            b'N' | b'I' | b'-' => {
                let word = [("NaN", "nan"), ("Infinity", "inf"), ("-Infinity", "-inf")]
                    .into_iter()
                    .find(|(word, _)| rest.starts_with(word));
                if let Some((word, name)) = word {
                    out.push_str(&text[from..at]);
                    out.push_str(&float(name));
                    at += word.len() - 1;
                    from = at + 1;
                }
            }
            _ => {}
        }
        at += 1;
    }
    out.push_str(&text[from..]);
    Cow::Owned(out)
}

/// Encodes a double so that it reads back with the same bits.
pub(crate) fn double(number: f64) -> String {
    match number {
        number if number.is_nan() => float("nan"),
        f64::INFINITY => float("inf"),
        f64::NEG_INFINITY => float("-inf"),
        number => serde_json::Value::from(number).to_string(),
    }
}

/// Encodes bytes as a value.
pub(crate) fn bytes(bytes: &[u8]) -> String {
    format!("{{\"$b\": \"{}\"}}", base64::encode(bytes))
}

/// Returns the bytes that a value represents, or `None` if it is not bytes.
pub(crate) fn as_bytes(text: &str) -> Option<Vec<u8>> {
    base64::decode(text.strip_prefix("{\"$b\": \"")?.strip_suffix("\"}")?)
}

/// Returns the number that a value represents, or `None` if it is an ordinary JSON value.
pub(crate) fn as_odd_number(text: &str) -> Option<f64> {
    match text {
        "NaN" => Some(f64::NAN),
        "Infinity" => Some(f64::INFINITY),
        "-Infinity" => Some(f64::NEG_INFINITY),
        _ => number_of(text.strip_prefix('{')?.strip_suffix('}')?).and_then(as_odd_number),
    }
}

fn float(name: &str) -> String {
    format!("{{\"$f\": \"{name}\"}}")
}

/// Returns the number for the inside of an object, or `None` if it does not represent one.
fn number_of(inner: &str) -> Option<&'static str> {
    match inner {
        "\"$f\": \"nan\"" => Some("NaN"),
        "\"$f\": \"inf\"" => Some("Infinity"),
        "\"$f\": \"-inf\"" => Some("-Infinity"),
        _ => None,
    }
}

/// Returns the start and the end of each object with exactly one key that begins with `$`.
fn marked(text: &str) -> HashMap<usize, usize> {
    let bytes = text.as_bytes();
    let mut found = HashMap::new();
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at),
            b'{' => open.push((at, bytes[at + 1..].starts_with(b"\"$"))),
            b'[' => open.push((at, false)),
            b',' => _ = open.last_mut().map(|(_, is_marked)| *is_marked = false),
            b'}' | b']' => {
                if let Some((start, true)) = open.pop() {
                    found.insert(start, at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Returns the position of the closing quote of the string that starts here.
fn end_of_string(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'"' => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(plain: &str, wire: &str) {
        assert_eq!(encode(plain), wire);
        assert_eq!(decode(wire).unwrap(), plain);
    }

    #[test]
    fn what_json_has_not_has_a_form() {
        check(r#"[NaN, Infinity, -Infinity, -1]"#, r#"[{"$f": "nan"}, {"$f": "inf"}, {"$f": "-inf"}, -1]"#);
        check(r#"{"a": {"$f": "nan"}}"#, r#"{"a": {"$o": {"$f": "nan"}}}"#);
        check(r#"{"$o": {"$o": {}}}"#, r#"{"$o": {"$o": {"$o": {"$o": {}}}}}"#);
        check(r#"{"$o": {"x": NaN}}"#, r#"{"$o": {"$o": {"x": {"$f": "nan"}}}}"#);
        check(r#"{"$b": "QQ=="}"#, r#"{"$o": {"$b": "QQ=="}}"#);
    }

    #[test]
    fn what_only_looks_so_is_left_alone() {
        for text in [
            r#"{"$f": "nan", "x": 1}"#,
            r#"{"x": 1, "$f": "nan"}"#,
            r#"["{\"$f\": \"nan\"}", "NaN"]"#,
            r#"{"a": "\\", "b": "\ud800 -Infinity"}"#,
            "[]",
        ] {
            check(text, text);
        }
        assert_eq!(decode(r#"{"$x": 1}"#).unwrap(), r#"{"$x": 1}"#, "a person may type it");
    }

    #[test]
    fn bytes_are_no_json() {
        assert!(decode(r#"[{"$b": "QQ=="}]"#).is_err());
        assert_eq!(as_bytes(&bytes(b"a\xff")), Some(b"a\xff".to_vec()));
    }

    #[test]
    fn doubles_keep_their_bits() {
        for number in [0.1 + 0.2, 1e300, -0.0, 5.0, 1e-320] {
            assert_eq!(double(number).parse::<f64>().unwrap().to_bits(), number.to_bits());
        }
        assert_eq!(as_odd_number(&double(f64::NEG_INFINITY)), Some(f64::NEG_INFINITY));
        assert!(as_odd_number(&double(f64::NAN)).unwrap().is_nan());
    }
}
