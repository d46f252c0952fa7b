use super::*;
use crate::{EndReason, HandoffColumns, MessageBody, MessageId, Relation, Role, Source, Usage};
use proptest::prelude::*;
use serde_json::Value;

fn session() -> Session {
    Session {
        id: SessionId::parse("s1").unwrap(),
        source: Source::parse("cli").unwrap(),
        user_id: None,
        model: Some("m".into()),
        model_config: Some(Json::parse(r#"{"a":[1,NaN]}"#).unwrap()),
        system_prompt: Some("be\nkind".into()),
        parent_session_id: Some(SessionId::parse("s0").unwrap()),
        relation: Relation::Continuation,
        started_at: Timestamp::from_seconds(1_741_166_123.25).unwrap(),
        ended_at: None,
        end_reason: Some(EndReason::compression()),
        message_count: 2,
        tool_call_count: 1,
        usage: Usage { input_tokens: 7, estimated_cost_usd: Some(0.1), ..Usage::default() },
        title: Some("大别山 #2".into()),
        handoff: HandoffColumns { state: Some("pending".into()), ..HandoffColumns::default() },
        archived: false,
        extra: Extra::new(),
        faults: Vec::new(),
    }
}

fn message(body: MessageBody) -> Message {
    Message::new(MessageId(42), SessionId::parse("s1").unwrap(), Timestamp::from_seconds(0.1 + 0.2).unwrap(), body)
}

fn content_of(content: impl Into<Content>) -> (String, Option<String>) {
    let object = message_object(&message(MessageBody::new(Role::User, content)));
    let content = object.split_once("\"content\": ").unwrap().1.split_once(", \"tool_call_id\"").unwrap().0;
    let value: Value = Json::parse(&object).unwrap().to_value().unwrap();
    (content.to_owned(), value.get("content_encoding").map(|encoding| encoding.as_str().unwrap().to_owned()))
}

#[test]
fn pins_and_tags_have_keys_where_there_are_any() {
    let pins_and_tags = |pinned_at: Option<f64>, tags: &[&str]| PinAndTags {
        pinned_at: pinned_at.map(|at| Timestamp::from_seconds(at).unwrap()),
        tags: tags.iter().map(|tag| crate::Tag::parse(tag).unwrap()).collect(),
    };
    let end = |pins_and_tags: &PinAndTags| {
        let line = line_head_with_pin_and_tags(&session(), pins_and_tags);
        line.split_once("\"relation\": \"continuation\", ").unwrap().1.to_owned()
    };
    assert_eq!(end(&pins_and_tags(None, &[])), "\"messages\": [");
    assert_eq!(end(&pins_and_tags(Some(0.1), &[])), "\"pinned_at\": 0.1, \"messages\": [");
    assert_eq!(
        end(&pins_and_tags(Some(5.0), &["大", "\"a\""])),
        r#""pinned_at": 5.0, "tags": ["大", "\"a\""], "messages": ["#
    );
}

#[test]
fn a_session_has_the_keys_of_the_agent_in_their_order() {
    assert_eq!(
        session_line_head(&session()),
        concat!(
            r#"{"format": "hermes-sessions/1", "id": "s1", "source": "cli", "user_id": null, "model": "m", "#,
            r#""model_config": {"a": [1, NaN]}, "system_prompt": "be\nkind", "parent_session_id": "s0", "#,
            r#""started_at": 1741166123.25, "ended_at": null, "end_reason": "compression", "message_count": 2, "#,
            r#""tool_call_count": 1, "input_tokens": 7, "output_tokens": 0, "cache_read_tokens": 0, "#,
            r#""cache_write_tokens": 0, "reasoning_tokens": 0, "billing_provider": null, "billing_base_url": null, "#,
            r#""billing_mode": null, "estimated_cost_usd": 0.1, "actual_cost_usd": null, "cost_status": null, "#,
            r#""cost_source": null, "pricing_version": null, "title": "大别山 #2", "api_call_count": 0, "#,
            r#""handoff_state": "pending", "handoff_platform": null, "handoff_error": null, "#,
            r#""relation": "continuation", "messages": ["#,
        )
    );
}

#[test]
fn a_message_has_the_keys_of_the_agent_in_their_order() {
    let json = |text: &str| Some(Json::parse(text).unwrap());
    let body = MessageBody {
        tool_calls: json(r#"[{"id":"a"}]"#),
        token_count: Some(5),
        reasoning_content: Some(String::new()),
        reasoning_details: json("[{}]"),
        codex_message_items: json(r#"["\ud800"]"#),
        ..MessageBody::new(Role::Assistant, "hi")
    };
    assert_eq!(
        message_object(&message(body)),
        concat!(
            r#"{"id": 42, "session_id": "s1", "role": "assistant", "content": "hi", "tool_call_id": null, "#,
            r#""tool_calls": [{"id": "a"}], "tool_name": null, "timestamp": 0.30000000000000004, "token_count": 5, "#,
            r#""finish_reason": null, "reasoning": null, "reasoning_content": "", "reasoning_details": [{}], "#,
            r#""codex_reasoning_items": null, "codex_message_items": ["\ud800"]}"#,
        )
    );
}

#[test]
fn every_kind_of_content_can_be_distinguished_from_the_others() {
    let json = |text: &str| Content::from_json(Json::parse(text).unwrap());
    let plain = |content: &str| (content.to_owned(), None);
    let encoded = |content: &str, encoding: &str| (content.to_owned(), Some(encoding.to_owned()));
    assert_eq!(content_of("[1]"), plain(r#""[1]""#));
    assert_eq!(content_of(json("[1]")), plain("[1]"));
    assert_eq!(content_of("a\0\u{2028}"), plain("\"a\\u0000\u{2028}\""));
    assert_eq!(content_of(json(r#""\ud800""#)), plain(r#""\ud800""#));
    assert_eq!(content_of(json(r#"{"base64": "/w=="}"#)), plain(r#"{"base64": "/w=="}"#));
    assert_eq!(content_of(Content::Bytes(vec![0xff])), encoded(r#"{"base64": "/w=="}"#, "base64"));
    assert_eq!(content_of("null"), plain("\"null\""));
    assert_eq!(content_of(json("null")), encoded("null", "json"));
    let object = message_object(&message(MessageBody::empty(Role::User)));
    assert!(object.contains("\"content\": null") && !object.contains("content_encoding"));
}

#[test]
fn a_column_that_cannot_be_read_is_exported_as_it_is() {
    let fault = |column, raw: &[u8]| Fault { column, why: "is broken".into(), raw: raw.into() };
    let faults = vec![fault("tool_calls", b"[1,"), fault("reasoning", &[0xff]), fault("tool_calls", b"again")];
    let object = message_object(&Message { faults, ..message(MessageBody::empty(Role::Assistant)) });
    let told = r#", "faults": {"tool_calls": {"why": "is broken", "raw": "[1,"}, "reasoning": {"why": "is broken", "raw": {"base64": "/w=="}}}}"#;
    assert!(object.ends_with(told), "{object}");
    let head = session_line_head(&Session { faults: vec![fault("model_config", b"{")], ..session() });
    assert!(head.ends_with(r#""faults": {"model_config": {"why": "is broken", "raw": "{"}}, "messages": ["#), "{head}");
}

proptest! {
    #[test]
    fn a_line_is_one_line_and_reads_back(text: String, title: String, bits: u64) {
        let seconds = Some(f64::from_bits(bits)).filter(|seconds| seconds.is_finite()).unwrap_or(0.0);
        let started_at = Timestamp::from_seconds(seconds).unwrap();
        let session = Session { title: Some(title.clone()), started_at, ..session() };
        let message = Message { timestamp: started_at, ..message(MessageBody::new(Role::User, text.as_str())) };
        let line = format!("{}{}]}}", session_line_head(&session), message_object(&message));
        prop_assert!(!line.contains('\n'));
        let json = Json::parse(&line).unwrap();
        prop_assert_eq!(json.as_str(), &line, "a line is in the one spelling");
        let value = json.to_value().unwrap();
        prop_assert_eq!(value["title"].as_str(), Some(title.as_str()));
        prop_assert_eq!(value["messages"][0]["content"].as_str(), Some(text.as_str()));
        let number = line.split_once("\"started_at\": ").unwrap().1.split_once(',').unwrap().0;
        prop_assert_eq!(number.parse::<f64>().unwrap().to_bits(), seconds.to_bits());
    }
}
