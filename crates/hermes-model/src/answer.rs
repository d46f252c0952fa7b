//! Answers of a model.

use crate::{Call, Tokens};
use hermes_session::{Json, MessageBody, Role};
use serde_json::json;

/// A complete answer, or one that the user interrupted.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text; empty if the model only calls tools.
    pub text: String,
    /// The reasoning as plain text.
    pub reasoning: Option<String>,
    /// The text of `reasoning_content`, if the server sends that field. Some want it back even if it is empty.
    pub reasoning_content: Option<String>,
    /// Reasoning blocks that the server wants back.
    pub reasoning_details: Option<Json>,
    /// Tool calls, each with an id of its own. Arguments may be invalid JSON, as the model wrote them.
    pub calls: Vec<Call>,
    /// Reason why the model stopped.
    pub finish: Finish,
    /// Number of tokens, if the server reports it.
    pub tokens: Option<Tokens>,
    /// The model that answered, by the name that the server gives it.
    pub model: Option<String>,
}

impl Answer {
    /// Returns whether the answer has neither text nor calls.
    pub fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.calls.is_empty()
    }

    /// Returns the answer as a message for the store.
    pub fn into_message(self) -> MessageBody {
        let calls = self.calls.iter().map(|call| {
            let function = json!({"name": call.name, "arguments": call.arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        let calls: Vec<_> = calls.collect();
        MessageBody {
            content: (!self.text.is_empty()).then(|| self.text.into()),
            tool_calls: (!calls.is_empty()).then(|| Json::from_value(&calls.into())),
            finish_reason: Some(self.finish.as_str().to_owned()),
            reasoning: self.reasoning.filter(|text| !text.is_empty()),
            reasoning_content: self.reasoning_content,
            reasoning_details: self.reasoning_details,
            token_count: self.tokens.map(|tokens| i64::try_from(tokens.output).unwrap_or(i64::MAX)),
            ..MessageBody::empty(Role::Assistant)
        }
    }
}

/// Reason why a model stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finish {
    /// It had said everything.
    Stop,
    /// It calls tools.
    ToolCalls,
    /// It reached the maximum length.
    Length,
    /// The provider withheld the rest.
    Filtered,
    /// The user interrupted it.
    Interrupted,
    /// Another reason, as the server gives it.
    Other(String),
}

impl Finish {
    /// Converts the reason that a server gives.
    pub fn from_wire(text: &str) -> Self {
        match text {
            "stop" | "end_turn" | "eos" | "stop_sequence" => Self::Stop,
            "tool_calls" | "function_call" | "tool_use" => Self::ToolCalls,
            "length" | "max_tokens" | "model_length" => Self::Length,
            "content_filter" => Self::Filtered,
            // A NUL could not be stored.
            other => Self::Other(other.replace('\0', "")),
        }
    }

    /// Returns the reason as stored.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::ToolCalls => "tool_calls",
            Self::Length => "length",
            Self::Filtered => "content_filter",
            Self::Interrupted => "interrupted",
            Self::Other(text) => text,
        }
    }
}

/// A piece of an answer as it arrives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Piece<'a> {
    /// Text for the user.
    Text(&'a str),
    /// Reasoning.
    Reasoning(&'a str),
    /// The start of a call of the tool with this name.
    Call(&'a str),
}
