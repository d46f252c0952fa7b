//! Pairs every tool call with exactly one result.

use super::ReplayMessage;
use crate::tool_calls::{ToolCall, are_all_calls, tool_calls};
use crate::{Content, Json, Role};
use memchr::memmem::Finder;
use std::collections::BTreeMap;

/// Replaces the result of a call that never got one.
pub const INTERRUPTED: &str = "[No result: the session was interrupted before this tool call finished.]";

/// Returns the messages with every call answered exactly once, directly after the message that makes it.
///
/// An id can be reused. A result belongs to the last call with its id before it.
pub(super) fn pair(messages: Vec<ReplayMessage>) -> Vec<ReplayMessage> {
    let mut ids = FreshIds::new(&messages);
    let mut turns: Vec<Turn> = Vec::with_capacity(messages.len());
    let mut called: BTreeMap<String, usize> = BTreeMap::new();
    let mut called_without_id: Option<usize> = None;
    for message in messages {
        if message.role == Role::Tool {
            let turn = message.tool_call_id.as_ref().map_or(called_without_id, |id| called.get(id).copied());
            if let Some(call) = turn.and_then(|turn| turns[turn].open_call(message.tool_call_id.as_deref())) {
                call.result = Some(message);
            }
            continue;
        }
        let turn = Turn::new(message, &mut ids);
        for call in &turn.calls {
            if call.is_named {
                called.insert(call.id.clone(), turns.len());
            } else {
                called_without_id = Some(turns.len());
            }
        }
        turns.push(turn);
    }
    turns.into_iter().flat_map(Turn::into_messages).collect()
}

/// A message and the calls it makes.
struct Turn {
    message: ReplayMessage,
    calls: Vec<Call>,
}

struct Call {
    id: String,
    /// Whether the id was given by the writer.
    is_named: bool,
    tool: Option<String>,
    result: Option<ReplayMessage>,
}

impl Turn {
    /// Normalises the calls of a message: each gets an id, and of two with the same id the first stays.
    fn new(message: ReplayMessage, ids: &mut FreshIds) -> Self {
        let Some(stored) = &message.tool_calls else { return Self { message, calls: Vec::new() } };
        let (mut calls, mut texts): (Vec<Call>, Vec<String>) = (Vec::new(), Vec::new());
        let found = tool_calls(stored);
        let mut is_settled = are_all_calls(stored, &found);
        for call in found {
            let ToolCall { id, name: tool, .. } = call.clone();
            let is_named = id.is_some();
            let id = id.unwrap_or_else(|| ids.next());
            if calls.iter().any(|other| other.id == id) {
                is_settled = false;
                continue;
            }
            texts.push(if call.is_settled { call.text().to_owned() } else { call.with_id(&id) });
            is_settled &= call.is_settled;
            calls.push(Call { id, is_named, tool, result: None });
        }
        if is_settled {
            return Self { message, calls };
        }
        let list = Json::parse(&format!("[{}]", texts.join(", "))).expect("a list of JSON objects is JSON");
        Self { message: ReplayMessage { tool_calls: Some(list), ..message }, calls }
    }

    /// Returns the call that a result with this id answers; `None` if there is none or it is answered already.
    fn open_call(&mut self, id: Option<&str>) -> Option<&mut Call> {
        let is_meant = |call: &&mut Call| match id {
            Some(id) => call.is_named && call.id == id,
            None => !call.is_named,
        };
        self.calls.iter_mut().filter(is_meant).find(|call| call.result.is_none())
    }

    fn into_messages(self) -> impl Iterator<Item = ReplayMessage> {
        std::iter::once(self.message).chain(self.calls.into_iter().map(Call::into_result))
    }
}

impl Call {
    fn into_result(self) -> ReplayMessage {
        let stub = || ReplayMessage {
            role: Role::Tool,
            content: Some(Content::from(INTERRUPTED)),
            tool_call_id: None,
            tool_name: self.tool,
            tool_calls: None,
            finish_reason: None,
            reasoning: None,
            reasoning_content: None,
            reasoning_details: None,
            codex_reasoning_items: None,
            codex_message_items: None,
        };
        ReplayMessage { tool_call_id: Some(self.id), ..self.result.unwrap_or_else(stub) }
    }
}

/// Generates ids for calls that have none. They are the same in each replay of a transcript, so that providers' caches
/// still match.
struct FreshIds {
    prefix: String,
    last: usize,
}

impl FreshIds {
    /// Finds a prefix that occurs in no id of the transcript.
    fn new(messages: &[ReplayMessage]) -> Self {
        let mut prefix = "call_replayed_".to_owned();
        let stands_in = |message: &ReplayMessage, prefix: &Finder<'_>| {
            let has = |text: &str| prefix.find(text.as_bytes()).is_some();
            message.tool_calls.as_ref().is_some_and(|calls| has(calls.as_str()))
                || message.tool_call_id.as_deref().is_some_and(has)
        };
        loop {
            let finder = Finder::new(&prefix);
            if !messages.iter().any(|message| stands_in(message, &finder)) {
                break;
            }
            prefix.push('_');
        }
        Self { prefix, last: 0 }
    }

    fn next(&mut self) -> String {
        self.last += 1;
        format!("{}{}", self.prefix, self.last)
    }
}
