//! Reasons why a model did not answer, and whether another attempt may help.

mod server;
#[cfg(test)]
mod tests;

pub(crate) use server::{RawAnswer, from_answer, from_value, looks_like_error, retry_after};

use crate::Key;
use hermes_session::redact::{Counts, masked};
use std::fmt;
use std::time::Duration;

/// Longest message of a server that is passed on, in characters.
const MAX_MESSAGE: usize = 500;

/// Reason why a model did not answer. Holds no key.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelError {
    /// Kind of the failure.
    pub kind: ErrorKind,
    /// Message of the server or the network, in one line; empty if there is none.
    pub message: String,
    /// Status of the HTTP answer, if there was one.
    pub status: Option<u16>,
    /// Pause that the server asks for.
    pub retry_after: Option<Duration>,
}

/// Kind of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The key is missing or not accepted.
    WrongKey,
    /// The account has no credit left.
    NoCredit,
    /// The key may not do this.
    Forbidden,
    /// The server has no such model.
    UnknownModel,
    /// The address is not that of a model server.
    NotFound,
    /// The conversation is longer than the model's context.
    ContextTooLong {
        /// The context in tokens, if the server says it.
        window: Option<u64>,
    },
    /// Too many requests.
    RateLimited,
    /// The server is busy.
    Overloaded,
    /// The server failed.
    ServerFault,
    /// The server rejects the request.
    BadRequest,
    /// A web page came instead of an answer: a proxy, a login, a wrong address.
    WebPage,
    /// The answer ended in the middle.
    CutStream,
    /// The answer is not in the format of the protocol.
    GarbledStream,
    /// There is no connection to the server.
    Network(NetworkFault),
    /// The user interrupted the request before there was an answer.
    Interrupted,
}

/// Reason why there is no connection to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkFault {
    /// The host name is not known.
    Dns,
    /// Nothing listens there.
    Refused,
    /// There is no way to the server.
    Unreachable,
    /// The connection was not established in time.
    ConnectTimeout,
    /// The encryption failed, or the certificate is not trusted.
    Tls,
    /// The server was silent for too long.
    IdleTimeout,
    /// The connection broke.
    Broken,
}

impl ErrorKind {
    /// Returns whether the same request may succeed a little later.
    pub const fn may_pass(self) -> bool {
        match self {
            Self::RateLimited
            | Self::Overloaded
            | Self::ServerFault
            | Self::WebPage
            | Self::CutStream
            | Self::GarbledStream => true,
            // A certificate stays as it is.
            Self::Network(fault) => !matches!(fault, NetworkFault::Tls),
            Self::WrongKey
            | Self::NoCredit
            | Self::Forbidden
            | Self::UnknownModel
            | Self::NotFound
            | Self::ContextTooLong { .. }
            | Self::BadRequest
            | Self::Interrupted => false,
        }
    }

    const fn text(self) -> &'static str {
        match self {
            Self::WrongKey => "the API key was not accepted",
            Self::NoCredit => "the account has no credit left",
            Self::Forbidden => "the API key is not allowed to do this",
            Self::UnknownModel => "the server does not have this model",
            Self::NotFound => "there is no model server at this address",
            Self::ContextTooLong { .. } => "the conversation is longer than the model's context",
            Self::RateLimited => "too many requests",
            Self::Overloaded => "the model server is overloaded",
            Self::ServerFault => "the model server failed",
            Self::BadRequest => "the model server rejected the request",
            Self::WebPage => "a web page came instead of an answer",
            Self::CutStream => "the answer was cut off",
            Self::GarbledStream => "the answer is not in the expected format",
            Self::Network(fault) => fault.text(),
            Self::Interrupted => "interrupted",
        }
    }
}

impl NetworkFault {
    const fn text(self) -> &'static str {
        match self {
            Self::Dns => "the model server's host name is unknown",
            Self::Refused => "the model server refused the connection",
            Self::Unreachable => "the model server cannot be reached",
            Self::ConnectTimeout => "no connection to the model server in time",
            Self::Tls => "no encrypted connection to the model server",
            Self::IdleTimeout => "the model server was silent for too long",
            Self::Broken => "the connection to the model server broke",
        }
    }
}

impl ModelError {
    /// Returns an error of our own making, or of the network.
    pub fn new(kind: ErrorKind, message: impl AsRef<str>) -> Self {
        Self { kind, message: one_line(message.as_ref()), status: None, retry_after: None }
    }

    /// Returns the error without the key and other secrets that the server quoted.
    #[must_use]
    pub(crate) fn redacted(mut self, key: Option<&Key>) -> Self {
        if let Some(key) = key {
            self.message = key.masked(&self.message);
        }
        self.message = masked(&self.message, &mut Counts::default()).into_owned();
        if self.message.chars().count() > MAX_MESSAGE {
            self.message = self.message.chars().take(MAX_MESSAGE).chain(['…']).collect();
        }
        self
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.text())?;
        if let Some(status) = self.status.filter(|status| *status != 200) {
            write!(f, " (status {status})")?;
        }
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for ModelError {}

impl From<crate::chat::TooLong> for ModelError {
    fn from(error: crate::chat::TooLong) -> Self {
        Self::new(ErrorKind::GarbledStream, error.to_string())
    }
}

/// Returns a text as one line without control characters. Far longer than what is shown, because secrets are masked
/// before it is shortened.
fn one_line(text: &str) -> String {
    let visible: String = text
        .chars()
        .map(|character| if character.is_control() { ' ' } else { character })
        .take(MAX_MESSAGE * 8)
        .collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}
