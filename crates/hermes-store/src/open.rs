//! From a URL to a store.

use crate::{ServerUrl, StoreUrl};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::{Invalid, Store, StoreError};
use hermes_sqlite::{Shrunk, SqliteOptions, SqliteStore, Synchronous};
use std::sync::Arc;
use std::time::Duration;

/// How to open a store.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// How long a call waits for other writers, or for a server that restarts.
    pub wait: Duration,
    /// Whether a store that is not there is made: a file, or the tables on a server.
    pub create: bool,
    /// Whether the store is only read: nothing is made, brought up to date or written.
    pub read_only: bool,
    /// How surely a write to a SQLite file is on disk when it is answered.
    pub synchronous: Synchronous,
    /// What PostgreSQL is told.
    pub postgresql: PostgresSettings,
}

/// What PostgreSQL is told besides its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresSettings {
    /// How many connections there are at most.
    pub most_connections: u32,
    /// The longest a statement may run; nothing for as long as it takes.
    pub statement_timeout: Option<Duration>,
    /// The schema of the tables, if it is not the connection's own.
    pub schema: Option<String>,
    /// Another server that reads may go to.
    pub replica: Option<ServerUrl>,
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
}

impl Default for PostgresSettings {
    fn default() -> Self {
        Self {
            most_connections: 15,
            statement_timeout: Some(Duration::from_secs(30)),
            schema: None,
            replica: None,
            connect_timeout: Duration::from_secs(10),
        }
    }
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(60),
            create: true,
            read_only: false,
            synchronous: Synchronous::Full,
            postgresql: PostgresSettings::default(),
        }
    }
}

/// Opens a store.
///
/// # Errors
/// Whatever the provider says. A provider that is not part of this build is `Invalid`; no other takes its place.
pub async fn open(url: &StoreUrl, options: &OpenOptions) -> Result<Arc<dyn Store>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => {
            let OpenOptions { wait, create, read_only, synchronous, .. } = *options;
            let options = SqliteOptions { wait, create, read_only, synchronous, ..SqliteOptions::default() };
            Ok(Arc::new(SqliteStore::open(path, &options)?))
        }
        StoreUrl::Postgresql(server) => {
            let settings = &options.postgresql;
            let options = PostgresOptions {
                wait: options.wait,
                connect_timeout: settings.connect_timeout,
                max_connections: settings.most_connections as usize,
                statement_timeout: settings.statement_timeout.unwrap_or(Duration::ZERO),
                schema: settings.schema.clone(),
                create: options.create,
                read_only: options.read_only,
                replica: settings.replica.as_ref().map(|replica| replica.reveal().to_owned()),
            };
            Ok(Arc::new(PostgresStore::open(server.reveal(), &options).await?))
        }
        StoreUrl::Mysql(server) => Err(not_built("MySQL", server)),
    }
}

/// Gives room that a store does not need back to the disk, as far as that needs the store for oneself: nobody else may have it open.
///
/// # Errors
/// As [`open`] does.
pub async fn shrink(url: &StoreUrl) -> Result<Shrunk, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => hermes_sqlite::shrink(path),
        // A server gives room back by itself.
        StoreUrl::Postgresql(_) => Ok(Shrunk::NotNeeded),
        StoreUrl::Mysql(server) => Err(not_built("MySQL", server)),
    }
}

fn not_built(provider: &str, server: &ServerUrl) -> StoreError {
    let why = format!("{server} needs {provider}, which this build can't use yet");
    Invalid::new("store", why, "give a SQLite file, such as sqlite:~/.hermes/state.db").into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_file_is_made_only_if_that_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let url = StoreUrl::Sqlite(folder.path().join("state.db"));
        let looking = OpenOptions { create: false, ..OpenOptions::default() };
        assert!(open(&url, &looking).await.is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(open(&url, &OpenOptions::default()).await.unwrap());
        assert!(open(&url, &looking).await.is_ok());
    }

    #[tokio::test]
    async fn a_provider_that_is_not_built_says_so_and_nothing_takes_its_place() {
        let url = StoreUrl::parse("mysql://ada:pw@db/hermes", None).unwrap();
        let error = open(&url, &OpenOptions::default()).await.err().unwrap();
        assert!(matches!(error, StoreError::Invalid(_)));
        assert_eq!(error.to_string(), "store mysql://ada:***@db/hermes needs MySQL, which this build can't use yet");
    }
}
