//! Messages of every kind, in several scripts.

use hermes_session::{Content, Json, MessageBody, Role};

fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

/// Typical texts, one script each. The agent's search handles CJK of three characters and of two differently.
pub(crate) const SCRIPTS: [&str; 9] = [
    "Straße, naïve café:\n\t\"quoted\" and 'quoted'",
    "Привет, мир",
    "大别山项目的天气",
    "こんにちは世界です",
    "안녕하세요 세계",
    "שלום עולם",
    "สวัสดีชาวโลก",
    "مرحبا بالعالم",
    "🧑‍🚀 lift-off 🚀 e\u{301}",
];

/// Returns texts of a user and answers of a model.
pub(crate) fn scripts() -> Vec<MessageBody> {
    let role = |place: usize| if place.is_multiple_of(2) { Role::User } else { Role::Assistant };
    SCRIPTS.iter().enumerate().map(|(place, text)| MessageBody::new(role(place), *text)).collect()
}

/// Returns a question, and an answer with every field of a model's answer.
pub(crate) fn plain() -> Vec<MessageBody> {
    let mut answer = MessageBody::new(Role::Assistant, "hello back");
    answer.token_count = Some(7);
    answer.finish_reason = Some("stop".into());
    answer.reasoning = Some("they greet; so 我 greet".into());
    answer.reasoning_content = Some(String::new());
    answer.reasoning_details = Some(json(r#"[{"type": "reasoning.text", "text": "so", "index": 0}]"#));
    answer.codex_reasoning_items = Some(json(r#"[{"id": "rs_1", "encrypted_content": "é"}]"#));
    answer.codex_message_items = Some(json(r#"[{"id": "msg_1", "phase": "final"}]"#));
    vec![MessageBody::new(Role::User, "Hello there general"), answer]
}

/// Returns a call of two tools and their results.
pub(crate) fn tools() -> Vec<MessageBody> {
    let mut call = MessageBody::empty(Role::Assistant);
    call.tool_calls = Some(json(
        r#"[{"id": "call_1", "type": "function", "function": {"name": "terminal", "arguments": "{\"command\": \"ls ~/資料\"}"}},
            {"id": "call_2", "type": "function", "function": {"name": "browser", "arguments": "{}"}}]"#,
    ));
    call.finish_reason = Some("tool_calls".into());
    let result = |id: &str, name: &str, text: &str| MessageBody {
        tool_call_id: Some(id.into()),
        tool_name: Some(name.into()),
        ..MessageBody::new(Role::Tool, text)
    };
    vec![
        MessageBody::new(Role::User, "what is in there?"),
        call,
        result("call_1", "terminal", "one.txt\ntwo.txt"),
        result("call_2", "browser", ""),
    ]
}

/// Returns structured content in parts, as messages with images have.
pub(crate) fn parts() -> Vec<MessageBody> {
    let parts = |text: &str| Content::from_json(json(text));
    vec![
        MessageBody::new(Role::User, "look at this"),
        MessageBody::new(
            Role::User,
            parts(
                r#"[{"type": "text", "text": "富士山の写真 \"here\""}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]"#,
            ),
        ),
        MessageBody::new(Role::Assistant, parts(r#"{"text": "a mountain", "score": 0.25, "big": 1e+30}"#)),
    ]
}
