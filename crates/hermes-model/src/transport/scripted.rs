//! A model that follows a script, in this process: for demonstrations and tests.

use super::{HttpRequest, HttpResponse, ResponseBody, Transport};
use crate::script::{Asked, Script, Sent, render};
use crate::{Clock, ErrorKind, ModelError};
use async_trait::async_trait;
use bytes::Bytes;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// A transport that answers from a script, in the bytes of the true protocol. Needs no network and no key.
pub struct Scripted {
    script: Mutex<Script>,
    requests: Mutex<Vec<String>>,
    clock: Arc<dyn Clock>,
}

impl Scripted {
    /// Returns a transport that follows `script`. Its pauses are on `clock`.
    pub fn new(script: Script, clock: Arc<dyn Clock>) -> Self {
        Self { script: Mutex::new(script), requests: Mutex::default(), clock }
    }

    /// Returns the bodies of the requests so far.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Transport for Scripted {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, ModelError> {
        let rendered = {
            let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
            match &request.body {
                None => script.models(),
                Some(body) => {
                    let body = String::from_utf8_lossy(body).into_owned();
                    let rendered = render(&script.next(&body), &Asked::from_body(&body));
                    self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(body);
                    rendered
                }
            }
        };
        let body = ScriptedBody { pieces: rendered.pieces.into(), clock: Arc::clone(&self.clock) };
        Ok(HttpResponse { status: rendered.status, headers: rendered.headers, body: Box::new(body) })
    }
}

struct ScriptedBody {
    pieces: VecDeque<Sent>,
    clock: Arc<dyn Clock>,
}

#[async_trait]
impl ResponseBody for ScriptedBody {
    async fn next(&mut self) -> Result<Option<Bytes>, ModelError> {
        loop {
            match self.pieces.pop_front() {
                None => return Ok(None),
                Some(Sent::Bytes(bytes)) => return Ok(Some(bytes.into())),
                Some(Sent::Pause(pause)) => self.clock.sleep(pause).await,
                Some(Sent::Cut) => return Err(ModelError::new(ErrorKind::CutStream, "the script ends the connection")),
            }
        }
    }
}
