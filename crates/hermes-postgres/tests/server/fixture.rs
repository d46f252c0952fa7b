//! A server for each test that needs one, and helpers.

use hermes_conformance::servers::{Postgres, is_skipped};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::{NewMessage, NewSession, Refusal, Request, Role, SessionId, Source, StoreError, Timestamp};
use std::time::Duration;

/// Starts a server for one test, or returns `None` if such tests are skipped.
pub(crate) fn server(settings: &[&str]) -> Option<Postgres> {
    (!is_skipped("postgres")).then(|| Postgres::start(settings))
}

/// Returns options for tests, with short timeouts and a schema of their own.
pub(crate) fn options(schema: &str) -> PostgresOptions {
    PostgresOptions {
        schema: Some(schema.to_owned()),
        wait: Duration::from_secs(20),
        connect_timeout: Duration::from_secs(3),
        ..PostgresOptions::default()
    }
}

pub(crate) fn now() -> Request {
    Request::at(Timestamp::from_seconds(1_741_166_123.5).expect("a time"))
}

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::parse(text).expect("an id")
}

pub(crate) fn session(name: &str) -> NewSession {
    NewSession::new(id(name), Source::parse("cli").expect("a source"))
}

pub(crate) fn said(text: &str) -> NewMessage {
    NewMessage::new(Role::User, text)
}

/// Returns the error with which opening is refused, as text, and its reason.
pub(crate) async fn refusal(url: &str, options: &PostgresOptions) -> (String, Refusal) {
    match PostgresStore::open(url, options).await {
        Ok(_) => panic!("{url} should be refused"),
        Err(StoreError::Refused { location, refusal }) => (format!("{location} {refusal}"), refusal),
        Err(error) => panic!("{url} should be refused, not {error:?}"),
    }
}
