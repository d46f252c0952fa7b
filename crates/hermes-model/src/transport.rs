//! How requests reach a model.

mod http;
mod scripted;

pub use http::{HttpTransport, Timeouts};
pub use scripted::Scripted;

use crate::{ErrorKind, Key, ModelError, NetworkFault, Url};
use async_trait::async_trait;
use bytes::Bytes;
use std::fmt;

/// A way to a model server.
///
/// Dropping a future or a body ends the request: a server that streams learns it from the closed connection.
#[async_trait]
pub trait Transport: Send + Sync {
    /// Sends a request. Returns when the head of the answer has arrived, whatever its status.
    ///
    /// # Errors
    /// [`ErrorKind::Network`]. No error contains the key.
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, ModelError>;
}

/// A request.
#[derive(Clone)]
pub struct HttpRequest {
    /// The resource.
    pub url: Url,
    /// The JSON to be posted; `None` for a GET.
    pub body: Option<Bytes>,
    /// The key. It is sent to its own origin alone.
    pub key: Option<Key>,
    /// Further headers, which are sent to the origin of `url` alone.
    pub headers: Vec<(String, String)>,
}

impl fmt::Debug for HttpRequest {
    /// Prints neither the conversation nor headers, any of which may be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpRequest").field("url", &self.url).field("key", &self.key).finish_non_exhaustive()
    }
}

/// The head of an answer, and its body as it arrives.
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    /// Headers; names in small letters.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Box<dyn ResponseBody>,
}

impl HttpResponse {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The body of an answer.
#[async_trait]
pub trait ResponseBody: Send {
    /// Returns the next bytes; `None` at the end.
    ///
    /// # Errors
    /// [`ErrorKind::CutStream`] if the connection broke, or [`NetworkFault::IdleTimeout`].
    async fn next(&mut self) -> Result<Option<Bytes>, ModelError>;

    /// Ends the answer after the server said that nothing more comes. A transport may wait a moment for the end of the
    /// body, so that its connection can be used again.
    async fn end(&mut self) {}
}

/// Returns the error of a network.
fn network(fault: NetworkFault, message: impl AsRef<str>) -> ModelError {
    ModelError::new(ErrorKind::Network(fault), message)
}
