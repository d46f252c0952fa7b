//! Drives the real service over an in-memory pipe, on the model and on a SQLite file.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

mod arguments;
mod ending;
mod keys;
mod lineage;
mod maintenance;
mod messages;
mod order;
mod peer;
mod recall;
mod sessions;
mod values;

use hermes_conformance::ModelStore;
use hermes_rpc::Service;
use hermes_session::{Store, Timestamp};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf, duplex, split,
};
use tokio::task::JoinHandle;

/// The first time of the test clock; each reading is one second later.
const START: u64 = 1_750_000_000;

/// A store, and the resources it needs while it is open.
struct Place {
    store: Arc<dyn Store>,
    _folder: Option<tempfile::TempDir>,
}

fn model() -> Place {
    Place { store: Arc::new(ModelStore::default()), _folder: None }
}

fn sqlite() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("state.db"), &SqliteOptions::default()).unwrap();
    Place { store: Arc::new(store), _folder: Some(folder) }
}

/// Returns one store of each kind.
fn places() -> [Place; 2] {
    [model(), sqlite()]
}

fn service(place: &Place) -> Service {
    let ticks = AtomicU64::new(START);
    let clock = move || Timestamp::from_seconds(ticks.fetch_add(1, Ordering::Relaxed) as f64).unwrap();
    Service::new(Arc::clone(&place.store), Arc::new(clock), jiff::tz::TimeZone::UTC, "1.2.3")
}

/// The client program.
struct Client {
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    served: JoinHandle<std::io::Result<()>>,
    sent: u64,
}

impl Client {
    async fn of(place: &Place) -> Self {
        Self::until(place, std::future::pending()).await
    }

    async fn until(place: &Place, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        let (ours, theirs) = duplex(64 * 1024);
        let service = service(place);
        let served = tokio::spawn(async move {
            let (reader, writer) = split(theirs);
            service.serve_until(reader, writer, stop).await
        });
        let (reader, writer) = split(ours);
        let mut client = Self { writer, lines: BufReader::new(reader).lines(), served, sent: 0 };
        let hello = client.line().await.unwrap();
        assert_eq!((&hello["hello"]["protocol"], &hello["hello"]["version"]), (&json!(1), &json!("1.2.3")));
        client
    }

    /// Returns the next line; `None` after the last one.
    async fn line(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:.300}")))
    }

    /// Returns the next line unparsed.
    async fn raw_line(&mut self) -> String {
        self.lines.next_line().await.unwrap().unwrap()
    }

    /// Sends a request without waiting. Returns the id of its answer.
    async fn send(&mut self, mut request: Value) -> u64 {
        self.sent += 1;
        request["id"] = json!(self.sent);
        self.write(&request.to_string()).await;
        self.sent
    }

    async fn write(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    /// Sends a request and returns its whole answer.
    async fn ask(&mut self, request: Value) -> Value {
        let id = self.send(request).await;
        let answer = self.line().await.unwrap();
        assert_eq!(answer["id"], json!(id));
        answer
    }

    /// Returns the result of a call.
    async fn call(&mut self, method: &str, arguments: Value) -> Value {
        let answer = self.ask(json!({"m": method, "a": arguments})).await;
        answer.get("r").cloned().unwrap_or_else(|| panic!("{method}: {answer}"))
    }

    /// Returns the result of a call with named arguments.
    async fn named(&mut self, method: &str, arguments: Value) -> Value {
        let answer = self.ask(json!({"m": method, "k": arguments})).await;
        answer.get("r").cloned().unwrap_or_else(|| panic!("{method}: {answer}"))
    }

    /// Returns the class and the text of the error that a call raises.
    async fn raises(&mut self, method: &str, arguments: Value) -> (String, String) {
        let answer = self.ask(json!({"m": method, "a": arguments})).await;
        let text = |key: &str| answer[key].as_str().unwrap_or_else(|| panic!("{method}: {answer}")).to_owned();
        (text("e"), text("t"))
    }

    /// Closes the input and returns all remaining answers.
    async fn finish(mut self) -> Vec<Value> {
        self.writer.shutdown().await.unwrap();
        let mut answers = Vec::new();
        while let Some(answer) = self.line().await {
            answers.push(answer);
        }
        self.served.await.unwrap().unwrap();
        answers
    }
}
