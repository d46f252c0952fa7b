//! The store, and how it is opened.

use crate::address::Address;
use crate::connection::{self, checked_schema};
use crate::database::Database;
use crate::indexes::Vocabulary;
use crate::{PostgresOptions, schema};
use deadpool_postgres::Pool;
use hermes_session::StoreError;
use hermes_sql::server::Receipts;
use hermes_sql::server_store;
use std::sync::Arc;

/// Sessions on a PostgreSQL server.
pub struct PostgresStore {
    database: Database,
    notices: Vec<String>,
}

impl PostgresStore {
    /// Opens the store that a URL names (`postgresql://…`, with libpq's keywords), and makes its tables if they are not there.
    ///
    /// # Errors
    /// `Refused` if the server can't be reached or used within the time-out, or has tables that are not ours or newer; nothing is written then.
    pub async fn open(url: &str, options: &PostgresOptions) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        let pool = connection::pool(&address, options)?;
        let options = PostgresOptions { schema: options.schema.clone().or(address.schema), ..options.clone() };
        Self::with_pool_at(pool, address.location, &options).await
    }

    /// The same on a pool that is ready. Its connections may be used by others as well: nothing is set on them beyond a transaction.
    ///
    /// # Errors
    /// As [`PostgresStore::open`].
    pub async fn with_pool(pool: Pool, options: &PostgresOptions) -> Result<Self, StoreError> {
        Self::with_pool_at(pool, "postgresql://".to_owned(), options).await
    }

    async fn with_pool_at(pool: Pool, location: String, options: &PostgresOptions) -> Result<Self, StoreError> {
        let schema = checked_schema(options.schema.as_deref().unwrap_or("public"))?;
        let location = if schema == "public" { location } else { format!("{location} (schema {schema})") };
        let replica = match &options.replica {
            Some(url) => Some(connection::pool(&Address::following(url)?, options)?),
            None => None,
        };
        let database = Database {
            pool,
            replica,
            location,
            schema,
            statement_timeout: options.statement_timeout,
            wait: options.wait,
            read_only: options.read_only,
            snapshot: None,
            vocabulary: Arc::new(Vocabulary::default()),
            receipts: Arc::new(Receipts::default()),
        };
        let notices = schema::open(&database, options.create).await?;
        Ok(Self { database, notices })
    }

    /// The store as of one state.
    pub(crate) fn at(database: Database) -> Self {
        Self { database, notices: Vec::new() }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }
}

server_store!(PostgresStore);
