//! Requests, independent of the protocol.

use crate::WireMessage;
use serde_json::{Map, Value};

/// A request to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The conversation. [`Model`](crate::Model) conforms it.
    pub messages: Vec<WireMessage>,
    /// Tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether the answer is wanted piece by piece.
    pub is_streamed: bool,
    /// Maximum number of tokens of the answer; `None` leaves it to the server.
    pub max_tokens: Option<u32>,
    /// Temperature; `None` leaves it to the server.
    pub temperature: Option<f64>,
    /// Further fields for the server, from settings.
    pub extra: Map<String, Value>,
}

impl Request {
    /// Returns a streamed request without tools.
    pub fn new(messages: impl IntoIterator<Item = impl Into<WireMessage>>) -> Self {
        Self {
            messages: messages.into_iter().map(Into::into).collect(),
            tools: Vec::new(),
            is_streamed: true,
            max_tokens: None,
            temperature: None,
            extra: Map::new(),
        }
    }
}

/// Description of a tool for the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name: letters, digits, `_` and `-`, at most 64.
    pub name: String,
    /// Its purpose.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}
