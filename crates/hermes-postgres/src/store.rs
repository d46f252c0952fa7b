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
    /// Opens the store that a URL names (`postgresql://…`, with libpq's keywords), and creates its tables if they are
    /// missing.
    ///
    /// # Errors
    /// `Refused` if the server cannot be reached or used within the timeout, or has tables that are not ours or newer;
    /// nothing is written then.
    pub async fn open(url: &str, options: &PostgresOptions) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        let pool = connection::pool(&address, options)?;
        let options = PostgresOptions { schema: options.schema.clone().or(address.schema), ..options.clone() };
        Self::with_pool_at(pool, address.location, &options).await
    }

    /// Opens a store on an existing pool. Others may use its connections as well: no setting outlasts a transaction.
    ///
    /// # Errors
    /// The same as [`PostgresStore::open`].
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

    /// Creates the view of the store at one snapshot.
    pub(crate) fn at(database: Database) -> Self {
        Self { database, notices: Vec::new() }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }
}

server_store!(PostgresStore);
