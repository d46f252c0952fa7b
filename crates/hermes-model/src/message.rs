//! Messages in the form that a model accepts. Only fields that go over the wire exist here.

mod stored;
#[cfg(test)]
mod tests;

pub(crate) use stored::is_image_url;

use hermes_session::Json;

/// One message of a request, or of a conversation that becomes one.
///
/// [`conform`](crate::conform) takes any list of these and returns a list that every provider accepts.
#[derive(Debug, Clone, PartialEq)]
pub enum WireMessage {
    /// Instructions.
    System(String),
    /// Parts of a message of the user.
    User(Vec<Part>),
    /// A message of the model.
    Assistant(AssistantMessage),
    /// The result of a tool call.
    Result(CallResult),
}

impl WireMessage {
    /// Returns a message of the user that is plain text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Part::Text(text.into())])
    }

    /// Returns a message of the model that is plain text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(AssistantMessage { text: text.into(), ..AssistantMessage::default() })
    }

    /// Returns the result of the call `call_id`.
    pub fn result(call_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Result(CallResult { call_id: call_id.into(), text: text.into() })
    }
}

/// A part of a message of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text.
    Text(String),
    /// An image.
    Image(Image),
}

/// An image, by its address or as a `data:` URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The URL.
    pub url: String,
    /// Resolution at which the model looks at it: `low`, `high` or `auto`.
    pub detail: Option<String>,
}

/// A message of the model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssistantMessage {
    /// The text; empty if the model only calls tools.
    pub text: String,
    /// The tool calls.
    pub calls: Vec<Call>,
    /// The reasoning, in each form that a provider may require back.
    pub reasoning: Reasoning,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The id that its result refers to.
    pub id: String,
    /// The name of the tool.
    pub name: String,
    /// The arguments as the model wrote them. Not necessarily valid JSON.
    pub arguments: String,
}

/// Reasoning of a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reasoning {
    /// The text, which may be empty: some providers require the field even then.
    pub text: Option<String>,
    /// Blocks with signatures.
    pub details: Option<Json>,
}

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallResult {
    /// Id of the call.
    pub call_id: String,
    /// The text.
    pub text: String,
}
