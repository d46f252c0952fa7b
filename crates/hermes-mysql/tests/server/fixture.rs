//! A server for each test that needs one, and helpers.

use hermes_conformance::servers::{Mariadb, is_skipped};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_session::{NewMessage, NewSession, Refusal, Request, Role, SessionId, Source, StoreError, Timestamp};
use std::time::Duration;

/// Starts a server for one test, or returns `None` if such tests are skipped.
pub(crate) fn server(settings: &[&str]) -> Option<Mariadb> {
    (!is_skipped("mysql")).then(|| Mariadb::start(settings))
}

/// Creates an empty database and returns its URL.
pub(crate) fn database(server: &Mariadb, name: &str) -> String {
    server.sql(&format!("CREATE DATABASE {name}"));
    server.url_of(name)
}

/// Kills every connection except its own.
pub(crate) fn cut_all(server: &Mariadb) {
    let others = "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist \
                  WHERE id <> CONNECTION_ID() AND user = 'hermes'";
    let kills = server.sql(others);
    // A connection that has ended by then is fine.
    _ = server.client(&kills).arg("--force").status();
}

/// Returns options for tests, with short timeouts.
pub(crate) fn options() -> MysqlOptions {
    MysqlOptions { wait: Duration::from_secs(20), connect_timeout: Duration::from_secs(3), ..MysqlOptions::default() }
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
pub(crate) async fn refusal(url: &str, options: &MysqlOptions) -> (String, Refusal) {
    match MysqlStore::open(url, options).await {
        Ok(_) => panic!("{url} should be refused"),
        Err(StoreError::Refused { location, refusal }) => (format!("{location} {refusal}"), refusal),
        Err(error) => panic!("{url} should be refused, not {error:?}"),
    }
}
