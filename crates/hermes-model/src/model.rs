//! The front: a model that answers requests.

use crate::answer::{Answer, Piece};
use crate::chat::{self, Decoder};
use crate::conform::conform;
use crate::error::{RawAnswer, from_answer, retry_after};
use crate::models::{ModelInfo, read_models};
use crate::transport::{HttpRequest, HttpResponse, Transport};
use crate::{BaseUrl, Clock, ErrorKind, Key, ModelError, Quirks, Request, Retry, RetryPolicy};
use bytes::Bytes;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

/// Maximum size of an error or of a list of models, in bytes.
const MAX_BODY: usize = 16 << 20;

/// How long the usage is waited for after the model has stopped, if the server keeps the connection open.
const USAGE_GRACE: Duration = Duration::from_secs(5);

/// A model at an address.
#[derive(Clone)]
pub struct Model {
    /// Its name, as the server knows it.
    pub name: String,
    /// The address of its server.
    pub base_url: BaseUrl,
    /// The key, if it needs one.
    pub key: Option<Key>,
    /// Quirks of its server.
    pub quirks: Quirks,
    /// When a failed request is made again.
    pub retries: RetryPolicy,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    transport: Arc<dyn Transport>,
    clock: Arc<dyn Clock>,
}

/// Progress of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// A piece of the answer.
    Piece(Piece<'a>),
    /// The pieces since the start, or since the last event of this kind, are void: the attempt failed.
    Discarded(&'a ModelError),
    /// The request is made again after a pause.
    Retrying {
        /// Number of the next attempt, counted from 1.
        attempt: u32,
        /// The pause.
        wait: Duration,
        /// The error of the last attempt.
        error: &'a ModelError,
    },
}

/// Called with the progress of an answer.
pub type OnEvent<'a> = &'a mut (dyn FnMut(Event<'_>) + Send);

/// Completes when the user interrupts.
type Stop<'a> = Pin<&'a mut (dyn Future<Output = ()> + Send)>;

impl Model {
    /// Returns the model `name` at `base_url`, without a key and with the quirks that its host is known for.
    pub fn new(
        name: impl Into<String>,
        base_url: BaseUrl,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let quirks = crate::profile(&base_url).quirks;
        let (retries, headers) = (RetryPolicy::default(), Vec::new());
        Self { name: name.into(), base_url, key: None, quirks, retries, headers, transport, clock }
    }

    /// Asks the model, as often as the retry policy allows.
    ///
    /// # Errors
    /// The error of the last attempt. Its text, if any, was reported as [`Event::Discarded`].
    pub async fn answer(&self, request: Request, on_event: OnEvent<'_>) -> Result<Answer, ModelError> {
        self.answer_until(request, std::future::pending(), on_event).await
    }

    /// Asks the model like [`answer`](Self::answer), until the user interrupts.
    ///
    /// An interrupted answer is what was said so far, without half tool calls, and
    /// [`Finish::Interrupted`](crate::Finish::Interrupted).
    ///
    /// # Errors
    /// [`ErrorKind::Interrupted`] if nothing was said so far; others as [`answer`](Self::answer).
    pub async fn answer_until(
        &self,
        mut request: Request,
        stop: impl Future<Output = ()> + Send,
        on_event: OnEvent<'_>,
    ) -> Result<Answer, ModelError> {
        request.messages = conform(request.messages, &self.quirks);
        let body = Bytes::from(chat::body(&self.name, &request, &self.quirks));
        drop(request);
        let mut stop = pin!(stop);
        let mut start = self.clock.now();
        let mut attempt = 1;
        loop {
            let mut has_pieces = false;
            let mut on_piece = |piece: Piece<'_>| {
                has_pieces = true;
                on_event(Event::Piece(piece));
            };
            let error = match self.attempt(body.clone(), stop.as_mut(), &mut on_piece).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error.redacted(self.key.as_ref()),
            };
            if has_pieces {
                on_event(Event::Discarded(&error));
                // While words came, nobody waited for nothing.
                start = self.clock.now();
            }
            let elapsed = self.clock.now().saturating_sub(start);
            let Retry::After(wait) = self.retries.decide(attempt, &error, elapsed, self.clock.random()) else {
                return Err(error);
            };
            attempt += 1;
            tracing::debug!(attempt, ?wait, kind = ?error.kind, status = error.status, "request is made again");
            on_event(Event::Retrying { attempt, wait, error: &error });
            tokio::select! {
                () = self.clock.sleep(wait) => {}
                () = stop.as_mut() => return Err(interrupted()),
            }
        }
    }

    /// Returns the models of the server.
    ///
    /// # Errors
    /// The error of the server or the network; one attempt is made.
    pub async fn models(&self) -> Result<Vec<ModelInfo>, ModelError> {
        let listed = async {
            let mut response = self.transport.send(self.request("/models", None)).await?;
            let body = whole(&mut response).await?;
            if response.status != 200 {
                return Err(failed(&response, &body));
            }
            read_models(&body)
        };
        listed.await.map_err(|error| error.redacted(self.key.as_ref()))
    }

    fn request(&self, path: &str, body: Option<Bytes>) -> HttpRequest {
        HttpRequest { url: self.base_url.join(path), body, key: self.key.clone(), headers: self.headers.clone() }
    }

    async fn attempt(
        &self,
        body: Bytes,
        mut stop: Stop<'_>,
        on_piece: &mut (dyn FnMut(Piece<'_>) + Send),
    ) -> Result<Answer, ModelError> {
        let mut response = tokio::select! {
            response = self.transport.send(self.request("/chat/completions", Some(body))) => response?,
            () = stop.as_mut() => return Err(interrupted()),
        };
        if response.status != 200 {
            let body = tokio::select! {
                // The status says enough if the body is cut off.
                body = whole(&mut response) => body.unwrap_or_default(),
                () = stop.as_mut() => return Err(interrupted()),
            };
            return Err(failed(&response, &body));
        }
        let mut decoder = Decoder::default();
        while !decoder.is_done() {
            let grace = async {
                match decoder.has_stopped() {
                    true => self.clock.sleep(USAGE_GRACE).await,
                    false => std::future::pending().await,
                }
            };
            let bytes = tokio::select! {
                // The user first: a fast stream must not hide an interrupt.
                biased;
                () = stop.as_mut() => return stopped(decoder, on_piece),
                bytes = response.body.next() => bytes,
                () = grace => break,
            };
            match bytes {
                Ok(Some(bytes)) => decoder.push(&bytes, on_piece)?,
                Ok(None) => break,
                // The answer is complete; only the usage is missing.
                Err(_) if decoder.has_stopped() => break,
                Err(error) => return Err(error),
            }
        }
        if decoder.is_done() {
            response.body.end().await;
        }
        decoder.finish(on_piece)
    }
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Headers may hold secrets.
        f.debug_struct("Model")
            .field("name", &self.name)
            .field("base_url", &self.base_url)
            .field("key", &self.key)
            .field("quirks", &self.quirks)
            .finish_non_exhaustive()
    }
}

fn interrupted() -> ModelError {
    ModelError::new(ErrorKind::Interrupted, "")
}

/// Returns what was said until the user interrupted.
fn stopped(decoder: Decoder, on_piece: &mut (dyn FnMut(Piece<'_>) + Send)) -> Result<Answer, ModelError> {
    let answer = decoder.interrupted(on_piece);
    if answer.is_empty() && answer.reasoning.is_none() { Err(interrupted()) } else { Ok(answer) }
}

fn failed(response: &HttpResponse, body: &[u8]) -> ModelError {
    from_answer(RawAnswer { status: response.status, body, retry_after: retry_after(|name| response.header(name)) })
}

async fn whole(response: &mut HttpResponse) -> Result<Vec<u8>, ModelError> {
    let mut whole = Vec::new();
    while let Some(bytes) = response.body.next().await? {
        let room = MAX_BODY.saturating_sub(whole.len());
        whole.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if room <= bytes.len() {
            break;
        }
    }
    Ok(whole)
}
