//! Messages, with every field that the agent stores.

use crate::{Content, Extra, Invalid, Json, MessageId, MessageState, SessionId, Timestamp};
use std::fmt;

/// Role of a message. The store accepts any text; the four known roles have names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
    /// Instructions.
    System,
    /// Any other role, such as `session_meta`.
    Other(String),
}

impl Role {
    /// Parses a role. Rejects an empty one and one with a NUL.
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || text.contains('\0') {
            return Err(Invalid::new("role", "is empty or holds a NUL", "use user, assistant, tool or system"));
        }
        Ok(Self::from_stored(text))
    }

    /// Converts a stored role.
    pub fn from_stored(text: &str) -> Self {
        match text {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            "tool" => Self::Tool,
            "system" => Self::System,
            other => Self::Other(other.to_owned()),
        }
    }

    /// Returns the role as stored.
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

/// Content of a message, without its position in the store.
#[derive(Debug, Clone, PartialEq)]
pub struct MessageBody {
    /// Role.
    pub role: Role,
    /// Content; `None` when an assistant only calls tools.
    pub content: Option<Content>,
    /// In a tool result: id of the call it answers.
    pub tool_call_id: Option<String>,
    /// Tool calls of an assistant message, as the provider gave them.
    pub tool_calls: Option<Json>,
    /// In a tool result: name of the tool.
    pub tool_name: Option<String>,
    /// Number of tokens, if known.
    pub token_count: Option<i64>,
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

impl MessageBody {
    /// Creates a message of `role` with `content`.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        Self { content: Some(content.into()), ..Self::empty(role) }
    }

    /// Creates a message of `role` without content.
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

    /// Returns the number of tool calls in this message, which its session's counter is increased by.
    pub fn tool_call_count(&self) -> i64 {
        self.tool_calls.as_ref().map_or(0, |calls| calls.element_count() as i64)
    }

    /// Returns the content as a person would read it; empty if there is none.
    pub fn plain_text(&self) -> std::borrow::Cow<'_, str> {
        self.content.as_ref().map_or_else(Default::default, Content::plain_text)
    }
}

/// A message to be appended.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    /// Its content and role.
    pub body: MessageBody,
    /// Time of the message; `None` for the time of the request.
    pub timestamp: Option<Timestamp>,
}

impl NewMessage {
    /// Creates a message with the time of the request that appends it.
    pub fn new(role: Role, content: impl Into<Content>) -> Self {
        MessageBody::new(role, content).into()
    }

    /// Sets the time of the message.
    #[must_use]
    pub fn said_at(self, timestamp: Timestamp) -> Self {
        Self { timestamp: Some(timestamp), ..self }
    }

    /// Returns the message in the canonical form in which it is stored and read back.
    ///
    /// Providers call this first. Empty lists and objects in the JSON fields become `None`; content gets its canonical
    /// form.
    ///
    /// # Errors
    /// If the role is empty, the content is bytes that are not text, or the role, `tool_call_id`, `tool_name` or
    /// `finish_reason` holds a NUL, which a server could not store. (Content may hold one.)
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
            return Err(Invalid::new("content", "is bytes that are not UTF-8 text", "send text, or a JSON value"));
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
    /// Returns all messages of a batch in their stored form, or the first reason why one of them is invalid.
    pub fn checked_all(messages: &[Self]) -> Result<Vec<Self>, Invalid> {
        messages.iter().cloned().map(Self::checked).collect()
    }
}

impl From<MessageBody> for NewMessage {
    fn from(body: MessageBody) -> Self {
        Self { body, timestamp: None }
    }
}

/// A stored value that is not valid for its column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The column, by its name in the table.
    pub column: &'static str,
    /// Reason.
    pub why: String,
    /// The stored value, so that nothing is lost.
    pub raw: Vec<u8>,
}

/// A message as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Its id in this store. Within a session, ids define the order.
    pub id: MessageId,
    /// The session it belongs to.
    pub session_id: SessionId,
    /// Time of the message.
    pub timestamp: Timestamp,
    /// Its content and role.
    pub body: MessageBody,
    /// Whether it is replayed, found by search, or only kept.
    pub state: MessageState,
    /// Columns of newer agents that are not modelled.
    pub extra: Extra,
    /// Columns that could not be read. Empty unless a foreign writer or damage left invalid values.
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
        assert_eq!(error.to_string(), "content is bytes that are not UTF-8 text");
    }
}
