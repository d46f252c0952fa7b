//! Replay: turns a stored transcript into a conversation that any provider accepts.
//!
//! A process may die between a call and its result, a writer may store a result twice, and a compressed session starts
//! with copies of the end of its parent. The replay corrects this; the store is not changed.

mod overlap;
mod pairing;
mod validate;

pub use pairing::INTERRUPTED;
pub use validate::{Unplayable, validate};

use crate::json::ObjectWriter;
use crate::{
    Content, ConversationStore, Json, Message, MessageBody, MessageId, MessageRequest, Role, SessionId, StoreError,
};
use crate::{scrub, tool_calls::has_call};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The role of rows that only the gateway reads.
const SESSION_META: &str = "session_meta";

/// Messages per page.
const PAGE: u32 = 1000;

/// A message in the form that is sent to a provider again.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayMessage {
    /// Role.
    pub role: Role,
    /// Content.
    pub content: Option<Content>,
    /// In a tool result: id of the call it answers.
    pub tool_call_id: Option<String>,
    /// In a tool result: name of the tool.
    pub tool_name: Option<String>,
    /// Tool calls of an assistant message: a list, each with an id of its own.
    pub tool_calls: Option<Json>,
    /// Reason why the model stopped.
    pub finish_reason: Option<String>,
    /// Reasoning as plain text.
    pub reasoning: Option<String>,
    /// Reasoning field that some providers require back, even when it is empty.
    pub reasoning_content: Option<String>,
    /// Reasoning blocks that some providers require back.
    pub reasoning_details: Option<Json>,
    /// Reasoning items of the responses wire format.
    pub codex_reasoning_items: Option<Json>,
    /// Message items of the responses wire format.
    pub codex_message_items: Option<Json>,
}

impl ReplayMessage {
    /// Converts a stored message for a provider. Returns `None` if it is not part of the dialogue or is empty.
    ///
    /// Memory blocks that leaked into messages of the user or the model are removed; nothing else is trimmed.
    fn from_stored(body: MessageBody) -> Option<Self> {
        let is_assistant = body.role == Role::Assistant;
        let is_result = body.role == Role::Tool;
        let of_assistant = |text: Option<String>| text.filter(|_| is_assistant);
        let json_of_assistant = |json: Option<Json>| json.filter(|json| is_assistant && !json.is_falsy());
        let content = match body.content {
            Some(Content::Text(text)) if is_assistant || body.role == Role::User => {
                Some(Content::Text(match scrub::without_memory_blocks(&text) {
                    Cow::Borrowed(_) => text,
                    Cow::Owned(scrubbed) => scrubbed,
                }))
            }
            // Providers reject a result without content.
            None if is_result => Some(Content::from("")),
            content => content,
        };
        let message = Self {
            content,
            tool_call_id: not_empty(body.tool_call_id).filter(|_| is_result),
            tool_name: not_empty(body.tool_name),
            tool_calls: body.tool_calls.filter(|calls| is_assistant && has_call(calls)),
            finish_reason: of_assistant(not_empty(body.finish_reason)),
            reasoning: of_assistant(not_empty(body.reasoning)),
            reasoning_content: of_assistant(body.reasoning_content),
            reasoning_details: json_of_assistant(body.reasoning_details),
            codex_reasoning_items: json_of_assistant(body.codex_reasoning_items),
            codex_message_items: json_of_assistant(body.codex_message_items),
            role: body.role,
        };
        let is_talk = message.role.as_str() != SESSION_META && !(is_assistant && message.says_nothing());
        is_talk.then_some(message)
    }

    fn says_nothing(&self) -> bool {
        self.content.as_ref().is_none_or(Content::is_empty)
            && self.tool_calls.is_none()
            && self.reasoning.is_none()
            && self.reasoning_content.as_ref().is_none_or(String::is_empty)
            && self.reasoning_details.is_none()
            && self.codex_reasoning_items.is_none()
            && self.codex_message_items.is_none()
    }

    /// Returns the message as a JSON object, keys in the agent's order. Missing values have no key.
    pub fn to_json(&self) -> String {
        let mut object = ObjectWriter::new();
        object.text("role", Some(self.role.as_str()));
        match &self.content {
            Some(Content::Json(json)) => object.json("content", Some(json)),
            content => object.text("content", content.as_ref().map(Content::plain_text).as_deref()),
        };
        let text = |object: &mut ObjectWriter, key: &str, value: &Option<String>| {
            if value.is_some() {
                object.text(key, value.as_deref());
            }
        };
        let json = |object: &mut ObjectWriter, key: &str, value: &Option<Json>| {
            if value.is_some() {
                object.json(key, value.as_ref());
            }
        };
        text(&mut object, "tool_call_id", &self.tool_call_id);
        text(&mut object, "tool_name", &self.tool_name);
        json(&mut object, "tool_calls", &self.tool_calls);
        text(&mut object, "finish_reason", &self.finish_reason);
        text(&mut object, "reasoning", &self.reasoning);
        text(&mut object, "reasoning_content", &self.reasoning_content);
        json(&mut object, "reasoning_details", &self.reasoning_details);
        json(&mut object, "codex_reasoning_items", &self.codex_reasoning_items);
        json(&mut object, "codex_message_items", &self.codex_message_items);
        object.finish()
    }
}

fn not_empty(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.is_empty())
}

/// Extent of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scope {
    /// Messages of the session alone.
    #[default]
    ThisSession,
    /// Also messages of the sessions whose contexts were compressed into it, oldest first.
    ///
    /// A branch has a copy of its parent's messages, and a delegate was given what it needs: neither includes its
    /// parent.
    WholeConversation,
}

/// Replays the messages of one session, or of a chain of sessions each of which continues the one before.
///
/// * Copies that a session starts with (of the start and end of the previous context) appear once, at their original
///   place. Repetitions within one session stay.
/// * Every call is answered exactly once, directly after it: by its result, however late that came, or by
///   [`INTERRUPTED`]. Results that answer no call, or one that is answered already, are dropped.
/// * Empty assistant messages and `session_meta` rows are dropped.
pub fn replay(segments: impl IntoIterator<Item = Vec<Message>>) -> Vec<ReplayMessage> {
    let talk = |messages: Vec<Message>| -> Vec<ReplayMessage> {
        messages.into_iter().filter_map(|message| ReplayMessage::from_stored(message.body)).collect()
    };
    pairing::pair(overlap::join(segments.into_iter().map(talk)))
}

/// The messages of a chain of sessions as one list.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Joined {
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// Messages that were left out, each with the message of the list that it is a copy of.
    pub copies: BTreeMap<MessageId, MessageId>,
}

/// Returns the stored messages of a chain of sessions each of which continues the one before, without the copies that a
/// session has of the one before.
pub fn without_repeats(segments: impl IntoIterator<Item = Vec<Message>>) -> Joined {
    overlap::join_stored(segments.into_iter())
}

/// Reads a session, optionally with all sessions compressed into it, and replays it.
///
/// # Errors
/// [`StoreError::NotFound`] if there is no such session.
pub async fn load(
    store: &dyn ConversationStore,
    id: &SessionId,
    scope: Scope,
) -> Result<Vec<ReplayMessage>, StoreError> {
    let mut ids = match scope {
        Scope::ThisSession => Vec::new(),
        Scope::WholeConversation => store.lineage(id).await?.compressed_into(id),
    };
    ids.push(id.clone());
    let mut segments = Vec::with_capacity(ids.len());
    for id in &ids {
        segments.push(transcript(store, id).await?);
    }
    Ok(replay(segments))
}

/// Reads every message of a session, oldest first.
///
/// # Errors
/// [`StoreError::NotFound`] if there is no such session.
pub async fn transcript(store: &dyn ConversationStore, id: &SessionId) -> Result<Vec<Message>, StoreError> {
    let mut messages = store.messages(id, &MessageRequest::first(PAGE)).await?;
    let mut is_last = messages.len() < PAGE as usize;
    while let (false, Some(last)) = (is_last, messages.last()) {
        let page = store.messages(id, &MessageRequest::after(last.id, PAGE)).await?;
        is_last = page.len() < PAGE as usize;
        messages.extend(page);
    }
    Ok(messages)
}

#[cfg(test)]
mod tests;
