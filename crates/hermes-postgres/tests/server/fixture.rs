//! A server for each test that needs one, and the few things they do with it.

use hermes_conformance::servers::{Postgres, is_skipped};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::{NewMessage, NewSession, Refusal, Request, Role, SessionId, Source, StoreError, Timestamp};
use std::time::Duration;

/// A server of the test's own; nothing if it is not to be tested here.
pub(crate) fn server(settings: &[&str]) -> Option<Postgres> {
    (!is_skipped("postgres")).then(|| Postgres::start(settings))
}

/// The options of a test: little patience, a schema of its own.
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

/// What opening is refused with: the error as text, and the reason.
pub(crate) async fn refusal(url: &str, options: &PostgresOptions) -> (String, Refusal) {
    match PostgresStore::open(url, options).await {
        Ok(_) => panic!("{url} should be refused"),
        Err(StoreError::Refused { location, refusal }) => (format!("{location} {refusal}"), refusal),
        Err(error) => panic!("{url} should be refused, not {error:?}"),
    }
}
