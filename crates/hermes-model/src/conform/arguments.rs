//! Arguments of calls, which a model may leave half written.

use serde_json::{Map, Value};

/// Returns whether a text is a JSON object that any server can parse.
pub fn is_object(text: &str) -> bool {
    serde_json::from_str::<Map<String, Value>>(text).is_ok()
}

/// Makes the arguments a JSON object. Returns the text that was none, if it said anything.
pub(super) fn repair(arguments: &mut String) -> Option<String> {
    if is_object(arguments) {
        return None;
    }
    let broken = std::mem::replace(arguments, "{}".to_owned());
    let says_something = !matches!(broken.trim(), "" | "null");
    says_something.then_some(broken)
}

/// Returns the note in the result of a call whose arguments were replaced.
pub(super) fn note(broken: &str) -> String {
    format!("[The arguments of this call were not a JSON object: {broken}]")
}
