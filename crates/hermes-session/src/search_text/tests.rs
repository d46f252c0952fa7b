//! Table of the searchable texts of messages.

use super::*;
use crate::Role;
use proptest::prelude::*;

#[track_caller]
fn check_content(json: &str, expect: &str) {
    let columns = Columns { content: Some("raw"), structured: Some(json), ..Columns::default() };
    assert_eq!(of_columns(columns), expect);
    let content = Some(Content::from_json(Json::parse(json).unwrap()));
    assert_eq!(of_body(&MessageBody { content, ..MessageBody::empty(Role::User) }), expect);
}

#[track_caller]
fn check_calls(calls: &str, expect: &str) {
    assert_eq!(of_columns(Columns { tool_calls: Some(calls), ..Columns::default() }), expect);
    let tool_calls = Some(Json::parse(calls).unwrap());
    assert_eq!(of_body(&MessageBody { tool_calls, ..MessageBody::empty(Role::Assistant) }), expect);
}

#[test]
fn plain_text_is_borrowed() {
    let columns = Columns { content: Some("as \\n it is\0"), tool_name: Some(""), ..Columns::default() };
    assert!(matches!(of_columns(columns), Cow::Borrowed("as \\n it is\0")));
    let body = MessageBody { content: Some("text".into()), ..MessageBody::empty(Role::User) };
    assert!(matches!(of_body(&body), Cow::Borrowed("text")));
    assert!(matches!(of_columns(Columns { tool_name: Some("ls"), ..Columns::default() }), Cow::Borrowed("ls")));
    assert_eq!(of_columns(Columns::default()), "");
}

#[test]
fn parts_are_searched_by_their_texts() {
    check_content(
        r#"[{"type": "text", "text": "look\n\u5927 \"here\""}, {"type": "image_url", "image_url": {"url": "https://a.b/c.png"}}, "bare"]"#,
        "look\n大 \"here\"\nhttps://a.b/c.png\nbare",
    );
    check_content(r#"{"type": "tool_result", "content": [{"type": "text", "text": "within"}]}"#, "within");
    check_content(r#"[{"text": "a", "type": "text"}, "bare"]"#, "a\nbare");
    check_content(r#""a\ud800b""#, "a\u{fffd}b");
    check_content(r#"[{"text": ""}, {"n": 5}, true, null]"#, "");
}

#[test]
fn pictures_and_sounds_are_not_searched() {
    let data = "iVBORw0KGgo".repeat(20);
    check_content(
        &format!(
            r#"[{{"type": "image_url", "image_url": {{"url": "data:image/png;base64,{data}"}}}}, {{"text": "cat"}}]"#
        ),
        "cat",
    );
    check_content(
        &format!(r#"[{{"source": {{"media_type": "image/png", "data": "{data}"}}}}, {{"data": "short words"}}]"#),
        "image/png\nshort words",
    );
    check_content(r#"[{"text": "data: the words, as they are"}]"#, "data: the words, as they are");
}

#[test]
fn calls_are_searched_by_values_and_arguments_by_keys_too() {
    check_calls(
        r#"[{"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"ls\\n\\\"caf\\u00e9\\\"\", \"n\": [1.50, -2e3], \"type\": \"x\", \"none\": null}"}}]"#,
        "c1\nterminal\ncommand\nls\n\"café\"\nn\n1.50\n-2e3\ntype\nx\nnone",
    );
    check_calls(
        r#"[{"name": "f", "input": {"a": {"b": [], "c": "d"}}, "type": "custom", "index": 0}]"#,
        "f\na\nb\nc\nd\n0",
    );
    check_calls(r#"{"arguments": "{not json"}"#, "{not json");
    check_calls(r#"{"arguments": "just words"}"#, "just words");
}

#[test]
fn what_cannot_be_parsed_is_taken_as_it_stands() {
    let columns = Columns {
        content: Some("\0json:[broken"),
        structured: Some("[broken"),
        tool_name: Some("t"),
        tool_calls: Some("[{\\u00e9"),
    };
    assert_eq!(of_columns(columns), "\0json:[broken\nt\n[{\\u00e9");
}

#[test]
fn nesting_is_no_danger() {
    let deep = format!("{}\"found\"{}", "[".repeat(50_000), "]".repeat(50_000));
    check_content(&deep, "found");
    check_calls(&format!("[{{\"arguments\": {}}}]", Json::string(&deep)), "found");
}

proptest! {
    #[test]
    fn any_string_comes_out_as_it_went_in(text in "[a\"\\\\\n\r\t\u{8}\u{c}\u{0}\u{1f}大é/ ]{1,20}", inner: bool) {
        let arguments = Json::from_value(&serde_json::json!({ "k": text })).to_string();
        let calls = if inner {
            serde_json::json!([{ "function": { "arguments": arguments } }])
        } else {
            serde_json::json!([{ "k": { "name": text } }])
        };
        let expect = if inner { format!("k\n{text}") } else { text };
        let calls = calls.to_string();
        prop_assert_eq!(of_columns(Columns { tool_calls: Some(&calls), ..Columns::default() }), expect);
    }

    #[test]
    fn any_json_is_walked_to_its_end(text in r#"[\[\]{}",:\\u0-9a-fN eE.+-]{0,40}"#) {
        of_columns(Columns { structured: Some(&text), tool_calls: Some(&text), ..Columns::default() });
    }
}
