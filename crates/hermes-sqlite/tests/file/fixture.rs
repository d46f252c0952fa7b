//! A file in a temporary folder, opened by us and as a foreign writer.

use hermes_session::*;
use hermes_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use std::path::PathBuf;
use std::time::Duration;

pub(crate) struct File {
    folder: tempfile::TempDir,
}

impl File {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("home/state.db")
    }

    pub(crate) fn open(&self) -> SqliteStore {
        self.try_open(Duration::from_secs(60)).unwrap()
    }

    pub(crate) fn try_open(&self, wait: Duration) -> Result<SqliteStore, StoreError> {
        SqliteStore::open(&self.path(), &SqliteOptions { wait, ..SqliteOptions::default() })
    }

    /// Opens it without background work.
    pub(crate) fn open_idle(&self) -> SqliteStore {
        let options = SqliteOptions { background: false, ..SqliteOptions::default() };
        SqliteStore::open(&self.path(), &options).unwrap()
    }

    /// Opens the file as a foreign program does: with SQLite's defaults and foreign keys on.
    pub(crate) fn foreign(&self) -> Connection {
        std::fs::create_dir_all(self.path().parent().unwrap()).unwrap();
        let connection = Connection::open(self.path()).unwrap();
        connection.pragma_update(None, "foreign_keys", true).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        connection
    }
}

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

pub(crate) fn at(seconds: f64) -> Request {
    Request::at(Timestamp::from_seconds(seconds).unwrap())
}

pub(crate) fn user(text: &str) -> NewMessage {
    NewMessage::new(Role::User, text)
}

pub(crate) fn new(text: &str) -> NewSession {
    NewSession::new(id(text), Source::parse("cli").unwrap())
}

/// Returns the conversations as `id(preview)`, in the order of the list.
pub(crate) async fn shown(store: &SqliteStore) -> String {
    let listing = store.list(&ListRequest::default()).await.unwrap();
    let rows: Vec<String> = listing.rows.iter().map(|row| format!("{}({})", row.id, row.preview)).collect();
    rows.join(" ")
}
