//! Replies as bytes of chat-completions.

use super::{Habits, ReasoningField, Reply, ReplyBody, Step};
use crate::Tokens;
use serde_json::{Value, json};
use std::time::Duration;

/// The facts of a request that its answer depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The model.
    pub model: String,
    /// Whether a stream is wanted.
    pub is_streamed: bool,
    /// Whether the usage is wanted at the end of the stream.
    pub wants_usage: bool,
    /// Length of the request in bytes.
    pub length: usize,
}

impl Asked {
    /// Reads the body of a request.
    pub fn from_body(body: &str) -> Self {
        let value: Value = serde_json::from_str(body).unwrap_or_default();
        Self {
            model: value["model"].as_str().unwrap_or_default().to_owned(),
            is_streamed: value["stream"].as_bool().unwrap_or_default(),
            wants_usage: value["stream_options"]["include_usage"].as_bool().unwrap_or_default(),
            length: body.len(),
        }
    }
}

/// A reply as it goes over a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The status.
    pub status: u16,
    /// Headers; names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub pieces: Vec<Sent>,
}

/// A piece of a body, or an event between two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// Bytes.
    Bytes(Vec<u8>),
    /// A pause.
    Pause(Duration),
    /// The end of the connection in the middle of the body.
    Cut,
}

impl Rendered {
    pub(super) fn whole(status: u16, content_type: &str, bytes: Vec<u8>) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        Self { status, headers, pieces: vec![Sent::Bytes(bytes)] }
    }
}

/// Renders a reply to a request.
pub fn render(reply: &Reply, asked: &Asked) -> Rendered {
    let mut rendered = match &reply.body {
        ReplyBody::Bytes { content_type, bytes } => Rendered::whole(reply.status, content_type, bytes.clone()),
        ReplyBody::Answer(steps) if asked.is_streamed && reply.habits.streams => {
            let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
            Rendered { status: reply.status, headers, pieces: stream(steps, &reply.habits, asked) }
        }
        ReplyBody::Answer(steps) => {
            let body = whole(steps, &reply.habits, asked).to_string();
            Rendered::whole(reply.status, "application/json", body.into_bytes())
        }
    };
    rendered.headers.extend(reply.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())));
    rendered.pieces = delivered(rendered.pieces, reply);
    rendered
}

/// Returns the events of a stream.
fn stream(steps: &[Step], habits: &Habits, asked: &Asked) -> Vec<Sent> {
    let id = format!("chatcmpl-{}", asked.length);
    let chunk = |choices: Value| {
        let object = "chat.completion.chunk";
        json!({"id": id, "object": object, "created": 0, "model": asked.model, "choices": choices})
    };
    let choice = |delta: Value, finish: Option<&str>| {
        chunk(json!([{"index": 0, "delta": delta, "finish_reason": finish}])).to_string()
    };
    let mut events = vec![choice(json!({"role": "assistant", "content": ""}), None)];
    let mut pieces = Vec::new();
    let mut index = 0;
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Pause(pause) => {
                pieces.extend(events.drain(..).map(|event| framed(&event, habits)));
                pieces.push(Sent::Pause(*pause));
            }
            Step::Event(data) => events.push(data.clone()),
            Step::Call(call) => {
                for delta in call_deltas(call, index, habits) {
                    events.push(choice(json!({"tool_calls": [delta]}), None));
                }
                index += 1;
            }
            Step::Text(text) => events.extend(words(text).map(|word| choice(json!({"content": word}), None))),
            Step::Reasoning(text) if habits.reasoning == ReasoningField::Tags => {
                let (open, close) = tags(steps, at);
                let tagged = format!("{open}{text}{close}");
                events.extend(words(&tagged).map(|word| choice(json!({"content": word}), None)));
            }
            Step::Reasoning(text) => {
                let field = reasoning_field(habits);
                events.extend(words(text).map(|word| choice(json!({field: word}), None)));
            }
        }
    }
    if habits.says_finish {
        events.push(choice(json!({}), Some(&finish(steps, habits))));
    }
    if habits.reports_usage && asked.wants_usage {
        let mut last = chunk(json!([]));
        last["usage"] = usage(&tokens(steps, habits, asked));
        events.push(last.to_string());
    }
    if habits.says_done {
        events.push("[DONE]".to_owned());
    }
    pieces.extend(events.iter().map(|event| framed(event, habits)));
    pieces
}

fn framed(event: &str, habits: &Habits) -> Sent {
    let end = if habits.has_crlf { "\r\n" } else { "\n" };
    let comment = if habits.has_comments { format!(": processing{end}{end}") } else { String::new() };
    Sent::Bytes(format!("{comment}data: {event}{end}{end}").into_bytes())
}

/// Returns an answer as one object.
fn whole(steps: &[Step], habits: &Habits, asked: &Asked) -> Value {
    let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
    for (at, step) in steps.iter().enumerate() {
        match step {
            Step::Text(said) => text.push_str(said),
            Step::Reasoning(said) if habits.reasoning == ReasoningField::Tags => {
                let (open, close) = tags(steps, at);
                text.extend([open, said.as_str(), close]);
            }
            Step::Reasoning(said) => reasoning.push_str(said),
            Step::Call(call) => {
                let mut wire =
                    json!({"type": "function", "function": {"name": call.name, "arguments": call.arguments}});
                if !call.id.is_empty() {
                    wire["id"] = call.id.as_str().into();
                }
                calls.push(wire);
            }
            Step::Pause(_) | Step::Event(_) => {}
        }
    }
    let mut message = json!({"role": "assistant", "content": text});
    if !reasoning.is_empty() {
        message[reasoning_field(habits)] = reasoning.into();
    }
    if !calls.is_empty() {
        message["tool_calls"] = calls.into();
    }
    let finish = habits.says_finish.then(|| finish(steps, habits));
    let mut answer = json!({
        "id": format!("chatcmpl-{}", asked.length), "object": "chat.completion", "created": 0, "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    });
    if habits.reports_usage {
        answer["usage"] = usage(&tokens(steps, habits, asked));
    }
    answer
}

fn call_deltas(call: &crate::Call, index: usize, habits: &Habits) -> Vec<Value> {
    let mut first = json!({"type": "function", "function": {"name": call.name, "arguments": ""}});
    if !call.id.is_empty() {
        first["id"] = call.id.as_str().into();
    }
    let characters: Vec<char> = call.arguments.chars().collect();
    let pieces = characters.chunks(habits.argument_piece.max(1));
    let pieces = pieces.map(|piece| json!({"function": {"arguments": piece.iter().collect::<String>()}}));
    let mut deltas: Vec<Value> = std::iter::once(first).chain(pieces).collect();
    if habits.has_index {
        for delta in &mut deltas {
            delta["index"] = index.into();
        }
    }
    deltas
}

const fn reasoning_field(habits: &Habits) -> &'static str {
    match habits.reasoning {
        ReasoningField::Reasoning => "reasoning",
        ReasoningField::ReasoningContent | ReasoningField::Tags => "reasoning_content",
    }
}

/// Returns the tags around the reasoning step at this place: neighbouring steps share theirs.
fn tags(steps: &[Step], at: usize) -> (&'static str, &'static str) {
    let is_reasoning = |at: Option<usize>| matches!(at.and_then(|at| steps.get(at)), Some(Step::Reasoning(_)));
    let open = if is_reasoning(at.checked_sub(1)) { "" } else { "<think>" };
    let close = if is_reasoning(at.checked_add(1)) { "" } else { "</think>\n\n" };
    (open, close)
}

fn finish(steps: &[Step], habits: &Habits) -> String {
    let calls = steps.iter().any(|step| matches!(step, Step::Call(_)));
    habits.finish.clone().unwrap_or_else(|| if calls { "tool_calls" } else { "stop" }.to_owned())
}

/// Makes up numbers: about four characters are a token.
fn tokens(steps: &[Step], habits: &Habits, asked: &Asked) -> Tokens {
    let length = |step: &Step| match step {
        Step::Text(text) | Step::Reasoning(text) => text.len(),
        Step::Call(call) => call.name.len() + call.arguments.len(),
        Step::Pause(_) | Step::Event(_) => 0,
    };
    let answer: usize = steps.iter().map(length).sum();
    let count = |length: usize| (length / 4 + 1) as u64;
    habits.tokens.unwrap_or(Tokens { input: count(asked.length), output: count(answer), ..Tokens::default() })
}

fn usage(tokens: &Tokens) -> Value {
    let mut usage = json!({
        "prompt_tokens": tokens.prompt(), "completion_tokens": tokens.output,
        "total_tokens": tokens.prompt() + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read, "cache_write_tokens": tokens.cache_write},
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    });
    if let Some(cost) = tokens.billed {
        usage["cost"] = cost.into();
    }
    usage
}

/// Splits a text into words, each with the white space behind it.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(char::is_whitespace)
}

/// Applies the delivery to the pieces.
fn delivered(pieces: Vec<Sent>, reply: &Reply) -> Vec<Sent> {
    let delivery = &reply.delivery;
    let mut sent = Vec::with_capacity(pieces.len());
    let mut room = delivery.cut_at.unwrap_or(usize::MAX);
    for piece in resized(pieces, delivery.piece) {
        let Sent::Bytes(mut bytes) = piece else {
            sent.push(piece);
            continue;
        };
        if !delivery.pause.is_zero() {
            sent.push(Sent::Pause(delivery.pause));
        }
        bytes.truncate(room);
        room -= bytes.len();
        if !bytes.is_empty() {
            sent.push(Sent::Bytes(bytes));
        }
        if room == 0 {
            break;
        }
    }
    if delivery.cut_at.is_some() {
        sent.push(Sent::Cut);
    }
    sent
}

/// Joins and splits neighbouring bytes so that each piece has the size.
fn resized(pieces: Vec<Sent>, size: Option<usize>) -> Vec<Sent> {
    let Some(size) = size else { return pieces };
    let (mut resized, mut run) = (Vec::new(), Vec::new());
    let flush = |run: &mut Vec<u8>, resized: &mut Vec<Sent>| {
        resized.extend(run.chunks(size.max(1)).map(|chunk| Sent::Bytes(chunk.to_vec())));
        run.clear();
    };
    for piece in pieces {
        match piece {
            Sent::Bytes(bytes) => run.extend(bytes),
            other => {
                flush(&mut run, &mut resized);
                resized.push(other);
            }
        }
    }
    flush(&mut run, &mut resized);
    resized
}
