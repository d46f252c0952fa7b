//! Reads JSON as servers send it: leniently, because one odd field must not cost an answer.

use hermes_session::Json;
use serde_json::Value;

/// Parses JSON. Invalid UTF-8, lone surrogates and `NaN` are replaced; `None` if it is not JSON even then.
pub(crate) fn parsed(bytes: &[u8]) -> Option<Value> {
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Some(value);
    }
    Json::parse(&String::from_utf8_lossy(bytes)).ok()?.to_value()
}

/// Returns the first member of an object that is a text.
pub(crate) fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// Returns a text that is not empty.
pub(crate) fn some_text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    text(object, key).filter(|text| !text.is_empty())
}
