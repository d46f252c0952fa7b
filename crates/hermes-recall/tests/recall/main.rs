//! Recall: what an agent learns about past conversations, and about whose.

#![expect(clippy::unwrap_used, reason = "a test that panics is a test that fails")]

mod evaluation;
mod found;
mod matrix;
mod pages;
mod passages;
mod summaries;

use hermes_recall::{Recall, RecallRequest, Recalled, session_search};
use hermes_session::{NewMessage, NewSession, Request, Role, Scope, SessionId, SessionStore as _, Source, Timestamp};
use hermes_sqlite::{SqliteOptions, SqliteStore};

/// A store in a temporary file.
struct Place {
    store: SqliteStore,
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = SqliteOptions { background: false, ..SqliteOptions::default() };
        let store = SqliteStore::open(&folder.path().join("state.db"), &options).unwrap();
        Self { store, folder }
    }

    /// Writes to the file like a foreign writer.
    #[expect(clippy::disallowed_methods, reason = "what only newer agents write is written past the store")]
    fn foreign(&self, sql: &str) {
        let file = rusqlite::Connection::open(self.folder.path().join("state.db")).unwrap();
        file.execute_batch(sql).unwrap();
    }

    /// Creates a session.
    async fn session(&self, session: NewSession, seconds: f64) {
        self.store.create(&session, &at(seconds)).await.unwrap();
    }

    /// Appends texts to a session, alternating between user and assistant.
    async fn say(&self, session: &str, texts: &[&str]) {
        let role = |place: usize| if place.is_multiple_of(2) { Role::User } else { Role::Assistant };
        let batch: Vec<NewMessage> =
            texts.iter().enumerate().map(|(place, text)| NewMessage::new(role(place), *text)).collect();
        self.store.append(&id(session), &batch, &at(10.0)).await.unwrap();
    }

    async fn recall(&self, request: &RecallRequest) -> Vec<Recalled> {
        match session_search(&self.store, &Scope::All, request, None).await.unwrap() {
            Recall::Found { results, .. } => results,
            Recall::Recent(rows) => panic!("not asked for: {rows:?}"),
        }
    }

    async fn recent(&self, request: &RecallRequest) -> Vec<String> {
        match session_search(&self.store, &Scope::All, request, None).await.unwrap() {
            Recall::Recent(rows) => rows.iter().map(|row| row.id.to_string()).collect(),
            Recall::Found { results, .. } => panic!("not asked for: {results:?}"),
        }
    }
}

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn at(seconds: f64) -> Request {
    Request::at(Timestamp::from_seconds(1_700_000_000.0 + seconds).unwrap())
}

fn session(name: &str, source: &str) -> NewSession {
    NewSession::new(id(name), Source::parse(source).unwrap())
}

fn names(results: &[Recalled]) -> Vec<&str> {
    results.iter().map(|result| result.conversation.id().as_str()).collect()
}
