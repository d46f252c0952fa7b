use super::*;
use crate::answer::{Answer, Finish, Piece};
use crate::{
    AssistantMessage, Call, ErrorKind, LengthField, ModelError, Part, Quirks, Reasoning, Request, ReturnedReasoning,
    ToolSpec, WireMessage,
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Reads a body in pieces of `size` bytes. Returns the answer and the text that was passed on.
fn read(body: &[u8], size: usize) -> (Result<Answer, ModelError>, String) {
    let mut passed = String::new();
    let mut on_piece = |piece: Piece<'_>| match piece {
        Piece::Text(text) => passed.push_str(text),
        Piece::Reasoning(text) => passed.push_str(&format!("({text})")),
        Piece::Call(name) => passed.push_str(&format!("[{name}]")),
    };
    let mut decoder = Decoder::default();
    let outcome = body.chunks(size).try_for_each(|piece| decoder.push(piece, &mut on_piece));
    let answer = outcome.and_then(|()| decoder.finish(&mut on_piece));
    (answer, passed)
}

fn events(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect()
}

fn delta(delta: Value) -> Value {
    json!({"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn stop(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

#[track_caller]
fn kind(body: &str) -> ErrorKind {
    read(body.as_bytes(), 7).0.unwrap_err().kind
}

#[test]
fn a_stream_is_read_in_any_pieces() {
    let stream = format!(
        ": waiting\n\n{}data: [DONE]\n\ndata: after\n\n",
        events(&[
            delta(json!({"role": "assistant", "content": ""})),
            delta(json!({"content": "Hé"})),
            delta(json!({"content": "llo 大", "tool_calls": null})),
            json!({"choices": [{"index": 1, "delta": {"content": "other"}, "finish_reason": "length"}]}),
            stop("stop"),
            json!({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 2}}),
        ])
    );
    for size in [1, 2, 5, 64, 10_000] {
        let (answer, passed) = read(stream.as_bytes(), size);
        let answer = answer.unwrap();
        assert_eq!((answer.text.as_str(), passed.as_str(), &answer.finish), ("Héllo 大", "Héllo 大", &Finish::Stop));
        assert_eq!(answer.tokens.map(|tokens| (tokens.input, tokens.output)), Some((9, 2)));
        assert_eq!(answer.model.as_deref(), Some("m"));
    }
}

#[test]
fn an_answer_that_is_not_streamed_is_read_as_well() {
    let whole = json!({"id": "x", "choices": [
        {"index": 0, "message": {"content": "<think>why</think>Hi", "tool_calls": [{"id": "a", "function": {"name": "ls", "arguments": "{}"}}]}, "finish_reason": "tool_calls"},
        {"index": 1, "message": {"content": "no"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 1}});
    let (answer, passed) = read(format!("\n{whole}").as_bytes(), 9);
    let answer = answer.unwrap();
    assert_eq!((answer.text.as_str(), answer.reasoning.as_deref()), ("Hi", Some("why")));
    assert_eq!((answer.calls.len(), answer.finish), (1, Finish::ToolCalls));
    assert_eq!(passed, "(why)Hi[ls]");
}

#[test]
fn the_end_may_come_in_several_ways() {
    let hi = || delta(json!({"content": "hi"}));
    for stream in [
        format!("{}data: [DONE]\n\n", events(&[hi()])),
        events(&[hi(), stop("stop")]),
        format!("data: {}\n\ndata: {}", hi(), stop("stop")),
    ] {
        assert_eq!(read(stream.as_bytes(), 8).0.unwrap().text, "hi", "{stream}");
    }
    // Nothing after the stop makes a complete answer void.
    for rest in ["data: {\"choices\": [], \"usa", "data: {\"error\": \"x\"}\n\n", "data: garbage\n\ndata: [DONE]\n\n"] {
        let stream = format!("{}{rest}", events(&[hi(), stop("stop")]));
        assert_eq!(read(stream.as_bytes(), 8).0.unwrap().text, "hi", "{rest}");
    }
    assert_eq!(kind(&events(&[hi()])), ErrorKind::CutStream);
    assert_eq!(kind(""), ErrorKind::CutStream);
    assert_eq!(kind("\n \n"), ErrorKind::CutStream);
    assert_eq!(kind("{\"choices\": [{\"mess"), ErrorKind::CutStream);
}

#[test]
fn reasoning_is_read_from_every_field_and_only_once() {
    for (chunks, reasoning, has_content, has_details) in [
        (vec![json!({"reasoning_content": "a"}), json!({"reasoning_content": "b"})], Some("ab"), true, false),
        (vec![json!({"reasoning": "a", "reasoning_content": "a"})], Some("a"), true, false),
        (
            vec![json!({"reasoning": "a", "reasoning_details": [{"type": "reasoning.text", "text": "a", "index": 0}]})],
            Some("a"),
            false,
            true,
        ),
        (vec![json!({"reasoning_details": [{"type": "reasoning.summary", "summary": "s"}]})], Some("s"), false, true),
        (vec![json!({"content": "<thi"}), json!({"content": "nk>a</think>"})], Some("a"), false, false),
        (
            vec![json!({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}]})],
            Some("a"),
            false,
            false,
        ),
        (vec![json!({"reasoning_content": ""})], None, true, false),
    ] {
        let deltas = chunks.iter().cloned().chain([json!({"content": "hi"})]).map(delta).chain([stop("stop")]);
        let answer = read(events(&deltas.collect::<Vec<_>>()).as_bytes(), 11).0.unwrap();
        assert_eq!((answer.text.as_str(), answer.reasoning.as_deref()), ("hi", reasoning), "{chunks:?}");
        assert_eq!(
            (answer.reasoning_content.is_some(), answer.reasoning_details.is_some()),
            (has_content, has_details)
        );
    }
}

#[test]
fn errors_inside_an_answer_are_found() {
    let hi = events(&[delta(json!({"content": "hi"}))]);
    for (body, expect) in [
        (format!("{hi}data: {{\"error\": {{\"message\": \"x\", \"code\": 429}}}}\n\n"), ErrorKind::RateLimited),
        (
            format!("{hi}event: error\ndata: {{\"message\": \"busy\", \"type\": \"overloaded_error\"}}\n\n"),
            ErrorKind::Overloaded,
        ),
        (format!("{hi}event: error\ndata: plain words\n\n"), ErrorKind::ServerFault),
        (format!("{hi}data: {{\"choices\": [{{\"del\n\n"), ErrorKind::GarbledStream),
        (format!("{hi}data: garbage\n\n"), ErrorKind::GarbledStream),
        ("{\"error\": {\"message\": \"no\", \"code\": \"invalid_api_key\"}}".into(), ErrorKind::WrongKey),
        (
            "{\"object\": \"error\", \"message\": \"This model's maximum context length is 5\"}".into(),
            ErrorKind::ContextTooLong { window: Some(5) },
        ),
        ("{\"models\": []}".into(), ErrorKind::GarbledStream),
        (events(&[delta(json!({"content": "hi"})), stop("error")]), ErrorKind::ServerFault),
        (
            events(&[
                json!({"choices": [{"delta": {}, "error": {"code": 429, "message": "x"}, "finish_reason": "error"}]}),
            ]),
            ErrorKind::RateLimited,
        ),
        ("<!DOCTYPE html><title>Log in</title>".into(), ErrorKind::WebPage),
        ("\u{feff}\n<html>".into(), ErrorKind::WebPage),
    ] {
        assert_eq!(kind(&body), expect, "{body}");
    }
}

#[test]
fn half_calls_of_a_cut_answer_are_dropped() {
    let call = |arguments: &str| {
        delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "ls", "arguments": arguments}}]}))
    };
    let read = |chunks: &[Value]| read(events(chunks).as_bytes(), 9).0.unwrap();
    assert_eq!(read(&[call("{\"pa"), stop("length")]).calls, []);
    let invalid = read(&[call("{\"pa"), stop("tool_calls")]);
    assert_eq!(invalid.calls[0].arguments, "{\"pa", "a call that the model ended is its call, however wrong");
    let mut decoder = Decoder::default();
    let chunks = events(&[delta(json!({"content": "I will"})), call("{}"), call("{\"x")]);
    decoder.push(chunks.as_bytes(), &mut |_| {}).unwrap();
    let answer = decoder.interrupted(&mut |_| {});
    assert_eq!((answer.text.as_str(), answer.finish.as_str(), answer.calls.len()), ("I will", "interrupted", 0));
}

#[test]
fn an_answer_becomes_a_stored_message() {
    let chunks = [
        delta(json!({"reasoning_content": "why", "content": "Hi"})),
        delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "ls", "arguments": "{\"x\": 1}"}}]})),
        stop("tool_calls"),
        json!({"usage": {"prompt_tokens": 1, "completion_tokens": 7}}),
    ];
    let body = read(events(&chunks).as_bytes(), 100).0.unwrap().into_message();
    assert_eq!(
        (body.plain_text().as_ref(), body.finish_reason.as_deref(), body.token_count),
        ("Hi", Some("tool_calls"), Some(7))
    );
    assert_eq!((body.reasoning.as_deref(), body.reasoning_content.as_deref()), (Some("why"), Some("why")));
    assert_eq!(
        body.tool_calls.unwrap().as_str(),
        r#"[{"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{\"x\": 1}"}}]"#
    );
}

#[test]
fn large_answers_take_linear_time() {
    let started = Instant::now();
    let large = "x".repeat(10 << 20);
    let one_delta = events(&[delta(json!({"content": large})), stop("stop")]);
    assert_eq!(read(one_delta.as_bytes(), 1400).0.unwrap().text.len(), large.len());
    let in_arguments =
        delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "w", "arguments": large}}]}));
    assert_eq!(read(events(&[in_arguments, stop("stop")]).as_bytes(), 1400).0.unwrap().calls.len(), 1);
    // Quadratic time would be minutes.
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}

proptest! {
    #[test]
    fn hostile_bytes_are_no_danger(bytes in proptest::collection::vec(any::<u8>(), 0..200), size in 1_usize..20) {
        let _ = read(&bytes, size);
        let framed = [b"data: {\"choices\": [{\"delta\": {\"content\": \"".as_slice(), &bytes, b"\"}}]}\n\n"].concat();
        let _ = read(&framed, size);
    }

    #[test]
    fn odd_json_is_no_danger(chunk in odd_chunk(), size in 1_usize..40) {
        let body = format!("data: {chunk}\n\ndata: [DONE]\n\n");
        let (streamed, _) = read(body.as_bytes(), size);
        if let Ok(answer) = streamed {
            prop_assert!(answer.calls.iter().all(|call| !call.id.is_empty() && !call.name.is_empty()));
        }
        let _ = read(chunk.to_string().as_bytes(), size);
    }
}

/// A chunk in which any field may have any type.
fn odd_chunk() -> impl Strategy<Value = Value> {
    let leaf = || {
        prop_oneof![
            Just(Value::Null),
            Just(json!(1)),
            Just(json!(-1.5)),
            ".{0,9}".prop_map(Value::from),
            Just(json!([])),
            Just(json!({}))
        ]
    };
    let function = (leaf(), leaf()).prop_map(|(name, arguments)| json!({"name": name, "arguments": arguments}));
    let call = (leaf(), leaf(), prop_oneof![function, leaf()])
        .prop_map(|(index, id, function)| json!({"index": index, "id": id, "function": function}));
    let calls = prop_oneof![proptest::collection::vec(prop_oneof![call, leaf()], 0..4).prop_map(Value::from), leaf()];
    let delta = (leaf(), leaf(), leaf(), calls).prop_map(|(content, reasoning, details, calls)| {
        json!({"content": content, "reasoning": reasoning, "reasoning_details": [details], "tool_calls": calls})
    });
    let choice = (prop_oneof![delta, leaf()], leaf())
        .prop_map(|(delta, reason)| json!({"delta": delta, "finish_reason": reason}));
    (prop_oneof![choice, leaf()], leaf(), leaf())
        .prop_map(|(choice, usage, id)| json!({"id": id, "choices": [choice], "usage": usage}))
}

#[test]
fn requests_have_the_fields_of_the_protocol() {
    let call = Call { id: "a".into(), name: "ls".into(), arguments: "{}".into() };
    let reasoning = Reasoning { text: Some("why".into()), details: None };
    let image = crate::Image { url: "https://a/b.png".into(), detail: Some("low".into()) };
    let mut request = Request::new([
        WireMessage::System("be brief".into()),
        WireMessage::User(vec![Part::Text("look".into()), Part::Image(image)]),
        WireMessage::Assistant(AssistantMessage { text: String::new(), calls: vec![call], reasoning }),
        WireMessage::result("a", "file.txt"),
    ]);
    request.tools =
        vec![ToolSpec { name: "ls".into(), description: "List".into(), parameters: json!({"type": "object"}) }];
    request.max_tokens = Some(100);
    request.extra.insert("top_p".into(), json!(0.5));
    let quirks = Quirks { reasoning: ReturnedReasoning::Content, ..Quirks::default() };
    let sent: Value = serde_json::from_str(&body("m", &request, &quirks)).unwrap();
    assert_eq!(
        sent,
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "be brief"},
                {"role": "user", "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": "https://a/b.png", "detail": "low"}}]},
                {"role": "assistant", "content": null, "reasoning_content": "why", "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "a", "content": "file.txt"}],
            "tools": [{"type": "function", "function": {"name": "ls", "description": "List", "parameters": {"type": "object"}}}],
            "stream": true,
            "stream_options": {"include_usage": true},
            "max_tokens": 100,
            "top_p": 0.5,
        })
    );
    request.is_streamed = false;
    request.extra.insert("max_completion_tokens".into(), json!(7));
    let quirks = Quirks { length_field: LengthField::MaxCompletionTokens, ..Quirks::default() };
    let sent: Value = serde_json::from_str(&body("m", &request, &quirks)).unwrap();
    assert_eq!(
        (&sent["stream"], sent.get("stream_options"), &sent["max_completion_tokens"]),
        (&json!(false), None, &json!(7))
    );
    assert_eq!(sent["messages"][2].get("reasoning_content"), None);
}
