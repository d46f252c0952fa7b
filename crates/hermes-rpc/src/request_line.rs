//! Parses a request line: the method, its arguments, the idempotency key and the id of the answer.

use crate::fail::Fail;
use crate::scheduler::Lane;
use crate::signature::Given;
use crate::table::{Method, method};
use hermes_session::json::{self, Json};
use hermes_session::{JsonKind, RequestKey};
use std::ops::Range;

/// A request with valid arguments.
#[derive(Debug)]
pub(crate) struct RequestLine {
    pub(crate) json: Json,
    pub(crate) method: &'static Method,
    /// The position of each parameter's argument in the line.
    pub(crate) bound: Vec<Option<Range<usize>>>,
    pub(crate) key: Option<RequestKey>,
}

/// A parsed line, with the id of the request as it was sent.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) id: Option<String>,
    pub(crate) line: Result<RequestLine, Fail>,
}

impl Received {
    /// Parses a line.
    pub(crate) fn read(bytes: Vec<u8>) -> Self {
        let parsed = String::from_utf8(bytes)
            .map_err(|_| Fail::value("the request is not UTF-8"))
            .and_then(|text| Ok(Json::parse(&text)?));
        let json = match parsed {
            Ok(json) if json.kind() == JsonKind::Object => json,
            Ok(_) => return Self { id: None, line: Err(Fail::value("the request is not a JSON object")) },
            Err(fail) => return Self { id: None, line: Err(fail) },
        };
        let mut parts = Parts::default();
        for (key, value) in members(json.as_str(), 0..json.as_str().len()) {
            match key.as_str() {
                "id" => parts.id = Some(value),
                "m" => parts.method = Some(value),
                "a" => parts.positional = Some(value),
                "k" => parts.named = Some(value),
                "q" => parts.key = Some(value),
                _ => {}
            }
        }
        let id = parts.id.clone().map(|id| json.as_str()[id].to_owned());
        Self { id, line: parts.call(json) }
    }
}

#[derive(Debug, Default)]
struct Parts {
    id: Option<Range<usize>>,
    method: Option<Range<usize>>,
    positional: Option<Range<usize>>,
    named: Option<Range<usize>>,
    key: Option<Range<usize>>,
}

impl Parts {
    fn call(self, json: Json) -> Result<RequestLine, Fail> {
        let text = json.as_str();
        let string = |range: Option<Range<usize>>| range.and_then(|range| plain(&text[range]));
        let name = string(self.method).ok_or_else(|| Fail::value("the request names no method in \"m\""))?;
        let method = method(&name).ok_or_else(|| Fail::wrong_type(format!("SessionDB has no method '{name}'")))?;
        let mut given = Given::default();
        if let Some(range) = not_null(text, self.positional) {
            if !text[range.clone()].starts_with('[') {
                return Err(Fail::value("\"a\" is not a list of arguments"));
            }
            given.positional = elements(text, range);
        }
        if let Some(range) = not_null(text, self.named) {
            if !text[range.clone()].starts_with('{') {
                return Err(Fail::value("\"k\" is not an object of arguments"));
            }
            given.named = members(text, range);
        }
        let key = match not_null(text, self.key) {
            Some(range) => {
                let key = plain(&text[range]).ok_or_else(|| Fail::value("\"q\" is not text"))?;
                Some(RequestKey::parse(key)?)
            }
            None => None,
        };
        let bound = method.signature.bind(given)?;
        Ok(RequestLine { json, method, bound, key })
    }
}

impl RequestLine {
    /// Returns the sessions that the call names.
    pub(crate) fn sessions(&self) -> Vec<String> {
        let Lane::Sessions(names) = self.method.lane else { return Vec::new() };
        let argument = |name: &&str| self.bound[self.method.signature.place(name)?].clone();
        let named = names.iter().filter_map(argument).map(|range| self.json.as_str()[range].to_owned());
        let mut named: Vec<String> = named.filter(|text| text.starts_with('"')).collect();
        named.dedup();
        named
    }
}

fn not_null(text: &str, range: Option<Range<usize>>) -> Option<Range<usize>> {
    range.filter(|range| &text[range.clone()] != "null")
}

/// Returns the text of a JSON string, or `None` if it is not valid Unicode.
pub(crate) fn plain(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

/// Returns the positions of the elements of a list.
pub(crate) fn elements(text: &str, list: Range<usize>) -> Vec<Range<usize>> {
    let start = list.start;
    let place = |part: &str| {
        // A part is a slice of the same text.
        let from = part.as_ptr() as usize - text[start..].as_ptr() as usize + start;
        from..from + part.len()
    };
    json::parts(&text[list]).into_iter().map(place).collect()
}

/// Returns the members of an object: their keys, and the positions of their values. Of a duplicate key the last value
/// counts.
pub(crate) fn members(text: &str, object: Range<usize>) -> Vec<(String, Range<usize>)> {
    let mut found: Vec<(String, Range<usize>)> = Vec::new();
    for member in elements(text, object) {
        let bytes = text[member.clone()].as_bytes();
        let mut at = 1;
        while bytes[at] != b'"' {
            at += if bytes[at] == b'\\' { 2 } else { 1 };
        }
        let quoted = &text[member.start..=member.start + at];
        // A key that is not valid Unicode matches no name that is looked for.
        let key = plain(quoted).unwrap_or_else(|| quoted.to_owned());
        let value = member.start + at + "\": ".len()..member.end;
        found.retain(|(other, _)| *other != key);
        found.push((key, value));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Received {
        Received::read(text.as_bytes().to_vec())
    }

    #[test]
    fn a_request_is_taken_apart() {
        let received =
            read(r#"{"m":"end_session","a":["s \ud83d\ude80"],"k":{"end_reason":"x"},"q":"k1","id":[1,{}]}"#);
        assert_eq!(received.id.as_deref(), Some("[1, {}]"));
        let line = received.line.unwrap();
        assert_eq!(line.sessions(), ["\"s 🚀\""]);
        assert_eq!(&line.json.as_str()[line.bound[1].clone().unwrap()], "\"x\"");
        assert_eq!(line.key.unwrap().as_str(), "k1");
    }

    #[test]
    fn invalid_requests_are_reported() {
        for (text, expect) in [
            ("", "JSON is broken"),
            ("[]", "not a JSON object"),
            ("{}", "names no method"),
            (r#"{"m": "drop"}"#, "no method 'drop'"),
            (r#"{"m": "ping", "a": {}}"#, "not a list"),
            (r#"{"m": "ping", "k": []}"#, "not an object"),
            (r#"{"m": "ping", "q": 1}"#, "not text"),
            (r#"{"m": "ping", "q": ""}"#, "is empty"),
            (r#"{"m": "ping", "a": [1]}"#, "takes 1 positional argument but 2 were given"),
        ] {
            let text = read(text).line.unwrap_err().text;
            assert!(text.contains(expect), "{text}");
        }
        assert_eq!(read(r#"{"id": 7, "m": "drop"}"#).id.as_deref(), Some("7"), "the answer finds its caller");
    }

    #[test]
    fn the_last_of_equal_keys_counts() {
        let text = r#"{"a": 1, "b\"": [2, 3], "a": {"a": 4}}"#;
        let found = members(text, 0..text.len());
        let told: Vec<(&str, &str)> = found.iter().map(|(key, range)| (key.as_str(), &text[range.clone()])).collect();
        assert_eq!(told, [("b\"", "[2, 3]"), ("a", r#"{"a": 4}"#)]);
    }
}
