//! Splits the tool calls of a message and reassembles them without losing a character.

use crate::json::parts;
use crate::{Json, JsonKind};
use serde::Deserialize;
use serde_json::Value;

/// One call in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolCall<'a> {
    /// Its id; `None` if it has no id that a result could refer to.
    pub(crate) id: Option<String>,
    /// Name of the tool.
    pub(crate) name: Option<String>,
    /// Whether the text contains the id in exactly this form.
    pub(crate) is_settled: bool,
    text: &'a str,
}

impl<'a> ToolCall<'a> {
    /// Returns the call as stored.
    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the call with another id; everything else keeps its spelling.
    pub(crate) fn with_id(&self, id: &str) -> String {
        let mut out = format!("{{\"id\": {}", Json::string(id));
        for member in parts(self.text).into_iter().filter(|member| !member.starts_with("\"id\": ")) {
            out.push_str(", ");
            out.push_str(member);
        }
        out.push('}');
        out
    }
}

/// Returns the calls in the `tool_calls` of a message. Elements that are not objects are left out.
pub(crate) fn tool_calls(calls: &Json) -> Vec<ToolCall<'_>> {
    match calls.kind() {
        JsonKind::Array => parts(calls.as_str()).into_iter().filter_map(tool_call).collect(),
        JsonKind::Object => tool_call(calls.as_str()).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns whether `tool_calls` is a list of nothing but these calls, which are those of [`tool_calls`].
pub(crate) fn are_all_calls(calls: &Json, found: &[ToolCall<'_>]) -> bool {
    // The elements of a list are separated by two characters.
    let length: usize = found.iter().map(|call| call.text.len() + 2).sum();
    calls.kind() == JsonKind::Array && calls.as_str().len() == length.max(2)
}

/// Returns whether the `tool_calls` of a message contain a call.
pub(crate) fn has_call(calls: &Json) -> bool {
    match calls.kind() {
        JsonKind::Array if calls.as_str().starts_with("[{") => true,
        JsonKind::Array => parts(calls.as_str()).iter().any(|part| part.starts_with('{')),
        kind => kind == JsonKind::Object,
    }
}

/// Members of a call that are read; its arguments, which may be long, are skipped.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Wire {
    id: Value,
    call_id: Value,
    name: Value,
    function: Option<Function>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Function {
    name: Value,
}

fn tool_call(text: &str) -> Option<ToolCall<'_>> {
    if !text.starts_with('{') {
        return None;
    }
    let wire = serde_json::from_str(text).unwrap_or_else(|_| unusual(text));
    let stored = id_text(&wire.id);
    // The responses wire format identifies calls by `call_id`.
    let id = stored.clone().or_else(|| id_text(&wire.call_id));
    let is_settled = stored.is_some() && wire.id.is_string();
    let name = wire.function.map_or(wire.name, |function| function.name);
    Some(ToolCall { id, name: name.as_str().filter(|name| !name.is_empty()).map(str::to_owned), is_settled, text })
}

/// Parses a call that only Python can hold, or that has duplicate keys. One that is nested too deep for a tree keeps
/// its text, without a name.
fn unusual(text: &str) -> Wire {
    let Some(call) = Json::parse(text).ok().and_then(|json| json.to_value()) else { return Wire::default() };
    let function = call.get("function").filter(|function| function.is_object());
    let value = |key: &str| call.get(key).cloned().unwrap_or_default();
    Wire {
        id: value("id"),
        call_id: value("call_id"),
        name: value("name"),
        function: function.map(|function| Function { name: function.get("name").cloned().unwrap_or_default() }),
    }
}

fn id_text(id: &Value) -> Option<String> {
    match id {
        // U+FFFD may stand for a lone surrogate; two such ids could be mistaken for one.
        Value::String(id) if !id.is_empty() && !id.contains('\u{fffd}') => Some(id.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Option<String>, Option<String>)> {
        tool_calls(&Json::parse(text).unwrap()).into_iter().map(|call| (call.id, call.name)).collect()
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn calls_are_found_in_every_form_they_are_stored_in() {
        let chat = r#"[{"id": "a", "function": {"name": "ls", "arguments": "{\"x\": [1, 2]}"}}, {"name": "cat"}]"#;
        assert_eq!(read(chat), [(some("a"), some("ls")), (None, some("cat"))]);
        assert_eq!(read(r#"{"id": 7, "name": ""}"#), [(some("7"), None)]);
        assert_eq!(read(r#"[{"call_id": "c", "id": null}]"#), [(some("c"), None)]);
        assert_eq!(read(r#"[1, "x", null, [{"id": "a"}], {"id": ""}]"#), [(None, None)]);
        for nothing in ["[]", "\"calls\"", "5", "null"] {
            assert_eq!(read(nothing), [], "{nothing}");
        }
    }

    #[test]
    fn a_new_id_leaves_the_rest_as_it_is_spelled() {
        let json = Json::parse(
            r#"[{"id": null, "n": 123456789012345678901234567890, "s": "\ud800, \"id\": 1", "id": 3, "o": {"id": 4}}]"#,
        )
        .unwrap();
        let calls = tool_calls(&json);
        assert!(!calls[0].is_settled);
        assert_eq!(
            calls[0].with_id("new\"1"),
            r#"{"id": "new\"1", "n": 123456789012345678901234567890, "s": "\ud800, \"id\": 1", "o": {"id": 4}}"#
        );
        let empty = Json::parse("{}").unwrap();
        assert_eq!(tool_calls(&empty)[0].with_id("x"), r#"{"id": "x"}"#);
    }

    #[test]
    fn what_only_python_can_hold_is_a_call_all_the_same() {
        assert_eq!(read(r#"[{"id": "a", "name": "f", "x": NaN}]"#), [(some("a"), some("f"))]);
        assert_eq!(read(r#"[{"id": "a", "function": "f", "name": "g", "id": "b"}]"#), [(some("b"), some("g"))]);
        assert_eq!(read(r#"[{"id": "\ud800"}]"#), [(None, None)]);
        let deep = format!("[{{\"id\": \"a\", \"x\": {}{}}}]", "[".repeat(200), "]".repeat(200));
        assert_eq!(read(&deep).len(), 1);
    }
}
