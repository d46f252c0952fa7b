//! A model on a stand-in, with a clock that goes a hundred times as fast.

use async_trait::async_trait;
use hermes_model::script::Script;
use hermes_model::{
    Answer, BaseUrl, Clock, Event, HttpTransport, Model, ModelError, Piece, Request, Timeouts, WireMessage,
};
use hermes_standins::{ModelServer, Rules};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A clock whose pauses are short, and that keeps them.
#[derive(Default)]
pub(crate) struct FastClock {
    waits: Mutex<Vec<Duration>>,
}

impl FastClock {
    pub(crate) fn waits(&self) -> Vec<Duration> {
        self.waits.lock().unwrap().clone()
    }
}

#[async_trait]
impl Clock for FastClock {
    fn now(&self) -> Duration {
        self.waits.lock().unwrap().iter().sum()
    }

    async fn sleep(&self, wait: Duration) {
        tokio::time::sleep(wait / 100).await;
        self.waits.lock().unwrap().push(wait);
    }

    fn random(&self) -> f64 {
        1.0
    }
}

pub(crate) const TIMEOUTS: Timeouts =
    Timeouts { connect: Duration::from_secs(5), answer: Duration::from_secs(20), idle: Duration::from_secs(20) };

/// A model, and the clock that it waits by.
pub(crate) struct Client {
    pub(crate) model: Model,
    pub(crate) clock: Arc<FastClock>,
}

pub(crate) fn client(base_url: &str, timeouts: Timeouts) -> Client {
    let clock = Arc::new(FastClock::default());
    let transport = Arc::new(HttpTransport::new(timeouts));
    let model = Model::new("test-model", BaseUrl::parse(base_url).unwrap(), transport, Arc::<FastClock>::clone(&clock));
    Client { model, clock }
}

pub(crate) async fn served(script: Script) -> (ModelServer, Client) {
    let server = ModelServer::start(script, Rules::default()).await.unwrap();
    let client = client(&server.base_url(), TIMEOUTS);
    (server, client)
}

/// The outcome of a request, and its progress in one text.
pub(crate) struct Observed {
    pub(crate) outcome: Result<Answer, ModelError>,
    pub(crate) progress: String,
}

impl Observed {
    #[track_caller]
    pub(crate) fn answer(self) -> Answer {
        self.outcome.unwrap()
    }

    #[track_caller]
    pub(crate) fn error(self) -> ModelError {
        self.outcome.unwrap_err()
    }
}

/// Returns a line for an event: pieces as they are, what is void as a line of its own.
pub(crate) fn line(event: Event<'_>) -> String {
    match event {
        Event::Piece(Piece::Text(text)) => text.to_owned(),
        Event::Piece(Piece::Reasoning(text)) => format!("({text})"),
        Event::Piece(Piece::Call(name)) => format!("[{name}]"),
        Event::Discarded(_) => "<discarded>".to_owned(),
        Event::Retrying { attempt, .. } => format!("<attempt {attempt}>"),
    }
}

impl Client {
    pub(crate) async fn ask(&self, request: Request) -> Observed {
        let mut progress = String::new();
        let outcome = self.model.answer(request, &mut |event| progress.push_str(&line(event))).await;
        Observed { outcome, progress }
    }

    pub(crate) async fn say(&self, text: &str) -> Observed {
        self.ask(Request::new([WireMessage::user(text)])).await
    }
}
