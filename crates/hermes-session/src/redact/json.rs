//! Secrets in JSON: each string is masked by itself, and a string under the name of a secret as a whole.

use super::{Counts, Kind, assigned, masked};
use crate::Json;

/// Shortest string that is masked because of its name.
const LEAST: usize = 3;

/// Returns the value without its secrets; `None` if it has none.
pub(super) fn masked_json(json: &Json, counts: &mut Counts) -> Option<Json> {
    let text = json.as_str();
    let (mut out, mut from, mut at) = (String::new(), 0, 0);
    let mut key: Option<String> = None;
    while let Some(start) = text[at..].find('"').map(|offset| at + offset) {
        let end = string_end(text, start);
        let spelled = &text[start..end];
        at = end;
        // In the canonical spelling a key is followed by its colon.
        if text[end..].starts_with(':') {
            let changed = masked_string(spelled, None, counts);
            key = plain(spelled);
            replace(&mut out, text, &mut from, start..end, changed);
            continue;
        }
        // A key names the value right behind it, not one within a list or an object.
        let name = key.take().filter(|_| text[..start].ends_with(": "));
        let changed = masked_string(spelled, name.as_deref(), counts);
        replace(&mut out, text, &mut from, start..end, changed);
    }
    if from == 0 {
        return None;
    }
    out.push_str(&text[from..]);
    Some(Json::of_spelled(&out))
}

fn replace(out: &mut String, text: &str, from: &mut usize, range: std::ops::Range<usize>, changed: Option<String>) {
    if let Some(changed) = changed {
        out.push_str(&text[*from..range.start]);
        out.push_str(&changed);
        *from = range.end;
    }
}

/// Returns where the string that starts at a quotation mark ends.
fn string_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns the spelling of a string without its secrets; `None` if it has none.
fn masked_string(spelled: &str, name: Option<&str>, counts: &mut Counts) -> Option<String> {
    let text = plain(spelled)?;
    let is_header = |name: &str| name.to_ascii_lowercase().ends_with("authorization");
    let kind = match name {
        Some(name) if is_header(name) => Some(Kind::Authorization),
        Some(name) => assigned::kind_of(name.as_bytes()),
        None => None,
    };
    if let Some(kind) = kind.filter(|_| text.len() >= LEAST && !assigned::is_stand_in(text.as_bytes())) {
        *counts.entry(kind).or_default() += 1;
        return Some(Json::string(&kind.placeholder()).to_string());
    }
    let masked = masked(&text, counts);
    (masked != text).then(|| Json::string(&masked).to_string())
}

/// Returns the text of a string. Lone surrogates, which Rust can't hold, are replaced: they are part of no secret.
fn plain(spelled: &str) -> Option<String> {
    Json::of_spelled(spelled).to_value().and_then(|value| value.as_str().map(ToOwned::to_owned))
}
