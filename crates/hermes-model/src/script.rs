//! Scripts: what a model says, as data. Rendered in the bytes of the true protocol, with the faults of true servers.

mod render;
#[cfg(test)]
mod tests;

pub use render::{Asked, Rendered, Sent, render};

use crate::{Call, Tokens};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::time::Duration;

/// The replies of a model, in order.
#[derive(Debug, Clone, Default)]
pub struct Script {
    replies: VecDeque<Reply>,
    models: Option<Value>,
}

impl Script {
    /// Returns a script of these replies, one for each request.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self { replies: replies.into_iter().collect(), models: None }
    }

    /// Sets the answer to `/models`. Without it there is one model, `scripted`.
    #[must_use]
    pub fn with_models(mut self, models: Value) -> Self {
        self.models = Some(models);
        self
    }

    /// Adds a reply at the end.
    pub fn push(&mut self, reply: Reply) {
        self.replies.push_back(reply);
    }

    /// Takes the first reply that is meant for a request, or one for every request. Without one it is an error.
    pub fn next(&mut self, body: &str) -> Reply {
        let is_meant = |reply: &Reply| reply.when.as_ref().is_none_or(|when| body.contains(when.as_str()));
        let Some(place) = self.replies.iter().position(is_meant) else {
            return Reply::error(500, "the script has ended");
        };
        match &self.replies[place] {
            reply if reply.is_repeated => reply.clone(),
            _ => self.replies.remove(place).unwrap_or_else(|| Reply::error(500, "the script has ended")),
        }
    }

    /// Returns the answer to `/models`.
    pub fn models(&self) -> Rendered {
        let usual =
            || json!({"object": "list", "data": [{"id": "scripted", "object": "model", "context_length": 200_000}]});
        let models = self.models.clone().unwrap_or_else(usual);
        Rendered::whole(200, "application/json", models.to_string().into_bytes())
    }
}

/// One reply.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Text that a request must contain for this reply; `None` for any request.
    pub when: Option<String>,
    /// Whether the reply stays for further requests.
    pub is_repeated: bool,
    /// The status.
    pub status: u16,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: ReplyBody,
    /// Habits of the server.
    pub habits: Habits,
    /// How the bytes arrive.
    pub delivery: Delivery,
}

/// The body of a reply.
#[derive(Debug, Clone)]
pub enum ReplyBody {
    /// An answer of the model.
    Answer(Vec<Step>),
    /// Anything else.
    Bytes {
        /// Its content type.
        content_type: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

/// A step of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Text, which is streamed word by word.
    Text(String),
    /// Reasoning, which is streamed word by word.
    Reasoning(String),
    /// A tool call. An empty id is left out.
    Call(Call),
    /// A pause.
    Pause(Duration),
    /// The data of one event, as it is. Only in a stream.
    Event(String),
}

/// Habits in which servers differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Habits {
    /// Whether it streams when it is asked to.
    pub streams: bool,
    /// Reason why the model stopped; `None` for the usual one.
    pub finish: Option<String>,
    /// Whether it says why the model stopped.
    pub says_finish: bool,
    /// Whether a stream ends with `[DONE]`.
    pub says_done: bool,
    /// The usage; `None` for numbers made up from the lengths.
    pub tokens: Option<Tokens>,
    /// Whether it reports usage.
    pub reports_usage: bool,
    /// Field of the reasoning.
    pub reasoning: ReasoningField,
    /// Length of the pieces in which arguments are streamed, in characters.
    pub argument_piece: usize,
    /// Whether pieces of calls have an index.
    pub has_index: bool,
    /// Whether it sends comments between events.
    pub has_comments: bool,
    /// Whether lines end with CRLF.
    pub has_crlf: bool,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            streams: true,
            finish: None,
            says_finish: true,
            says_done: true,
            tokens: None,
            reports_usage: true,
            reasoning: ReasoningField::ReasoningContent,
            argument_piece: 12,
            has_index: true,
            has_comments: false,
            has_crlf: false,
        }
    }
}

/// Place in which a server sends reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningField {
    /// `reasoning_content`
    ReasoningContent,
    /// `reasoning`
    Reasoning,
    /// Between `<think>` tags in the text.
    Tags,
}

/// How the bytes of a reply arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delivery {
    /// Size of the pieces in bytes; `None` for one piece per event.
    pub piece: Option<usize>,
    /// Pause before each piece.
    pub pause: Duration,
    /// Number of bytes after which the connection is cut.
    pub cut_at: Option<usize>,
}

impl Reply {
    /// Returns a reply of one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::answer([Step::Text(text.into())])
    }

    /// Returns a reply of these steps.
    pub fn answer(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::of(200, ReplyBody::Answer(steps.into_iter().collect()))
    }

    /// Returns a reply that calls one tool.
    pub fn call(id: impl Into<String>, name: impl Into<String>, arguments: &Value) -> Self {
        let call = Call { id: id.into(), name: name.into(), arguments: arguments.to_string() };
        Self::answer([Step::Call(call)])
    }

    /// Returns an error in the form of OpenAI.
    pub fn error(status: u16, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": "error", "code": Value::Null}});
        Self::bytes(status, "application/json", body.to_string())
    }

    /// Returns a web page.
    pub fn page(status: u16, title: &str) -> Self {
        Self::bytes(status, "text/html", format!("<!doctype html>\n<html><head><title>{title}</title></head></html>"))
    }

    /// Returns any bytes.
    pub fn bytes(status: u16, content_type: &str, bytes: impl Into<Vec<u8>>) -> Self {
        Self::of(status, ReplyBody::Bytes { content_type: content_type.to_owned(), bytes: bytes.into() })
    }

    fn of(status: u16, body: ReplyBody) -> Self {
        Self {
            when: None,
            is_repeated: false,
            status,
            headers: Vec::new(),
            body,
            habits: Habits::default(),
            delivery: Delivery::default(),
        }
    }

    /// Limits the reply to requests that contain a text.
    #[must_use]
    pub fn when(self, text: impl Into<String>) -> Self {
        Self { when: Some(text.into()), ..self }
    }

    /// Keeps the reply for further requests.
    #[must_use]
    pub fn repeated(self) -> Self {
        Self { is_repeated: true, ..self }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the habits of the server.
    #[must_use]
    pub fn habits(self, habits: Habits) -> Self {
        Self { habits, ..self }
    }

    /// Sets the size of the pieces, in bytes.
    #[must_use]
    pub fn in_pieces(mut self, size: usize) -> Self {
        self.delivery.piece = Some(size);
        self
    }

    /// Sets the pause before each piece.
    #[must_use]
    pub fn paced(mut self, pause: Duration) -> Self {
        self.delivery.pause = pause;
        self
    }

    /// Cuts the connection after this many bytes of the body.
    #[must_use]
    pub fn cut_at(mut self, bytes: usize) -> Self {
        self.delivery.cut_at = Some(bytes);
        self
    }
}
