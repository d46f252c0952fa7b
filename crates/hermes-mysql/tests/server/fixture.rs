//! A server for each test that needs one, and the few things they do with it.

use hermes_conformance::servers::{Mariadb, is_skipped};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_session::{NewMessage, NewSession, Refusal, Request, Role, SessionId, Source, StoreError, Timestamp};
use std::time::Duration;

/// A server of the test's own; nothing if it is not to be tested here.
pub(crate) fn server(settings: &[&str]) -> Option<Mariadb> {
    (!is_skipped("mysql")).then(|| Mariadb::start(settings))
}

/// The URL of an empty database of this name.
pub(crate) fn database(server: &Mariadb, name: &str) -> String {
    server.sql(&format!("CREATE DATABASE {name}"));
    server.url_of(name)
}

/// Cuts every connection but the one that asks for it.
pub(crate) fn cut_all(server: &Mariadb) {
    let others = "SELECT CONCAT('KILL ', id, ';') FROM information_schema.processlist \
                  WHERE id <> CONNECTION_ID() AND user = 'hermes'";
    let kills = server.sql(others);
    // One that is gone by then is well.
    _ = server.client(&kills).arg("--force").status();
}

/// The options of a test: little patience.
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

/// What opening is refused with: the error as text, and the reason.
pub(crate) async fn refusal(url: &str, options: &MysqlOptions) -> (String, Refusal) {
    match MysqlStore::open(url, options).await {
        Ok(_) => panic!("{url} should be refused"),
        Err(StoreError::Refused { location, refusal }) => (format!("{location} {refusal}"), refusal),
        Err(error) => panic!("{url} should be refused, not {error:?}"),
    }
}
