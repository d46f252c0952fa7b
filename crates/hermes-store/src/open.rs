//! From a URL to a store.

use crate::{ServerUrl, StoreUrl};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::{Store, StoreError};
use hermes_sqlite::{Adopt, Shrunk, SqliteOptions, SqliteStore, Synchronous};
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
    /// When a SQLite file that an agent made is adopted. Programs that read most of the time, and may write, adopt it with their first write.
    pub adopt: Adopt,
    /// How surely a write to a SQLite file is on disk when it is answered.
    pub synchronous: Synchronous,
    /// What PostgreSQL is told.
    pub postgresql: PostgresSettings,
    /// What MySQL or MariaDB is told.
    pub mysql: MysqlSettings,
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

/// What MySQL or MariaDB is told besides its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MysqlSettings {
    /// How many connections there are at most.
    pub most_connections: u32,
    /// The longest a statement may run; nothing for as long as it takes.
    pub statement_timeout: Option<Duration>,
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
}

impl Default for MysqlSettings {
    fn default() -> Self {
        Self {
            most_connections: 10,
            statement_timeout: Some(Duration::from_secs(30)),
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
            adopt: Adopt::AtOpen,
            synchronous: Synchronous::Full,
            postgresql: PostgresSettings::default(),
            mysql: MysqlSettings::default(),
        }
    }
}

/// Indexes the backlog of a SQLite file in the foreground. A process that ends soon calls it after it wrote: the first write may adopt an old
/// file, and the background does not come to its end.
#[derive(Default)]
pub struct Indexer(Option<Arc<SqliteStore>>);

impl Indexer {
    /// Indexes the whole backlog, so that other programs find it. Calls `progress` with the messages done and all of them. Does nothing on a
    /// server, on a store that is only read, and on a file that can't be written.
    ///
    /// # Errors
    /// If the store fails; the next call goes on.
    pub async fn finish(&self, progress: &mut (dyn FnMut(u64, u64) + Send)) -> Result<(), StoreError> {
        let Some(store) = &self.0 else { return Ok(()) };
        match store.finish_indexing(progress).await {
            Ok(()) | Err(StoreError::ReadOnly { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Opens a store for a process that ends soon, and indexes what an adopted file left to the background before it returns, so that other
/// programs find it. `progress` is called with the messages done and all of them. On servers it is the same as [`open`]. Returns also what
/// indexes the backlog again after a write.
///
/// # Errors
/// As [`open`].
pub async fn open_and_index(
    url: &StoreUrl,
    options: &OpenOptions,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<(Arc<dyn Store>, Indexer), StoreError> {
    match url {
        StoreUrl::Sqlite(path) if !options.read_only => {
            let store = Arc::new(SqliteStore::open(path, &sqlite_options(options))?);
            let indexer = Indexer(Some(Arc::clone(&store)));
            indexer.finish(progress).await?;
            Ok((store, indexer))
        }
        #[expect(clippy::disallowed_methods, reason = "this is the same crate")]
        _ => Ok((open(url, options).await?, Indexer::default())),
    }
}

fn sqlite_options(options: &OpenOptions) -> SqliteOptions {
    let OpenOptions { wait, create, read_only, adopt, synchronous, .. } = *options;
    SqliteOptions { wait, create, read_only, adopt, synchronous, ..SqliteOptions::default() }
}

/// Opens a store.
///
/// # Errors
/// Whatever the provider says. A store that can't be used is an error; no other takes its place.
pub async fn open(url: &StoreUrl, options: &OpenOptions) -> Result<Arc<dyn Store>, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => Ok(Arc::new(SqliteStore::open(path, &sqlite_options(options))?)),
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
        StoreUrl::Mysql(server) => {
            let settings = &options.mysql;
            let options = MysqlOptions {
                wait: options.wait,
                connect_timeout: settings.connect_timeout,
                max_connections: settings.most_connections as usize,
                statement_timeout: settings.statement_timeout.unwrap_or(Duration::ZERO),
                create: options.create,
                read_only: options.read_only,
            };
            Ok(Arc::new(MysqlStore::open(server.reveal(), &options).await?))
        }
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
        StoreUrl::Postgresql(_) | StoreUrl::Mysql(_) => Ok(Shrunk::NotNeeded),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "it is what is tested")]
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
    async fn a_server_that_cannot_be_used_is_told_and_nothing_takes_its_place() {
        let options = OpenOptions {
            wait: Duration::ZERO,
            mysql: MysqlSettings { connect_timeout: Duration::from_secs(2), ..MysqlSettings::default() },
            ..OpenOptions::default()
        };
        // Nobody listens at the first port.
        for scheme in ["mysql", "mariadb"] {
            let url = StoreUrl::parse(&format!("{scheme}://ada:hunter2@127.0.0.1:1/hermes"), None).unwrap();
            let error = open(&url, &options).await.err().unwrap();
            assert!(matches!(error, StoreError::Refused { .. }), "{error:?}");
            assert!(error.to_string().contains("127.0.0.1:1/hermes can't be used"), "{error}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
        }
    }

    #[tokio::test]
    async fn a_server_needs_no_room_back() {
        for url in ["postgresql://h/d", "mysql://h/d"] {
            assert_eq!(shrink(&StoreUrl::parse(url, None).unwrap()).await.unwrap(), Shrunk::NotNeeded);
        }
    }
}
