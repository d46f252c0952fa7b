//! Opens the store that a URL names.

use crate::{ServerUrl, StoreUrl};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::{Store, StoreError};
use hermes_sqlite::{Adopt, IndexAtClose, Shrunk, SqliteOptions, SqliteStore, Synchronous};
use std::sync::Arc;
use std::time::Duration;
use tracing::info;

/// Options for opening a store.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// How long a call waits for other writers, or for a server that restarts.
    pub wait: Duration,
    /// Whether a missing store is created: a file, or the tables on a server.
    pub create: bool,
    /// Whether the store is opened read-only: nothing is created, migrated or written.
    pub read_only: bool,
    /// When a SQLite file that an agent created is adopted. Programs that mostly read adopt it with their first write.
    pub adopt: Adopt,
    /// Durability of an acknowledged write to a SQLite file.
    pub synchronous: Synchronous,
    /// Whether to index the backlog of a SQLite file on close. For short-lived processes.
    pub index_at_close: Option<IndexAtClose>,
    /// Settings for PostgreSQL.
    pub postgresql: PostgresSettings,
    /// Settings for MySQL or MariaDB.
    pub mysql: MysqlSettings,
}

/// Settings for PostgreSQL besides its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresSettings {
    /// Maximum number of connections.
    pub most_connections: u32,
    /// Maximum time of a statement; unlimited if `None`.
    pub statement_timeout: Option<Duration>,
    /// Schema of the tables; if `None`, the one in the URL, or `public`.
    pub schema: Option<String>,
    /// Replica that serves reads.
    pub replica: Option<ServerUrl>,
    /// Maximum time for connecting.
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

/// Settings for MySQL or MariaDB besides its URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MysqlSettings {
    /// Maximum number of connections.
    pub most_connections: u32,
    /// Maximum time of a statement; unlimited if `None`.
    pub statement_timeout: Option<Duration>,
    /// Maximum time for connecting.
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
            index_at_close: None,
            postgresql: PostgresSettings::default(),
            mysql: MysqlSettings::default(),
        }
    }
}

fn sqlite_options(options: &OpenOptions) -> SqliteOptions {
    let OpenOptions { wait, create, read_only, adopt, synchronous, .. } = *options;
    let index_at_close = options.index_at_close.clone();
    SqliteOptions { wait, create, read_only, adopt, synchronous, index_at_close, ..SqliteOptions::default() }
}

/// Opens a store.
///
/// # Errors
/// Returns the provider's error. There is no fallback to another store.
pub async fn open(url: &StoreUrl, options: &OpenOptions) -> Result<Arc<dyn Store>, StoreError> {
    info!(url = url.to_string(), read_only = options.read_only, "opening a store");
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

/// Returns unused space of a store to the disk, where that needs exclusive access: nobody else may have the store open.
///
/// # Errors
/// The same as [`open`].
pub async fn shrink(url: &StoreUrl) -> Result<Shrunk, StoreError> {
    match url {
        StoreUrl::Sqlite(path) => hermes_sqlite::shrink(path),
        // A server reclaims space by itself.
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
    async fn a_server_that_cannot_be_used_is_reported_and_nothing_takes_its_place() {
        let options = OpenOptions {
            wait: Duration::ZERO,
            mysql: MysqlSettings { connect_timeout: Duration::from_secs(2), ..MysqlSettings::default() },
            ..OpenOptions::default()
        };
        // Nothing listens on port 1.
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
