//! Opens the stores that are measured.

use crate::Anything;
use hermes_conformance::servers::{Mariadb, Postgres};
use hermes_mysql::{MysqlOptions, MysqlStore};
use hermes_postgres::{PostgresOptions, PostgresStore};
use hermes_session::{Store, StoreError};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::path::Path;
use std::sync::Arc;

/// Opens the store at a URL, or a file at a path.
pub(crate) async fn open(url: &str, read_only: bool) -> Result<Arc<dyn Store>, StoreError> {
    Ok(match url.split_once("://").map(|(scheme, _)| scheme) {
        Some("postgresql") => {
            Arc::new(PostgresStore::open(url, &PostgresOptions { read_only, ..PostgresOptions::default() }).await?)
        }
        Some("mysql") => Arc::new(MysqlStore::open(url, &MysqlOptions { read_only, ..MysqlOptions::default() }).await?),
        _ => Arc::new(SqliteStore::open(Path::new(url), &SqliteOptions { read_only, ..SqliteOptions::default() })?),
    })
}

/// An empty store that is removed at the end.
pub(crate) struct Throwaway {
    /// Its URL, or the path of a file.
    pub(crate) url: String,
    _place: Place,
}

/// The file or server, which is held until the end.
#[expect(dead_code, reason = "each is held for its destructor")]
enum Place {
    Folder(tempfile::TempDir),
    Postgres(Box<Postgres>),
    Mariadb(Box<Mariadb>),
}

impl Throwaway {
    /// Creates a store of an engine: `sqlite`, `postgres` or `mariadb`. The servers sync every commit to disk, as the
    /// file does.
    pub(crate) fn new(engine: &str) -> Result<Self, Anything> {
        match engine {
            "sqlite" => {
                let folder = tempfile::tempdir()?;
                let url = folder.path().join("state.db").to_str().ok_or("the temporary folder is no text")?.to_owned();
                Ok(Self { url, _place: Place::Folder(folder) })
            }
            "postgres" => {
                let server = Postgres::start(&["fsync=on", "synchronous_commit=on"]);
                Ok(Self { url: server.url(), _place: Place::Postgres(Box::new(server)) })
            }
            "mariadb" => {
                let server = Mariadb::start(&["innodb_flush_log_at_trx_commit=1", "max_allowed_packet=64M"]);
                server.sql("CREATE DATABASE bench");
                Ok(Self { url: server.url_of("bench"), _place: Place::Mariadb(Box::new(server)) })
            }
            other => Err(format!("unknown engine: {other} (sqlite, postgres or mariadb)").into()),
        }
    }
}
