use super::*;
use crate::tool_calls::tool_calls;
use crate::{MessageId, Timestamp};
use proptest::prelude::*;

fn stored(bodies: impl IntoIterator<Item = MessageBody>) -> Vec<Message> {
    let session_id = SessionId::parse("s").unwrap();
    let timestamp = Timestamp::from_seconds(0.0).unwrap();
    let message = |(id, body)| Message::new(MessageId(id), session_id.clone(), timestamp, body);
    (1..).zip(bodies).map(message).collect()
}

fn user(text: &str) -> MessageBody {
    MessageBody::new(Role::User, text)
}

fn says(text: &str) -> MessageBody {
    MessageBody::new(Role::Assistant, text)
}

fn calls(list: &str) -> MessageBody {
    MessageBody { tool_calls: Some(Json::parse(list).unwrap()), ..MessageBody::empty(Role::Assistant) }
}

/// Returns an assistant message that calls one tool for each word, which is the id.
fn call(ids: &str) -> MessageBody {
    let list: Vec<String> =
        ids.split(' ').map(|id| format!(r#"{{"id": "{id}", "function": {{"name": "ls"}}}}"#)).collect();
    calls(&format!("[{}]", list.join(", ")))
}

fn result(id: &str, text: &str) -> MessageBody {
    MessageBody { tool_call_id: Some(id.into()), ..MessageBody::new(Role::Tool, text) }
}

/// Returns a conversation as one line: texts, `!id` for a call, `id=text` for a result.
fn line(messages: &[ReplayMessage]) -> String {
    let word = |message: &ReplayMessage| {
        let text = message.content.as_ref().map(|content| content.plain_text().into_owned()).unwrap_or_default();
        if let Some(id) = &message.tool_call_id {
            return format!("{id}={}", if text == INTERRUPTED { "?" } else { &text });
        }
        let called = message.tool_calls.iter().flat_map(tool_calls).map(|call| format!("!{}", call.id.unwrap()));
        std::iter::once(text).filter(|text| !text.is_empty()).chain(called).collect::<Vec<_>>().join(" ")
    };
    messages.iter().map(word).collect::<Vec<_>>().join(" | ")
}

#[track_caller]
fn check(segments: &[&[MessageBody]], expect: &str) {
    let replayed = replay(segments.iter().map(|bodies| stored(bodies.to_vec())));
    assert_eq!(line(&replayed), expect);
    validate(&replayed).unwrap();
}

#[test]
fn a_whole_conversation_comes_back_as_it_was() {
    check(
        &[&[user(" hi\n"), call("a b"), result("a", "1"), result("b", "2"), says("done"), user("yes"), user("yes")]],
        " hi\n | !a !b | a=1 | b=2 | done | yes | yes",
    );
}

#[test]
fn a_call_that_was_interrupted_says_so() {
    check(&[&[user("go"), call("a b"), result("b", "2")]], "go | !a !b | a=? | b=2");
    check(&[&[call("a"), user("still there?")]], "!a | a=? | still there?");
    let stub = &replay([stored([call("a")])])[1];
    assert_eq!((stub.tool_name.as_deref(), &stub.content), (Some("ls"), &Some(Content::from(INTERRUPTED))));
}

#[test]
fn a_late_result_moves_up_behind_its_call() {
    check(&[&[call("a"), user("?"), says("wait"), result("a", "1"), user("ok")]], "!a | a=1 | ? | wait | ok");
    check(&[&[call("a"), call("b"), result("b", "2"), result("a", "1")]], "!a | a=1 | !b | b=2");
}

#[test]
fn only_the_first_result_of_a_call_counts() {
    check(&[&[call("a"), result("a", "1"), result("a", "2"), user("x"), result("a", "3")]], "!a | a=1 | x");
    check(&[&[result("a", "0"), call("b"), result("c", "1"), result("b", "2")]], "!b | b=2");
}

#[test]
fn an_id_that_is_used_again_starts_anew() {
    check(&[&[call("a"), result("a", "1"), call("a"), result("a", "2")]], "!a | a=1 | !a | a=2");
    check(&[&[call("a"), user("x"), call("a"), result("a", "2"), result("a", "3")]], "!a | a=? | x | !a | a=2");
}

#[test]
fn calls_without_an_id_get_one_and_their_results_in_order() {
    let nameless = |text: &str| MessageBody { tool_call_id: None, ..result("", text) };
    let both = calls(r#"[{"name": "x"}, {"id": "", "name": "y"}]"#);
    check(
        &[&[both.clone(), nameless("1"), result("", "2"), nameless("3")]],
        "!call_replayed_1 !call_replayed_2 | call_replayed_1=1 | call_replayed_2=2",
    );
    check(
        &[&[both, user("died"), calls(r#"[{"name": "z"}]"#), nameless("1"), call("call_replayed_2")]],
        "!call_replayed__1 !call_replayed__2 | call_replayed__1=? | call_replayed__2=? | died | \
         !call_replayed__3 | call_replayed__3=1 | !call_replayed_2 | call_replayed_2=?",
    );
}

#[test]
fn calls_are_brought_into_one_form() {
    check(&[&[call("a a"), result("a", "1"), result("a", "2")]], "!a | a=1");
    check(&[&[calls(r#"{"id": "a"}"#), result("a", "1")]], "!a | a=1");
    check(
        &[&[calls(r#"[{"id": 7}, "junk", {"call_id": "c"}]"#), result("7", "1"), result("c", "2")]],
        "!7 !c | 7=1 | c=2",
    );
    check(&[&[MessageBody { content: Some("x".into()), ..calls(r#"["junk"]"#) }, result("junk", "1")]], "x");
    let exact = r#"[{"id": "a", "n": 123456789012345678901234567890, "s": "\ud800"}]"#;
    assert_eq!(replay([stored([calls(exact)])])[0].tool_calls.as_ref().unwrap().as_str(), exact);
}

#[test]
fn what_is_no_talk_is_left_out() {
    let meta = MessageBody::new(Role::from_stored("session_meta"), "tools");
    let empty = MessageBody {
        content: Some("".into()),
        reasoning_content: Some("".into()),
        finish_reason: Some("stop".into()),
        ..MessageBody::empty(Role::Assistant)
    };
    let thought = MessageBody { reasoning: Some("hm".into()), ..MessageBody::empty(Role::Assistant) };
    assert_eq!(replay([stored([meta, empty, thought, user("x")])]).len(), 2);
}

#[test]
fn only_leaked_memory_is_scrubbed() {
    let leak = "<memory-context>\nlikes tea\n</memory-context>\n\n";
    let tool = result("a", &format!("{leak}kept"));
    let messages = replay([stored([user(&format!("{leak}  hi ")), call("a"), tool, says(leak)])]);
    assert_eq!(messages.len(), 3);
    assert_eq!(messages[0].content, Some("hi ".into()));
    assert_eq!(messages[2].content, Some(format!("{leak}kept").into()));
}

#[test]
fn a_continuation_does_not_repeat_what_it_copied() {
    let summary = user("[CONTEXT COMPACTION — REFERENCE ONLY] a lot");
    let first = [user("one"), says("1"), user("two"), says("2"), user("three"), says("3")];
    let second = [user("one"), says("1"), summary.clone(), user("three "), says("3"), user("four"), says("4")];
    let third = [user("one"), says("1"), user("[CONTEXT SUMMARY]: more"), user("four"), says("4"), user("five")];
    let all = "one | 1 | two | 2 | three | 3 | [CONTEXT COMPACTION — REFERENCE ONLY] a lot | four | 4 | \
               [CONTEXT SUMMARY]: more | five";
    check(&[&first, &second, &third], all);
    check(&[&first, &[], &second, &third], all);
    check(
        &[&first, &[user("one"), says("in short"), says("3"), user("x")]],
        "one | 1 | two | 2 | three | 3 | in short | x",
    );
    // The agent may have shortened a message in the head.
    let shortened = [user("one"), says("1…"), summary, says("3"), user("x")];
    check(
        &[&first, &shortened],
        "one | 1 | two | 2 | three | 3 | 1… | [CONTEXT COMPACTION — REFERENCE ONLY] a lot | x",
    );
}

#[test]
fn stored_messages_are_joined_as_they_are() {
    let root = stored([user("one"), calls("[]"), user("yes"), user("yes"), says(" end ")]);
    let tip = stored([says("end"), result("x", "answers nobody"), user("yes")]);
    let joined = without_repeats([root.clone(), Vec::new(), tip.clone()]).messages;
    let expect: Vec<Message> = root.into_iter().chain(tip.into_iter().skip(1)).collect();
    assert_eq!(joined, expect);
}

#[test]
fn a_copy_is_known_by_what_it_is_a_copy_of() {
    let mut last = 0;
    let mut numbered = |bodies: &[MessageBody]| {
        let mut messages = stored(bodies.to_vec());
        for message in &mut messages {
            last += 1;
            message.id = MessageId(last);
        }
        messages
    };
    let summary = user("[CONTEXT SUMMARY]: more");
    let chain = [
        numbered(&[user("go"), call("a"), user("go"), call("b"), user("go")]),
        numbered(&[user("go "), summary.clone(), call("b"), user("go"), call("c")]),
        numbered(&[user("go"), summary, call("b"), user("go"), call("c"), says("done")]),
    ];
    let joined = without_repeats(chain);
    let kept: Vec<i64> = joined.messages.iter().map(|message| message.id.0).collect();
    assert_eq!(kept, [1, 2, 3, 4, 5, 7, 10, 16]);
    let copies: Vec<(i64, i64)> = joined.copies.iter().map(|(copy, of)| (copy.0, of.0)).collect();
    // Repeated texts and calls are told apart by position. The original of a copy of a copy is the first one.
    assert_eq!(copies, [(6, 1), (8, 4), (9, 5), (11, 1), (12, 7), (13, 4), (14, 5), (15, 10)]);
}

#[test]
fn what_was_said_again_after_a_compression_stays() {
    let first = [user("go"), says("done"), user("go"), says("done")];
    let copy_and_more = [&first[..], &[user("go"), says("done")]].concat();
    check(&[&first, &copy_and_more], "go | done | go | done | go | done");
    let summary = says("[CONTEXT SUMMARY]: done twice");
    let again = [summary, user("why?"), says("so"), user("go"), says("done")];
    check(&[&first, &again], "go | done | go | done | [CONTEXT SUMMARY]: done twice | why? | so | go | done");
}

#[test]
fn a_result_in_the_next_session_answers_the_call_before() {
    check(
        &[&[user("go"), call("a")], &[user("go"), says("summary"), call("a"), result("a", "1")]],
        "go | !a | a=1 | summary",
    );
}

#[test]
fn keys_come_in_the_order_of_the_agent() {
    let json = |text: &str| Some(Json::parse(text).unwrap());
    let body = MessageBody {
        finish_reason: Some("tool_calls".into()),
        reasoning: Some("r".into()),
        reasoning_content: Some("".into()),
        reasoning_details: json("[1]"),
        codex_reasoning_items: json("[2]"),
        codex_message_items: json("{}"),
        tool_name: Some("".into()),
        token_count: Some(3),
        ..call("a")
    };
    let messages = replay([stored([body.clone(), result("a", "é\n"), MessageBody { role: Role::User, ..body }])]);
    let lines: Vec<String> = messages.iter().map(ReplayMessage::to_json).collect();
    assert_eq!(
        lines,
        [
            r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "a", "function": {"name": "ls"}}], "finish_reason": "tool_calls", "reasoning": "r", "reasoning_content": "", "reasoning_details": [1], "codex_reasoning_items": [2]}"#,
            r#"{"role": "tool", "content": "é\n", "tool_call_id": "a"}"#,
            r#"{"role": "user", "content": null}"#,
        ]
    );
    let parts = Content::from_json(Json::parse(r#"[{"type":"text"}]"#).unwrap());
    let shown = |content| replay([stored([MessageBody::new(Role::User, content)])])[0].to_json();
    assert_eq!(shown(parts), r#"{"role": "user", "content": [{"type": "text"}]}"#);
    assert_eq!(shown(Content::Bytes(vec![b'a', 0xff])), r#"{"role": "user", "content": "a�"}"#);
}

#[test]
fn the_checker_refuses_what_a_provider_would() {
    let good = replay([stored([call("a b"), result("a", "1"), result("b", "2"), user("x")])]);
    assert_eq!(validate(&good), Ok(()));
    let without = |at: usize| {
        let mut bad = good.clone();
        bad.remove(at);
        validate(&bad).unwrap_err().to_string()
    };
    assert!(without(0).starts_with("message 0 is a result of"));
    assert_eq!(without(2), "message 2 comes before the result of \"b\"");
    assert_eq!(validate(&good[..2]).unwrap_err().to_string(), "message 2 is missing: the result of \"b\"");
    let with = |at: usize, change: fn(&mut ReplayMessage)| {
        let mut bad = good.clone();
        change(&mut bad[at]);
        validate(&bad).unwrap_err().why
    };
    assert_eq!(with(0, |message| message.role = Role::User), "makes calls, but is not the assistant's");
    assert_eq!(with(1, |message| message.tool_call_id = None), "is a result without a call id");
    assert_eq!(with(3, |message| message.tool_call_id = Some("a".into())), "answers a call, but is not a result");
    for (calls, why) in [
        ("{}", "has no list of calls"),
        ("[]", "has no list of calls"),
        ("[1]", "has a call that is not an object"),
        (r#"[{"id": ""}]"#, "has a call without an id"),
        (r#"[{"id": "a"}, {"id": "a"}]"#, "has two calls with one id"),
    ] {
        let mut bad = good.clone();
        bad[0].tool_calls = Some(Json::parse(calls).unwrap());
        assert_eq!(validate(&bad).unwrap_err().why, why);
    }
}

fn any_body() -> impl Strategy<Value = MessageBody> {
    let role =
        prop::sample::select(vec!["user", "user", "assistant", "assistant", "tool", "tool", "system", "session_meta"]);
    let text = prop::sample::select(vec!["", "yes", " yes ", "no", "1", "[CONTEXT SUMMARY]: x"]);
    let content = prop_oneof![
        3 => text.prop_map(|text| Some(Content::from(text))),
        1 => Just(None),
        1 => prop::sample::select(vec!["[]", r#"[{"type": "text", "text": "p"}]"#, "null", r#""\ud800""#])
            .prop_map(|json| Some(Content::from_json(Json::parse(json).unwrap()))),
    ];
    let one_call = prop::sample::select(vec![
        r#"{"id": "a"}"#,
        r#"{"id": "b", "function": {"name": "f"}}"#,
        r#"{"id": ""}"#,
        r#"{"name": "n"}"#,
        r#"{"id": 1}"#,
        r#"{"id": "call_replayed_1"}"#,
        "{}",
        "7",
        "null",
        r#"["a"]"#,
    ]);
    let calls = prop_oneof![
        2 => Just(None),
        3 => prop::collection::vec(one_call, 0..4).prop_map(|calls| Some(format!("[{}]", calls.join(", ")))),
        1 => prop::sample::select(vec![r#"{"id": "a"}"#, "\"a\"", "{}", "null"]).prop_map(|calls| Some(calls.to_owned())),
    ];
    let id = prop::sample::select(vec![None, Some(""), Some("a"), Some("b"), Some("1"), Some("call_replayed_1")]);
    (role, content, calls, id, prop::option::of(".{0,2}")).prop_map(|(role, content, calls, id, reasoning)| {
        MessageBody {
            content,
            tool_calls: calls.map(|calls| Json::parse(&calls).unwrap()),
            tool_call_id: id.map(str::to_owned),
            reasoning,
            ..MessageBody::empty(Role::from_stored(role))
        }
    })
}

fn user_texts<'a>(contents: impl Iterator<Item = (&'a Role, &'a Option<Content>)>) -> Vec<String> {
    contents
        .filter(|(role, _)| **role == Role::User)
        .map(|(_, content)| content.as_ref().map(|content| content.plain_text().into_owned()).unwrap_or_default())
        .collect()
}

fn as_stored(message: ReplayMessage) -> MessageBody {
    MessageBody {
        content: message.content,
        tool_call_id: message.tool_call_id,
        tool_name: message.tool_name,
        tool_calls: message.tool_calls,
        reasoning: message.reasoning,
        ..MessageBody::empty(message.role)
    }
}

proptest! {
    #[test]
    fn anything_stored_replays_to_a_valid_conversation(bodies in prop::collection::vec(any_body(), 0..14)) {
        let replayed = replay([stored(bodies.clone())]);
        prop_assert_eq!(validate(&replayed), Ok(()));
        let said = user_texts(bodies.iter().map(|body| (&body.role, &body.content)));
        let kept = user_texts(replayed.iter().map(|message| (&message.role, &message.content)));
        prop_assert_eq!(said, kept, "what the person said, in order");
        let again = replay([stored(replayed.iter().cloned().map(as_stored))]);
        prop_assert_eq!(again, replayed, "a replay has nothing left to put right");
    }

    #[test]
    fn a_chain_replays_whole(segments in prop::collection::vec(prop::collection::vec(any_body(), 0..8), 0..4)) {
        let replayed = replay(segments.iter().cloned().map(stored));
        prop_assert_eq!(validate(&replayed), Ok(()));
        let kept = user_texts(replayed.iter().map(|message| (&message.role, &message.content)));
        for body in segments.iter().flatten().filter(|body| body.role == Role::User) {
            let text = body.plain_text();
            let is_kept = text.is_empty() || kept.iter().any(|kept| kept.trim() == text.trim());
            prop_assert!(is_kept, "{text:?} is lost");
        }
    }

    /// A compression as the agent does it is undone, at any two cuts.
    #[test]
    fn a_compressed_chain_reads_like_one_session(
        before in prop::collection::vec(any_body(), 1..10),
        after in prop::collection::vec(any_body(), 0..5),
        cuts in (0..10_usize, 0..10_usize),
    ) {
        let summary = user("[CONTEXT COMPACTION — REFERENCE ONLY] …");
        let is_talk = |body: &MessageBody| ReplayMessage::from_stored(body.clone()).is_some();
        let before: Vec<MessageBody> = before.into_iter().filter(is_talk).collect();
        let head = cuts.0.min(before.len());
        let tail = (head + cuts.1).min(before.len());
        let after: Vec<MessageBody> = [vec![user("new")], after].concat();
        let child = [&before[..head], std::slice::from_ref(&summary), &before[tail..], &after].concat();
        let one = [before.clone(), vec![summary], after].concat();
        prop_assert_eq!(replay([stored(before), stored(child)]), replay([stored(one)]));
    }
}
