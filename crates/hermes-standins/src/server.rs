//! A model server that follows a script.

use crate::checks::{IdForm, check};
use crate::http::{Incoming, Written, read, write};
use hermes_model::script::{Asked, Rendered, Reply, Script, render};
use serde_json::Value;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Rules for the clients of a server.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// The key; `None` if the server takes everybody, and objects to a key.
    pub key: Option<String>,
    /// Form of the ids of calls.
    pub ids: IdForm,
    /// Fields of a request that it knows besides the usual ones.
    pub further_fields: Vec<String>,
}

/// A request that a server received.
#[derive(Debug, Clone)]
pub struct Received {
    /// Its path.
    pub path: String,
    /// Its headers; names in small letters.
    pub headers: Vec<(String, String)>,
    /// Its body; null if it has none.
    pub body: Value,
    /// The number of its connection, counted from 0.
    pub connection: usize,
}

/// A server on the loopback interface. Dropping it closes its connections.
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

struct Shared {
    rules: Rules,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    script: Script,
    received: Vec<Received>,
    violations: Vec<String>,
    hang_ups: usize,
}

impl ModelServer {
    /// Starts a server that follows `script`.
    ///
    /// # Errors
    /// If the loopback interface has no free port.
    pub async fn start(script: Script, rules: Rules) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { rules, state: Mutex::new(State { script, ..State::default() }) });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { address, shared, accepting })
    }

    /// Returns the address that a client is configured with.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Adds a reply at the end of the script.
    pub fn push(&self, reply: Reply) {
        self.shared.state().script.push(reply);
    }

    /// Returns the requests so far.
    pub fn received(&self) -> Vec<Received> {
        self.shared.state().received.clone()
    }

    /// Returns the rules that requests have broken so far.
    pub fn violations(&self) -> Vec<String> {
        self.shared.state().violations.clone()
    }

    /// Returns how many clients closed their connection in the middle of an answer.
    pub fn hang_ups(&self) -> usize {
        self.shared.state().hang_ups
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the answer to a request.
    fn answer(&self, request: &Incoming, connection: usize) -> Rendered {
        let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let mut state = self.state();
        state.received.push(Received {
            path: request.path.clone(),
            headers: request.headers.clone(),
            body: body.clone(),
            connection,
        });
        let asked = Asked::from_body(&request.body);
        let refused = |status: u16, why: &str| render(&Reply::error(status, why), &asked);
        if let Err(why) = self.checked_key(request) {
            return refused(401, &why);
        }
        match (request.method.as_str(), request.path.as_str()) {
            ("GET", "/v1/models") => state.script.models(),
            ("POST", "/v1/chat/completions") => {
                let is_json = request.header("content-type") == Some("application/json");
                let checked = check(&body, self.rules.ids, &self.rules.further_fields);
                let checked = if is_json { checked } else { Err("the content type is not application/json".into()) };
                match checked {
                    Ok(()) => render(&state.script.next(&request.body), &asked),
                    Err(why) => {
                        state.violations.push(why.clone());
                        refused(400, &why)
                    }
                }
            }
            _ => render(&Reply::bytes(404, "text/plain", "404 page not found"), &asked),
        }
    }

    /// Checks the key. Some servers object to a key that they did not ask for.
    fn checked_key(&self, request: &Incoming) -> Result<(), String> {
        let expected = self.rules.key.as_ref().map(|key| format!("Bearer {key}"));
        match request.header("authorization") {
            given if given == expected.as_deref() => Ok(()),
            // As servers do, it quotes the wrong key.
            Some(given) => Err(format!("Incorrect API key provided: {given}")),
            None => Err("You didn't provide an API key".to_owned()),
        }
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = tokio::task::JoinSet::new();
    let mut number = 0;
    while let Ok((stream, _)) = listener.accept().await {
        // Without it, each small piece would wait for the client's confirmation of the one before.
        let _ = stream.set_nodelay(true);
        connections.spawn(serve(stream, Arc::clone(&shared), number));
        number += 1;
    }
}

async fn serve(mut stream: TcpStream, shared: Arc<Shared>, connection: usize) {
    loop {
        let request = match read(&mut stream).await {
            Ok(Some(request)) => request,
            Ok(None) => return,
            Err(error) => {
                shared.state().violations.push(error.to_string());
                return;
            }
        };
        let answer = shared.answer(&request, connection);
        match write(&mut stream, &answer).await {
            Written::Whole => {}
            Written::Closed => return,
            Written::HungUp => {
                shared.state().hang_ups += 1;
                return;
            }
        }
    }
}
