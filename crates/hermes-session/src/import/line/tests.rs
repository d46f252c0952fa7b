use super::*;
use crate::export::{SESSION_LINE_END, message_object, session_line_head};
use proptest::prelude::*;

fn line(text: &str) -> ImportLine {
    ImportLine::read(text.as_bytes()).unwrap()
}

/// Writes a parsed line again.
fn again(parsed: &Parsed<'_>) -> String {
    let read = |place| message_object(&parsed.messages.read(place, &mut Vec::new()).unwrap());
    let messages: Vec<String> = (0..parsed.messages.len()).map(read).collect();
    format!("{}{}{SESSION_LINE_END}", session_line_head(&parsed.session), messages.join(", "))
}

#[track_caller]
fn refused(text: &str, why: &str) {
    let outcome = ImportLine::read(text.as_bytes()).and_then(|line| line.parse().map(drop));
    assert_eq!(outcome.unwrap_err().to_string(), why, "{text}");
}

const HEAD: &str = r#"{"format": "hermes-sessions/1", "id": "s", "source": "api-server", "started_at": 0.1, "#;

#[test]
fn pins_and_tags_are_read_and_invalid_ones_are_reported() {
    let pins_and_tags = |more: &str| {
        let line = line(&format!("{HEAD}{more}\"messages\": []}}"));
        let parsed = line.parse().unwrap();
        let tags = parsed.pins_and_tags.tags.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        (parsed.pins_and_tags.pinned_at.map(Timestamp::seconds), tags, parsed.lost.join("; "))
    };
    let expect = |at, tags: &str, lost: &str| (at, tags.to_owned(), lost.to_owned());
    assert_eq!(pins_and_tags(""), expect(None, "", ""));
    assert_eq!(pins_and_tags(r#""pinned_at": null, "tags": null, "#), expect(None, "", ""));
    assert_eq!(pins_and_tags(r#""pinned_at": 0.1, "tags": ["b", "A", "b"], "#), expect(Some(0.1), "a b", ""));
    let lost = "a tag is not valid: tag \"a b\" has a blank or a comma in it; a tag is not text";
    assert_eq!(pins_and_tags(r#""tags": ["a b", 7, "c"], "#), expect(None, "c", lost));
    assert_eq!(pins_and_tags(r#""tags": {"a": 1}, "#), expect(None, "", "tags is not a list"));
    refused(&format!("{HEAD}\"pinned_at\": \"x\", \"messages\": []}}"), "pinned_at is not a finite number");
    // Other programs may use such a key for something else.
    let theirs =
        line(r#"{"id": "s", "source": "cli", "started_at": 1, "pinned_at": true, "tags": ["a"], "messages": []}"#);
    assert!(theirs.parse().unwrap().pins_and_tags.is_empty());
}

#[test]
fn what_was_exported_is_read_back() {
    let text = format!(
        "{HEAD}{}",
        concat!(
            r#""user_id": "u", "model_config": {"a": [NaN, 12345678901234567890.5]}, "parent_session_id": "p", "#,
            r#""ended_at": -1e-300, "end_reason": "compression", "message_count": 9, "title": "大 #2", "relation": "branch", "#,
            r#""estimated_cost_usd": 0.30000000000000004, "messages": ["#,
            r#"{"id": 7, "session_id": "s", "role": "user", "content": "a\u0000b", "timestamp": 1e22, "token_count": 3}, "#,
            r#"{"role": "assistant", "content": ["\ud800", NaN], "tool_calls": "[]", "reasoning": "", "timestamp": -0.0}, "#,
            r#"{"role": "x", "content": null, "content_encoding": "json", "timestamp": 5}, "#,
            r#"{"role": "x", "content": {"base64": "/wA="}, "content_encoding": "base64", "timestamp": 5}]}"#,
        )
    );
    let line = line(&text);
    let parsed = line.parse().unwrap();
    assert_eq!((parsed.session.source.as_str(), parsed.session.message_count), ("api-server", 9));
    assert_eq!((parsed.relation, parsed.lost.as_slice()), (Some(Relation::Branch), &[][..]));
    let bodies: Vec<Message> = (0..4).map(|place| parsed.messages.read(place, &mut Vec::new()).unwrap()).collect();
    assert_eq!(bodies[0].body.content, Some(Content::from("a\0b")));
    assert_eq!(bodies[1].body.tool_calls, Some(Json::string("[]")));
    assert_eq!(bodies[1].timestamp.seconds().to_bits(), (-0.0_f64).to_bits());
    assert_eq!(bodies[2].body.content, Some(Content::Json(Json::parse("null").unwrap())));
    assert_eq!(bodies[3].body.content, Some(Content::Bytes(vec![0xff, 0])));
    let written = again(&parsed);
    assert_eq!(again(&self::line(&written).parse().unwrap()), written);
}

#[test]
fn the_agents_own_lines_hold_json_as_text() {
    let line = line(concat!(
        r#"{"id": "s", "source": "cli", "model_config": "{\"a\": 1}", "started_at": 1, "last_active": 5, "messages": ["#,
        r#"{"id": 1, "role": "assistant", "content": "hi", "tool_calls": [{"id": "a"}, {"id": "b"}], "timestamp": 2.5, "#,
        r#""reasoning_details": "[{}]", "codex_message_items": "{broken"}]}"#
    ));
    let parsed = line.parse().unwrap();
    assert_eq!(parsed.session.model_config, Some(Json::parse(r#"{"a": 1}"#).unwrap()));
    assert_eq!((parsed.session.message_count, parsed.session.tool_call_count), (1, 2), "counted where it is not told");
    assert_eq!((parsed.relation, parsed.session.relation), (None, Relation::Root));
    assert_eq!(parsed.lost, ["codex_message_items is not JSON"]);
    let message = parsed.messages.read(0, &mut Vec::new()).unwrap();
    assert_eq!(message.body.reasoning_details, Some(Json::parse("[{}]").unwrap()));
    assert_eq!(message.body.codex_message_items, None);
}

#[test]
fn what_is_no_session_says_why() {
    refused("{", "JSON is broken at byte 1: a key in quotes is missing");
    refused("[]", "line is not an object");
    refused(r#"{"format": "other/2", "messages": []}"#, "format is other/2");
    refused(r#"{"source": "cli", "started_at": 1, "messages": []}"#, "id is missing");
    refused(r#"{"id": "s", "source": "cli", "messages": []}"#, "started_at is missing");
    for time in ["\"x\"", "1e999", "NaN", "-Infinity", "[]"] {
        let text = format!(r#"{{"id": "s", "source": "cli", "started_at": {time}, "messages": []}}"#);
        refused(&text, "started_at is not a finite number");
    }
    refused(r#"{"id": "", "source": "cli", "started_at": 1, "messages": []}"#, "session id is empty");
    refused(r#"{"id": "s", "source": "cli", "started_at": 1}"#, "messages is missing");
    refused(r#"{"id": "s", "source": "cli", "started_at": 1, "relation": "twin", "messages": []}"#, "relation is twin");
    refused(r#"{"id": "s", "source": "\ud800", "started_at": 1, "messages": []}"#, "source holds a lone surrogate");
    refused(&format!("{HEAD}\"messages\": [{{\"role\": \"user\"}}, 5]}}"), "message 2: message is not an object");
    refused(&format!("{HEAD}\"messages\": [{{\"content\": \"x\"}}]}}"), "message 1: role is missing");
    refused(
        &format!("{HEAD}\"messages\": [{{\"role\": \"user\", \"tool_name\": \"\\u0000\"}}]}}"),
        "message 1: tool_name holds a NUL character",
    );
    let error = ImportLine::read(b"{\"id\": \"\xff\"}").map(drop).unwrap_err();
    assert_eq!(error.to_string(), "line is not UTF-8 from byte 8 on");
}

#[test]
fn columns_that_were_lost_are_reported_once() {
    let fault = r#""faults": {"tool_calls": {"why": "x", "raw": "{"}}"#;
    let message = format!("{{\"role\": \"user\", {fault}}}");
    let line = line(&format!("{HEAD}\"messages\": [{message}, {message}]}}"));
    assert_eq!(line.parse().unwrap().lost, ["tool_calls could not be read in the store it comes from"]);
}

proptest! {
    #[test]
    fn any_line_is_read_or_refused(
        text in r#"[\[\]{}",:a0-9 ]{0,60}|\{"id": "s", "source": "x", "started_at": [0-9eE.+-]{1,6}, "messages": [\[\]{}",:a0-9 ]{0,30}\}"#,
    ) {
        if let Ok(line) = ImportLine::read(text.as_bytes()) {
            _ = line.parse();
        }
    }
}
