//! HTTP/1.1 over TCP or TLS.

mod connect;
mod pool;

use super::{HttpRequest, HttpResponse, ResponseBody, Transport, network};
use crate::{ErrorKind, ModelError, NetworkFault, Origin, Url};
use async_trait::async_trait;
use bytes::Bytes;
use connect::Connector;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, LOCATION, USER_AGENT};
use hyper::{Method, Request, Response};
use pool::{Pool, Sender};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Maximum number of redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// How long the end of a body is waited for after the answer is complete. It usually comes in the same packet.
const END_GRACE: Duration = Duration::from_millis(50);

/// How long the steps of a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection is established and encrypted.
    pub connect: Duration,
    /// Until the head of the answer has arrived. Local servers send it after they have read the whole prompt.
    pub answer: Duration,
    /// Between two pieces of the body.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), answer: Duration::from_secs(600), idle: Duration::from_secs(180) }
    }
}

/// The transport over the network. A connection is kept for the next request to the same origin.
#[derive(Debug, Default)]
pub struct HttpTransport {
    timeouts: Timeouts,
    connector: Connector,
    pool: Arc<Pool>,
}

impl HttpTransport {
    /// Returns a transport with these timeouts. Trusts the certificates that the system trusts.
    pub fn new(timeouts: Timeouts) -> Self {
        Self { timeouts, ..Self::default() }
    }

    /// Sends a request to `url`, over a kept connection if there is one.
    async fn exchange(&self, url: &Url, request: &HttpRequest) -> Result<(Response<Incoming>, Sender), ModelError> {
        let message = message(url, request)?;
        if let Some(mut sender) = self.pool.take(&url.origin) {
            match timeout(self.timeouts.answer, sender.try_send_request(message.clone())).await {
                Err(_) => return Err(silent(self.timeouts.answer)),
                Ok(Ok(response)) => return Ok((response, sender)),
                // The server closed the connection before the request was sent.
                Ok(Err(error)) if error.message().is_some() => {}
                Ok(Err(error)) => return Err(broken(&error.into_error())),
            }
        }
        let mut sender = self.connector.connect(&url.origin, self.timeouts.connect).await?;
        match timeout(self.timeouts.answer, sender.send_request(message)).await {
            Err(_) => Err(silent(self.timeouts.answer)),
            Ok(Ok(response)) => Ok((response, sender)),
            Ok(Err(error)) => Err(broken(&error)),
        }
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, ModelError> {
        let mut url = request.url.clone();
        for _ in 0..=MAX_REDIRECTS {
            let (response, sender) = self.exchange(&url, &request).await?;
            let Some(next) = redirect(&url, &response)? else {
                let status = response.status().as_u16();
                let headers = response.headers().iter().map(|(name, value)| {
                    (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
                });
                let headers = headers.collect();
                let kept = Some((url.origin, sender));
                let (body, idle, pool) = (response.into_body(), self.timeouts.idle, Arc::clone(&self.pool));
                let body = HttpBody { body, idle, kept, pool };
                return Ok(HttpResponse { status, headers, body: Box::new(body) });
            };
            url = next;
        }
        Err(ModelError::new(ErrorKind::NotFound, "too many redirects"))
    }
}

/// Returns the address that an answer redirects to; `None` if it is an answer.
fn redirect(url: &Url, response: &Response<Incoming>) -> Result<Option<Url>, ModelError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 307 | 308) {
        return Ok(None);
    }
    let location = response.headers().get(LOCATION).and_then(|location| location.to_str().ok()).unwrap_or_default();
    let wrong = |why: &str| Err(ModelError::new(ErrorKind::NotFound, why));
    match url.redirected(location) {
        None => wrong("the server redirects to nowhere"),
        Some(next) if url.origin.is_encrypted() && !next.origin.is_encrypted() => {
            wrong("the server redirects to an address without encryption")
        }
        Some(next) => Ok(Some(next)),
    }
}

/// Returns the request for `url`. The key and further headers are for their own origins alone.
fn message(url: &Url, request: &HttpRequest) -> Result<Request<Full<Bytes>>, ModelError> {
    let method = if request.body.is_some() { Method::POST } else { Method::GET };
    let mut builder = Request::builder()
        .method(method)
        .uri(url.target())
        .header(HOST, url.origin.authority())
        .header(USER_AGENT, concat!("hermes-sessions/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, "application/json, text/event-stream");
    if request.body.is_some() {
        builder = builder.header(CONTENT_TYPE, "application/json");
    }
    if url.origin == request.url.origin {
        for (name, value) in &request.headers {
            let pair = HeaderName::try_from(name).ok().zip(HeaderValue::try_from(value).ok());
            let (name, value) = pair.ok_or_else(|| bad_request(format!("{name:?} cannot be a header")))?;
            builder = builder.header(name, value);
        }
    }
    if let Some(key) = request.key.as_ref().and_then(|key| key.reveal_to(&url.origin)) {
        let mut value =
            HeaderValue::try_from(format!("Bearer {key}")).map_err(|_| bad_request("the key cannot be a header"))?;
        value.set_sensitive(true);
        builder = builder.header(AUTHORIZATION, value);
    }
    let body = Full::new(request.body.clone().unwrap_or_default());
    builder.body(body).map_err(|error| bad_request(error.to_string()))
}

fn bad_request(why: impl AsRef<str>) -> ModelError {
    ModelError::new(ErrorKind::BadRequest, why)
}

fn silent(limit: Duration) -> ModelError {
    network(NetworkFault::IdleTimeout, format!("no answer within {} s", limit.as_secs()))
}

fn broken(error: &hyper::Error) -> ModelError {
    network(NetworkFault::Broken, connect::causes(error))
}

/// The body of an answer. At its end, the connection is kept for the next request. If it is dropped before that, the
/// connection is closed, by which the server learns that nobody listens.
struct HttpBody {
    body: Incoming,
    idle: Duration,
    kept: Option<(Origin, Sender)>,
    pool: Arc<Pool>,
}

#[async_trait]
impl ResponseBody for HttpBody {
    async fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
        loop {
            match timeout(self.idle, self.body.frame()).await {
                Err(_) => {
                    let why = format!("nothing came for {} s", self.idle.as_secs());
                    return Err(network(NetworkFault::IdleTimeout, why));
                }
                Ok(None) => {
                    if let Some((origin, sender)) = self.kept.take() {
                        self.pool.keep(origin, sender);
                    }
                    return Ok(None);
                }
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
                Ok(Some(Err(error))) => return Err(ModelError::new(ErrorKind::CutStream, connect::causes(&error))),
            }
        }
    }

    async fn end(&mut self) {
        let rest = async { while matches!(self.next().await, Ok(Some(_))) {} };
        // If it takes longer, the connection is closed.
        let _ = timeout(END_GRACE, rest).await;
    }
}
