//! Messages as text for an agent.

use hermes_session::{Message, MessageBody, Role, search_text};
use serde_json::Value;
use std::borrow::Cow;
use std::ops::Range;

/// Maximum length of a tool result that is shown whole, in characters; a longer one is reduced to both ends.
const RESULT: usize = 500;
/// Placeholder for text that was left out.
pub(crate) const CUT: &str = " […] ";
/// The role of rows that are not sent to a model: notes of the gateway and of people.
pub(crate) const NOTE: &str = "session_meta";

/// Returns a message as text, with its author in front, or `None` if it is empty.
///
/// A long tool result is reduced to both ends.
pub(crate) fn message(message: &Message) -> Option<String> {
    let body = &message.body;
    let mut text: Cow<'_, str> = body.plain_text();
    if body.role == Role::Tool {
        text = ends(&text, RESULT).into();
    }
    let calls = called(body);
    if text.trim().is_empty() && calls.is_empty() {
        return None;
    }
    let mut out = format!("[{}]: ", speaker(message));
    out.push_str(&text);
    if !calls.is_empty() {
        out.push_str(if text.trim().is_empty() { "" } else { "\n" });
        out.push_str(&format!("[Called: {}]", calls.join(", ")));
    }
    Some(out)
}

/// Returns the approximate number of characters of a message as text.
pub(crate) fn size(message: &Message) -> usize {
    let text = message.body.plain_text();
    let shown = if message.body.role == Role::Tool { text.len().min(RESULT) } else { text.len() };
    shown + called(&message.body).iter().map(String::len).sum::<usize>()
}

/// Returns the number of characters of a message as stored: content and tool calls.
pub(crate) fn stored_size(message: &Message) -> usize {
    let calls = message.body.tool_calls.as_ref().map_or(0, |calls| calls.as_str().chars().count());
    message.body.plain_text().chars().count() + calls
}

/// Returns a matching message as text, with everything that is searched in it. If that is longer than `most`
/// characters, returns the part with the most matches.
pub(crate) fn matched(message: &Message, most: usize, marks: impl Fn(&str) -> Vec<Range<usize>>) -> String {
    let body = &message.body;
    let head = format!("[{}]: ", speaker(message));
    let text = search_text::of_body(body);
    let places = marks(&text);
    let room = most.saturating_sub(head.chars().count());
    format!("{head}{}", around(&text, &places, room))
}

/// Returns the author of a message, with its state if that is not active.
fn speaker(message: &Message) -> String {
    let name = match &message.body.role {
        Role::Tool => format!("TOOL:{}", message.body.tool_name.as_deref().unwrap_or("unknown")),
        Role::Other(role) if role == NOTE => "NOTE".to_owned(),
        role => role.as_str().to_uppercase(),
    };
    if message.state.is_active() { name } else { format!("{name}, {}", message.state) }
}

/// Returns the names of the tools that a message calls.
fn called(body: &MessageBody) -> Vec<String> {
    let Some(Value::Array(calls)) = body.tool_calls.as_ref().and_then(hermes_session::Json::to_value) else {
        return Vec::new();
    };
    let name = |call: &Value| call["function"]["name"].as_str().or_else(|| call["name"].as_str()).map(str::to_owned);
    calls.iter().map(|call| name(call).unwrap_or_else(|| "unknown".to_owned())).collect()
}

/// Returns a text, reduced to both ends if it is longer than `most` characters.
pub(crate) fn ends(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head}{CUT}{tail}")
}

/// Returns the part of a text, of at most `most` characters including the [`CUT`] placeholders, that contains the most
/// matches; the first of such parts.
fn around(text: &str, marks: &[Range<usize>], most: usize) -> String {
    // A text never has more characters than bytes.
    if text.len() <= most || text.chars().count() <= most {
        return text.to_owned();
    }
    let room = most.saturating_sub(2 * CUT.chars().count()).max(1);
    // Offsets of the matches in characters, because the size of the part is in characters.
    let mut places = Vec::with_capacity(marks.len());
    let (mut at, mut count) = (0, 0);
    for mark in marks {
        let start = text.floor_char_boundary(mark.start.max(at));
        count += text[at..start].chars().count();
        at = start;
        places.push(count);
    }
    let best = (0..places.len())
        .rev()
        .max_by_key(|first| places[*first..].iter().take_while(|place| **place < places[*first] + room * 3 / 4).count())
        .map_or(0, |first| places[first]);
    let all = count + text[at..].chars().count();
    let start = best.saturating_sub(room / 4).min(all - room);
    let part: String = text.chars().skip(start).take(room).collect();
    let (before, after) = (if start > 0 { CUT } else { "" }, if start + room < all { CUT } else { "" });
    format!("{before}{part}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(text: &str, word: &str) -> Vec<Range<usize>> {
        text.match_indices(word).map(|(at, word)| at..at + word.len()).collect()
    }

    #[test]
    fn a_long_text_is_cut_around_its_matches() {
        let text = format!("{}needle{}needle needle{}", "é".repeat(300), "x".repeat(600), "y".repeat(300));
        let part = around(&text, &mark(&text, "needle"), 100);
        assert!(part.contains("needle needle") && part.chars().count() <= 100, "{part}");
        assert!(part.starts_with(CUT) && part.ends_with(CUT));
        // Without a match it is the beginning; a text that fits is unchanged.
        assert!(around(&text, &[], 100).starts_with("ééé"));
        assert_eq!(around("ééé", &[], 3), "ééé");
        let end = format!("{}needle", "é".repeat(300));
        assert!(around(&end, &mark(&end, "needle"), 50).ends_with("needle"));
    }

    #[test]
    fn a_long_result_shows_both_ends() {
        let text = format!("first{}last", "é".repeat(1_000));
        let short = ends(&text, RESULT);
        assert!(short.starts_with("first") && short.ends_with("last") && short.chars().count() < 520);
        assert_eq!(ends("whole", RESULT), "whole");
    }
}
