use super::*;
use hermes_session::replay::replay;
use hermes_session::{Content, Json, Message, MessageBody, MessageId, Role, SessionId, Timestamp};

fn converted(body: MessageBody) -> WireMessage {
    let id = SessionId::from_stored("s");
    let message = Message::new(MessageId(1), id, Timestamp::from_seconds(0.0).unwrap(), body);
    replay([vec![message]]).remove(0).into()
}

fn user(json: &str) -> WireMessage {
    converted(MessageBody::new(Role::User, Content::from_json(Json::parse(json).unwrap())))
}

fn image(url: &str) -> Part {
    Part::Image(Image { url: url.into(), detail: None })
}

#[test]
fn images_of_every_wire_format_become_one_form() {
    let data = "data:image/png;base64,QQ==";
    for part in [
        r#"{"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}}"#,
        r#"{"type": "input_image", "image_url": "data:image/png;base64,QQ=="}"#,
        r#"{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QQ=="}}"#,
        r#"{"type": "image", "source": {"type": "url", "url": "data:image/png;base64,QQ=="}}"#,
    ] {
        assert_eq!(user(&format!("[{part}]")), WireMessage::User(vec![image(data)]), "{part}");
    }
    let on_disk = r#"[{"type": "image_url", "image_url": {"url": "/home/a/cat.png"}}, {"type": "image"}]"#;
    let placeholder = || Part::Text("[image]".into());
    assert_eq!(user(on_disk), WireMessage::User(vec![placeholder(), placeholder()]));
}

#[test]
fn no_text_of_a_strange_part_is_lost() {
    for (json, text) in [
        (r#"[{"type": "text", "text": "hi"}]"#, "hi"),
        (r#"["hi"]"#, "hi"),
        (r#"{"content": "hi"}"#, "hi"),
        (r#"{"note": "hi"}"#, r#"{"note":"hi"}"#),
        (r#"[{"type": "text", "text": ["hi"]}]"#, r#"{"type":"text","text":["hi"]}"#),
        ("5", "5"),
    ] {
        assert_eq!(user(json), WireMessage::user(text), "{json}");
    }
}

#[test]
fn calls_are_read_in_every_form() {
    let mut body = MessageBody::empty(Role::Assistant);
    body.tool_calls = Some(
        Json::parse(
            r#"[{"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{\"x\": 1}"}},
                {"call_id": "b", "name": "cat", "input": {"y": 2}}, {"id": 7}]"#,
        )
        .unwrap(),
    );
    let WireMessage::Assistant(message) = converted(body) else { panic!("not the assistant's") };
    let calls: Vec<(&str, &str, &str)> =
        message.calls.iter().map(|call| (call.id.as_str(), call.name.as_str(), call.arguments.as_str())).collect();
    assert_eq!(calls, [("a", "ls", "{\"x\": 1}"), ("b", "cat", "{\"y\":2}"), ("7", "", "")]);
}
