//! Values that JSON, Rust or a column can't represent directly.

use super::*;

/// Stores a content and returns what is read back, as the text of the line.
async fn content(client: &mut Client, wire: &str) -> String {
    client.write("{\"m\": \"clear_messages\", \"a\": [\"s\"]}").await;
    client.raw_line().await;
    client.write(&format!("{{\"m\": \"append_message\", \"a\": [\"s\", \"user\", {wire}]}}")).await;
    let answer = client.raw_line().await;
    if !answer.starts_with("{\"r\": ") {
        return answer;
    }
    client.write("{\"m\": \"get_messages_as_conversation\", \"a\": [\"s\"]}").await;
    let line = client.raw_line().await;
    let start = line.find("\"content\": ").unwrap() + "\"content\": ".len();
    line[start..line.len() - "}]}".len()].to_owned()
}

#[tokio::test]
async fn odd_values_come_back_as_they_went() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        for wire in [
            r#""\ud800""#,
            r#""a\udfffb 🚀""#,
            r#""\u0000""#,
            r#""\u0000json:[1]""#,
            r#""""#,
            r#"["\ud800", {"\udc00": 1}]"#,
            r#"[{"$f": "nan"}, {"$f": "inf"}, {"$f": "-inf"}]"#,
            r#"[{"$o": {"$f": "nan"}}, {"$f": 1, "x": 2}]"#,
            r#"[1, 1.0, -0.0, 1e-07, 123456789012345678901234567890, true, null]"#,
            r#"[]"#,
            r#"{}"#,
            r#"null"#,
        ] {
            assert_eq!(content(&mut client, wire).await, wire);
        }
    }
}

#[tokio::test]
async fn what_a_column_makes_text_of_comes_back_as_text() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        for (wire, expect) in [
            ("5", "\"5\""),
            ("1.5", "\"1.5\""),
            ("true", "\"1\""),
            ("9223372036854775807", "\"9223372036854775807\""),
            (r#"{"$f": "nan"}"#, "null"),
            (r#"{"$b": "YWI="}"#, "\"ab\""),
        ] {
            assert_eq!(content(&mut client, wire).await, expect, "{wire}");
        }
        for (wire, error) in [
            ("9223372036854775808", "ValueError"),
            (r#"{"$b": "/w=="}"#, "ValueError"),
            (r#"[{"$b": "/w=="}]"#, "TypeError"),
        ] {
            let answer = content(&mut client, wire).await;
            assert!(answer.starts_with(&format!("{{\"e\": \"{error}\"")), "{wire}: {answer}");
        }
        let surrogate =
            "{\"m\": \"append_message\", \"a\": [\"s\", \"user\", \"x\"], \"k\": {\"reasoning\": \"\\ud800\"}}";
        client.write(surrogate).await;
        assert!(client.raw_line().await.contains("\"ValueError\""));
    }
}

#[tokio::test]
async fn nesting_is_no_danger() {
    let place = sqlite();
    let mut client = Client::of(&place).await;
    client.call("create_session", json!(["s", "cli"])).await;
    let deep = format!("{}{}", "[".repeat(50_000), "]".repeat(50_000));
    assert_eq!(content(&mut client, &deep).await, deep);
}

#[tokio::test]
async fn values_beside_the_sessions_are_text() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("set_meta", json!(["k", 5])).await;
        assert_eq!(client.call("get_meta", json!(["k"])).await, json!("5"));
        client.call("set_meta", json!(["k", null])).await;
        assert_eq!(client.call("get_meta", json!(["k"])).await, json!(null));
        assert_eq!(client.raises("set_meta", json!([null, "x"])).await.0, "IntegrityError");
        assert_eq!(client.call("get_meta", json!([null])).await, json!(null));
    }
}

/// A line of several megabytes in both directions: a hundred with `HERMES_TORTURE`, which takes a minute in a debug
/// build.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_of_many_megabytes_crosses() {
    let megabytes = if std::env::var_os("HERMES_TORTURE").is_some() { 100 } else { 8 };
    let place = sqlite();
    let mut client = Client::of(&place).await;
    client.call("create_session", json!(["s", "cli"])).await;
    let large = "0123456789abcdef\\n".repeat(megabytes * 1_000_000 / 18);
    let back = content(&mut client, &format!("\"{large}\"")).await;
    assert_eq!(back.len(), large.len() + 2);
    assert!(back.trim_matches('"') == large);
}

#[tokio::test]
async fn a_lone_surrogate_in_a_title_or_a_query_is_text() {
    for place in places() {
        let mut client = Client::of(&place).await;
        client.call("create_session", json!(["s", "cli"])).await;
        for (line, expect) in [
            (r#"{"m": "append_message", "a": ["s", "user", "half \udc00 of it"]}"#, r#"{"r": 1"#),
            (r#"{"m": "set_session_title", "a": ["s", "plan \ud800"]}"#, r#"{"r": true"#),
            (r#"{"m": "get_session_title", "a": ["s"]}"#, "{\"r\": \"plan \u{fffd}\""),
            (r#"{"m": "resolve_session_by_title", "a": ["plan \ud800"]}"#, r#"{"r": "s""#),
            (r#"{"m": "get_next_title_in_lineage", "a": ["plan \ud800"]}"#, "{\"r\": \"plan \u{fffd} #2\""),
            (r#"{"m": "sanitize_title", "a": [" \ud800 "]}"#, "{\"r\": \"\u{fffd}\""),
            (r#"{"m": "search_messages", "a": ["half \ud83d of"]}"#, r#"{"r": [{"id": 1, "session_id": "s""#),
            (r#"{"m": "search", "a": ["half \ud83d"]}"#, r#"{"r": {"hits": [{"id": 1"#),
            (r#"{"m": "search_messages", "a": ["\ud83d"]}"#, r#"{"r": ["#),
        ] {
            client.write(line).await;
            let answer = client.raw_line().await;
            assert!(answer.starts_with(expect), "{line}: {answer}");
        }
    }
}
