//! Tool calls that arrive in pieces.

use super::value::{some_text, text};
use crate::Call;
use crate::conform::is_object;
use crate::digest::Digest;
use serde_json::Value;
use std::collections::BTreeSet;

/// Maximum number of calls in one answer. A model that makes more has lost its way, or is none.
const MAX_CALLS: usize = 1000;

/// The answer has more calls than any model makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMany;

/// The calls of an answer so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<Partial>,
}

#[derive(Debug, Default)]
struct Partial {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    extent: Extent,
}

/// Tells where a JSON object ends, in one pass over its pieces.
#[derive(Debug, Default)]
struct Extent {
    depth: usize,
    is_text: bool,
    is_escaped: bool,
    /// Whether the object that was opened first is closed.
    is_complete: bool,
}

impl Extent {
    fn push(&mut self, piece: &str) {
        for byte in piece.bytes() {
            match byte {
                _ if std::mem::take(&mut self.is_escaped) => {}
                b'\\' => self.is_escaped = self.is_text,
                b'"' => self.is_text = !self.is_text,
                b'{' | b'[' if !self.is_text => self.depth += 1,
                b'}' | b']' if !self.is_text => {
                    self.depth = self.depth.saturating_sub(1);
                    self.is_complete |= self.depth == 0;
                }
                _ => {}
            }
        }
    }
}

impl Partial {
    fn push(&mut self, piece: &str) {
        self.extent.push(piece);
        self.arguments.push_str(piece);
    }
}

impl Calls {
    pub(super) const fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes one piece of a call. Returns its name if the piece begins a call.
    pub(super) fn push(&mut self, piece: &Value) -> Result<Option<&str>, TooMany> {
        let function = piece.get("function").filter(|function| function.is_object()).unwrap_or(piece);
        let index = piece.get("index").and_then(Value::as_u64);
        let id = some_text(piece, "id");
        let name = some_text(function, "name");
        let place = self.place(index, id, name.is_some());
        let is_new = place.is_none();
        if is_new && self.calls.len() >= MAX_CALLS {
            return Err(TooMany);
        }
        let place = place.unwrap_or_else(|| {
            self.calls.push(Partial { index, ..Partial::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[place];
        if call.id.is_empty() {
            call.id.push_str(id.unwrap_or_default());
        }
        if let Some(name) = name {
            // Some servers send the name in pieces, others repeat it with each piece.
            let is_piece = call.arguments.is_empty() && call.name != name;
            if is_piece {
                call.name.push_str(name);
            }
        }
        match function.get("arguments") {
            Some(Value::String(piece)) => call.push(piece),
            Some(Value::Null) | None => {}
            Some(whole) => call.push(&whole.to_string()),
        }
        Ok((is_new && !call.name.is_empty()).then_some(&call.name))
    }

    /// Returns the call that a piece continues; `None` if the piece begins a call.
    fn place(&self, index: Option<u64>, id: Option<&str>, has_name: bool) -> Option<usize> {
        let begins = |call: &Partial| {
            // Some servers send whole calls that all have the index 0, each with an id of its own; others make up a new
            // id for every piece of one call. Only a whole call has a name.
            has_name && id.is_some_and(|id| !call.id.is_empty() && call.id != id)
        };
        if let Some(index) = index {
            let place = self.calls.iter().rposition(|call| call.index == Some(index))?;
            return (!begins(&self.calls[place])).then_some(place);
        }
        if let Some(id) = id
            && let Some(place) = self.calls.iter().rposition(|call| call.id == id)
        {
            // The same id, but another whole call.
            return (!(has_name && self.calls[place].extent.is_complete)).then_some(place);
        }
        let last = self.calls.last()?;
        let is_next = has_name && (id.is_some() || last.extent.is_complete);
        (!is_next && !begins(last)).then_some(self.calls.len() - 1)
    }

    /// Returns the calls. A call without a name is dropped; of an answer that was cut off, the last one too if its
    /// arguments are not complete.
    ///
    /// A call without an id, or with that of another one, gets an id that is derived from `seed` and the call.
    pub(super) fn finish(self, is_cut: bool, seed: &str) -> Vec<Call> {
        let last = self.calls.len().saturating_sub(1);
        let is_half = |at: usize, call: &Partial| is_cut && at == last && !is_object(&call.arguments);
        let mut used = BTreeSet::new();
        let mut calls = Vec::with_capacity(self.calls.len());
        for (at, call) in self.calls.into_iter().enumerate() {
            if call.name.is_empty() || is_half(at, &call) {
                continue;
            }
            let is_usable = !call.id.is_empty() && !call.id.contains('\0') && !used.contains(&call.id);
            let id = if is_usable { call.id } else { made_up(seed, at, &call.name, &call.arguments) };
            used.insert(id.clone());
            calls.push(Call { id, name: call.name.replace('\0', ""), arguments: call.arguments });
        }
        calls
    }
}

fn made_up(seed: &str, at: usize, name: &str, arguments: &str) -> String {
    let parts = [seed.as_bytes(), &at.to_le_bytes(), name.as_bytes(), arguments.as_bytes()];
    format!("call_{}", Digest::of(parts).letters(12))
}

/// Returns the pieces of calls in a delta or a message.
pub(super) fn pieces(delta: &Value) -> &[Value] {
    match delta.get("tool_calls") {
        Some(Value::Array(pieces)) => pieces,
        Some(piece @ Value::Object(_)) => std::slice::from_ref(piece),
        _ => &[],
    }
}

/// Returns the single call of the older form of the protocol.
pub(super) fn older_form(delta: &Value) -> Option<&Value> {
    let call = delta.get("function_call").filter(|call| call.is_object())?;
    (text(call, "name").is_some() || text(call, "arguments").is_some()).then_some(call)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pieces: &str, is_cut: bool) -> Vec<(String, String, String)> {
        let mut calls = Calls::default();
        for piece in serde_json::from_str::<Vec<Value>>(pieces).unwrap() {
            calls.push(&piece).unwrap();
        }
        calls.finish(is_cut, "seed").into_iter().map(|call| (call.id, call.name, call.arguments)).collect()
    }

    fn call(id: &str, name: &str, arguments: &str) -> (String, String, String) {
        (id.to_owned(), name.to_owned(), arguments.to_owned())
    }

    #[test]
    fn pieces_are_joined_in_every_form() {
        let by_index = r#"[
            {"index": 0, "id": "a", "function": {"name": "ls", "arguments": ""}},
            {"index": 0, "function": {"arguments": "{\"x\""}},
            {"index": 1, "id": "b", "function": {"name": "cat", "arguments": "{}"}},
            {"index": 0, "id": "", "function": {"name": null, "arguments": ": 1}"}}]"#;
        assert_eq!(read(by_index, false), [call("a", "ls", "{\"x\": 1}"), call("b", "cat", "{}")]);
        let whole_with_one_index = r#"[
            {"index": 0, "id": "a", "function": {"name": "ls", "arguments": {"x": 1}}},
            {"index": 0, "id": "b", "function": {"name": "ls", "arguments": "{}"}}]"#;
        assert_eq!(read(whole_with_one_index, false), [call("a", "ls", "{\"x\":1}"), call("b", "ls", "{}")]);
        let new_id_with_each_piece = r#"[
            {"index": 0, "id": "a", "function": {"name": "ls", "arguments": "{"}},
            {"index": 0, "id": "b", "function": {"arguments": "}"}}]"#;
        assert_eq!(read(new_id_with_each_piece, false), [call("a", "ls", "{}")]);
        let repeated_id_and_name = r#"[
            {"index": 0, "id": "a", "function": {"name": "ls", "arguments": "{"}},
            {"index": 0, "id": "a", "function": {"name": "ls", "arguments": "}"}}]"#;
        assert_eq!(read(repeated_id_and_name, false), [call("a", "ls", "{}")]);
        let no_index = r#"[
            {"id": "a", "function": {"name": "l", "arguments": ""}},
            {"function": {"name": "s", "arguments": "{"}},
            {"function": {"arguments": "}"}},
            {"id": "b", "function": {"name": "cat", "arguments": "{}"}},
            {"id": "b", "function": {"name": "cat", "arguments": "{\"y\": 2}"}}]"#;
        let joined = read(no_index, false);
        assert_eq!(joined[..2], [call("a", "ls", "{}"), call("b", "cat", "{}")]);
        assert_eq!((joined.len(), joined[2].2.as_str()), (3, "{\"y\": 2}"));
        assert!(joined[2].0.starts_with("call_"), "a repeated id is replaced: {joined:?}");
    }

    #[test]
    fn missing_ids_are_made_up_and_stable() {
        let pieces =
            r#"[{"function": {"name": "ls", "arguments": "{}"}}, {"function": {"name": "ls", "arguments": "{}"}}]"#;
        let calls = read(pieces, false);
        assert_eq!(calls.len(), 2);
        assert_ne!(calls[0].0, calls[1].0);
        assert_eq!(read(pieces, false), calls);
    }

    #[test]
    fn half_calls_are_dropped() {
        let pieces = r#"[{"index": 0, "id": "a", "function": {"name": "ls", "arguments": "{}"}},
            {"index": 1, "id": "b", "function": {"name": "cat", "arguments": "{\"path"}},
            {"index": 2, "id": "c", "function": {"arguments": "{}"}}]"#;
        assert_eq!(read(pieces, false), [call("a", "ls", "{}"), call("b", "cat", "{\"path")]);
        let cut = r#"[{"index": 0, "id": "a", "function": {"name": "ls", "arguments": "{}"}},
            {"index": 1, "id": "b", "function": {"name": "cat", "arguments": "{\"path"}}]"#;
        assert_eq!(read(cut, true), [call("a", "ls", "{}")]);
    }

    #[test]
    fn the_end_of_arguments_is_seen_in_any_pieces() {
        for (arguments, is_complete) in [
            ("{\"a\": \"}\\\"}\"", false),
            ("{\"a\": [{}]}", true),
            ("", false),
            ("{\"a\": \"{\"}", true),
            ("{{}", false),
        ] {
            let mut extent = Extent::default();
            for character in arguments.chars() {
                extent.push(&character.to_string());
            }
            assert_eq!(extent.is_complete, is_complete, "{arguments}");
        }
    }

    #[test]
    fn endless_calls_are_refused() {
        let mut calls = Calls::default();
        let piece = |index: usize| serde_json::json!({"index": index, "function": {"name": "f"}});
        assert_eq!((0..5000).try_for_each(|index| calls.push(&piece(index)).map(drop)), Err(TooMany));
    }

    #[test]
    fn hostile_pieces_do_no_harm() {
        for pieces in [r#"[5, null, "x", [], {}]"#, r#"[{"index": -1, "id": 7, "function": "f"}]"#] {
            assert_eq!(read(pieces, false), []);
        }
    }
}
