//! Messages: what was said, by whom, with every field the agent keeps.

use crate::{Content, Extra, Invalid, Json, MessageId, MessageState, SessionId, Timestamp};
use std::fmt;

/// Who speaks. Free text to the store; the four that mean something have names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
    /// Instructions.
    System,
    /// Whatever else a writer calls it, such as `session_meta`.
    Other(String),
}

impl Role {
    /// Takes a role; an empty one, and one with a NUL, are refused.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || text.contains('\0') {
            return Err(Invalid::new("role", "is empty or holds a NUL", "use user, assistant, tool or system"));
        }
        Ok(Self::from_stored(text))
    }

    /// Takes a role as a store holds it.
    pub fn from_stored(text: &str) -> Self {
        match text {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool" => Self::Tool,
            "system" => Self::System,
            other => Self::Other(other.to_owned()),
        }
    }

    /// The role as it is stored.
    pub fn as_str(&self) -> &str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
            Self::Other(text) => text,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a message carries, apart from its place in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageBody {
    /// Who speaks.
    pub role: Role,
    /// What is said; nothing when an assistant only calls tools.
    pub content: Option<Content>,
    /// In a tool's result: the call it answers.
    pub tool_call_id: Option<String>,
    /// The calls an assistant makes, as the provider gave them.
    pub tool_calls: Option<Json>,
    /// In a tool's result: the tool.
    pub tool_name: Option<String>,
    /// The tokens of this message, where known.
    pub token_count: Option<i64>,
    /// Why the model stopped.
    pub finish_reason: Option<String>,
    /// The reasoning as plain text.
    pub reasoning: Option<String>,
    /// The reasoning field some providers want back, also when it is empty.
    pub reasoning_content: Option<String>,
    /// Reasoning blocks some providers want back.
    pub reasoning_details: Option<Json>,
    /// Reasoning items of the responses wire format.
    pub codex_reasoning_items: Option<Json>,
    /// Message items of the responses wire format.
    pub codex_message_items: Option<Json>,
}

impl MessageBody {
    /// A message of `role` that says `content`.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Self { content: Some(content.into()), ..Self::empty(role) }
    }

    /// A message of `role` without anything in it.
    pub fn empty(role: Role) -> Self {
        Self {
            role,
            content: None,
            tool_call_id: None,
            tool_calls: None,
            tool_name: None,
            token_count: None,
            finish_reason: None,
            reasoning: None,
            reasoning_content: None,
            reasoning_details: None,
            codex_reasoning_items: None,
            codex_message_items: None,
        }
    }

    /// How much this message adds to its session's tool call counter: the calls it carries.
    pub fn tool_call_count(&self) -> i64 {
        self.tool_calls.as_ref().map_or(0, |calls| calls.element_count() as i64)
    }

    /// The content as a person would read it; empty if there is none.
    pub fn plain_text(&self) -> std::borrow::Cow<'_, str> {
        self.content.as_ref().map_or_else(Default::default, Content::plain_text)
    }
}

/// A message to be appended.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    /// What it carries.
    pub body: MessageBody,
    /// When it was said; the time of the request if not given.
    pub timestamp: Option<Timestamp>,
}

impl NewMessage {
    /// A message said at the time of the request that appends it.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        MessageBody::new(role, content).into()
    }

    /// The same message, said at `timestamp`.
    #[must_use]
    pub fn said_at(self, timestamp: Timestamp) -> Self {
        Self { timestamp: Some(timestamp), ..self }
    }

    /// The message in the one form in which it is stored and read back.
    ///
    /// Providers call this first. Empty lists and maps in the JSON fields are nothing; content has its one form.
    ///
    /// # Errors
    /// If the role is empty, the content is bytes that are no text, or a field holds a NUL where a
    /// server could not keep it. (Content may hold one.)
    pub fn checked(self) -> Result<Self, Invalid> {
        let body = self.body;
        Role::parse(body.role.as_str())?;
        let short = [
            ("tool_call_id", &body.tool_call_id),
            ("tool_name", &body.tool_name),
            ("finish_reason", &body.finish_reason),
        ];
        for (what, text) in short {
            if text.as_ref().is_some_and(|text| text.contains('\0')) {
                return Err(Invalid::new(what, "holds a NUL character", "leave it out"));
            }
        }
        let content = body.content.map(Content::normalized);
        if matches!(content, Some(Content::Bytes(_))) {
            return Err(Invalid::new("content", "is bytes that are no text", "send text, or a JSON value"));
        }
        let telling = |json: Option<Json>| json.filter(|json| !json.is_falsy());
        let body = MessageBody {
            content,
            tool_calls: telling(body.tool_calls),
            reasoning_details: telling(body.reasoning_details),
            codex_reasoning_items: telling(body.codex_reasoning_items),
            codex_message_items: telling(body.codex_message_items),
            ..body
        };
        Ok(Self { body, timestamp: self.timestamp })
    }
}

impl NewMessage {
    /// All messages of a batch in their stored form, or the first reason why one of them can't be taken.
    pub fn checked_all(messages: &[Self]) -> Result<Vec<Self>, Invalid> {
        messages.iter().cloned().map(Self::checked).collect()
    }
}

impl From<MessageBody> for NewMessage {
    fn from(body: MessageBody) -> Self {
        Self { body, timestamp: None }
    }
}

/// A stored value that could not be read as what its column should hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The column, by its name in the table.
    pub column: &'static str,
    /// What is wrong with it.
    pub why: String,
    /// The value as it is stored, so that nothing is lost.
    pub raw: Vec<u8>,
}

/// A message as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its id in this store; within a session, ids tell the order.
    pub id: MessageId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// When it was said.
    pub timestamp: Timestamp,
    /// What it carries.
    pub body: MessageBody,
    /// Whether it is replayed, found by search, or only kept.
    pub state: MessageState,
    /// Columns of newer agents that are not modelled.
    pub extra: Extra,
    /// Columns that could not be read; empty unless a foreign writer or damage left something.
    pub faults: Vec<Fault>,
}

impl Message {
    /// Returns an active message without further columns.
    pub fn new(id: MessageId, session_id: SessionId, timestamp: Timestamp, body: MessageBody) -> Self {
        let (state, extra, faults) = (MessageState::Active, Extra::new(), Vec::new());
        Self { id, session_id, timestamp, body, state, extra, faults }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_empty_is_not_counted() {
        let mut body = MessageBody::empty(Role::Assistant);
        for (calls, count) in
            [("[]", 0), ("{}", 0), ("\"\"", 0), (r#"[{"id": "a"}, {"id": "b"}]"#, 2), (r#"{"id": "a"}"#, 1)]
        {
            body.tool_calls = Some(Json::parse(calls).unwrap());
            let checked = NewMessage::from(body.clone()).checked().unwrap();
            assert_eq!(checked.body.tool_call_count(), count, "{calls}");
            assert_eq!(checked.body.tool_calls.is_some(), count > 0, "{calls}");
        }
    }

    #[test]
    fn roles_are_free_but_not_empty() {
        assert_eq!(Role::parse("session_meta").unwrap().as_str(), "session_meta");
        assert!(Role::parse("").is_err());
        assert!(NewMessage::new(Role::Other(String::new()), "x").checked().is_err());
    }

    #[test]
    fn bytes_are_refused_before_they_are_written() {
        let error = NewMessage::new(Role::User, Content::Bytes(vec![0xff])).checked().unwrap_err();
        assert_eq!(error.to_string(), "content is bytes that are no text");
    }
}
