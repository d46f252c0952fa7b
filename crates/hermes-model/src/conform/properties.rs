//! Random lists, as ugly as a store may hold them.

use super::*;
use crate::{CallIds, Part, ReturnedReasoning};
use hermes_session::replay::ReplayMessage;
use hermes_session::{Content, Json, Role};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

/// A few ids, so that they are reused and answered by accident.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c]", Just("call_0".to_owned()), "[a-zA-Z0-9]{9}", ".{0,60}"]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[ \\n\\t]{1,3}", "[a-z]{1,8}", ".{0,20}", Just(BRIDGE.to_owned())]
}

fn arguments() -> impl Strategy<Value = serde_json::Value> {
    prop_oneof![
        Just("{}".into()),
        Just("".into()),
        Just("{\"a\": [1, ".into()),
        Just("{\"a\": \"\\ud800\"}".into()),
        Just(serde_json::json!({"a": [1, 2]})),
        Just(serde_json::Value::Null),
        Just(serde_json::json!([1])),
        ".{0,12}".prop_map(serde_json::Value::from),
    ]
}

fn calls() -> impl Strategy<Value = Json> {
    let call = (of(id()), of(".{0,70}"), arguments()).prop_map(
        |(id, name, arguments)| serde_json::json!({"id": id, "function": {"name": name, "arguments": arguments}}),
    );
    let odd = prop_oneof![Just(serde_json::json!(5)), Just(serde_json::json!({"call_id": "z", "name": "n"}))];
    vec(prop_oneof![8 => call, 1 => odd], 0..4).prop_map(|list| Json::from_value(&list.into()))
}

fn content() -> impl Strategy<Value = Content> {
    let part = prop_oneof![
        text().prop_map(|text| serde_json::json!({"type": "text", "text": text})),
        Just(serde_json::json!({"type": "image_url", "image_url": {"url": "https://a/b.png"}})),
        Just(serde_json::json!({"type": "image_url", "image_url": {"url": "b.png"}})),
        Just(serde_json::json!({"type": "input_audio"})),
        Just(serde_json::Value::Null),
        text().prop_map(|text| serde_json::json!({"note": text})),
    ];
    prop_oneof![
        6 => text().prop_map(Content::Text),
        2 => vec(part, 0..4).prop_map(|parts| Content::Json(Json::from_value(&parts.into()))),
        1 => vec(any::<u8>(), 0..6).prop_map(Content::Bytes),
        1 => Just(Content::Json(Json::parse("\"\\ud800\"").unwrap())),
    ]
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![
        4 => Just(Role::User),
        4 => Just(Role::Assistant),
        4 => Just(Role::Tool),
        1 => Just(Role::System),
        1 => Just(Role::Other("observer".into())),
    ]
}

fn message() -> impl Strategy<Value = ReplayMessage> {
    let reasoning = (of(text()), of(text()), of(Just(Json::parse("[{\"type\": \"x\"}]").unwrap())));
    (role(), of(content()), of(id()), of(calls()), reasoning).prop_map(
        |(role, content, tool_call_id, tool_calls, (reasoning, reasoning_content, reasoning_details))| ReplayMessage {
            content,
            tool_call_id,
            tool_calls,
            finish_reason: Some("stop".into()),
            reasoning,
            reasoning_content,
            reasoning_details,
            ..empty(role)
        },
    )
}

fn quirks() -> impl Strategy<Value = Quirks> {
    let reasoning =
        prop_oneof![Just(ReturnedReasoning::None), Just(ReturnedReasoning::Content), Just(ReturnedReasoning::Details)];
    let ids = prop_oneof![Just(CallIds::Any), Just(CallIds::NineAlphanumeric)];
    (ids, reasoning, any::<bool>()).prop_map(|(call_ids, reasoning, images)| Quirks {
        call_ids,
        reasoning,
        images,
        ..Quirks::default()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_list_conforms_and_stays_so(list in vec(message(), 0..12), quirks in quirks()) {
        let once = conform(list, &quirks);
        prop_assert_eq!(validate(&once, &quirks), Ok(()));
        prop_assert_eq!(conform(once.clone(), &quirks), once);
    }

    #[test]
    fn no_text_of_a_user_is_lost_or_moved(list in vec(message(), 0..12), quirks in quirks()) {
        let said: Vec<String> = list.iter().filter(|message| message.role == Role::User).flat_map(texts).collect();
        let conformed = conform(list, &quirks);
        let sent: Vec<&str> = conformed.iter().flat_map(|message| match message {
            WireMessage::User(parts) => parts.iter().map(|part| match part {
                Part::Text(text) => text.as_str(),
                Part::Image(_) => "",
            }).collect(),
            _ => Vec::new(),
        }).collect();
        let all = sent.join("\n\n");
        let mut rest = all.as_str();
        for text in &said {
            let place = rest.find(text.as_str());
            prop_assert!(place.is_some(), "{text:?} is lost in {conformed:?}");
            rest = &rest[place.unwrap() + text.len()..];
        }
    }

    #[test]
    fn every_call_that_was_answered_keeps_its_result(results in vec("[a-z]{1,8}", 1..6), quirks in quirks()) {
        let call = |at: usize| serde_json::json!({"id": format!("id {at}"), "name": "f"});
        let calls = (0..results.len()).map(call);
        let call = ReplayMessage { tool_calls: Some(Json::from_value(&calls.collect())), ..empty(Role::Assistant) };
        // The last results come first.
        let late = results.iter().enumerate().rev().map(|(at, text)| WireMessage::result(format!("id {at}"), text));
        let list = [WireMessage::user("q"), call.into()].into_iter().chain(late);
        let conformed = conform(list, &quirks);
        let sent: Vec<&String> = conformed.iter().filter_map(|message| match message {
            WireMessage::Result(result) => Some(&result.text),
            _ => None,
        }).collect();
        prop_assert_eq!(sent, results.iter().collect::<Vec<_>>());
    }
}

fn empty(role: Role) -> ReplayMessage {
    ReplayMessage {
        role,
        content: None,
        tool_call_id: None,
        tool_name: None,
        tool_calls: None,
        finish_reason: None,
        reasoning: None,
        reasoning_content: None,
        reasoning_details: None,
        codex_reasoning_items: None,
        codex_message_items: None,
    }
}

/// Returns the texts of a message that say something, found without the code under test.
fn texts(message: &ReplayMessage) -> Vec<String> {
    let texts = match &message.content {
        None => Vec::new(),
        Some(Content::Json(json)) => match json.to_value() {
            Some(serde_json::Value::Array(parts)) => {
                parts.iter().filter_map(|part| part.get("text")?.as_str().map(str::to_owned)).collect()
            }
            _ => vec![message.content.as_ref().unwrap().plain_text().into_owned()],
        },
        Some(content) => vec![content.plain_text().into_owned()],
    };
    texts.into_iter().filter(|text| !text.trim().is_empty()).collect()
}
