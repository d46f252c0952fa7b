//! The store, and how it is opened.

use crate::address::Address;
use crate::connection;
use crate::database::{Database, Flavour};
use crate::indexes::Vocabulary;
use crate::{MysqlOptions, lapses, schema};
use hermes_session::StoreError;
use hermes_sql::server::Receipts;
use hermes_sql::server_store;
use std::sync::Arc;

/// Sessions on a MySQL or MariaDB server.
pub struct MysqlStore {
    database: Database,
    notices: Vec<String>,
}

impl MysqlStore {
    /// Opens the store that a URL names (`mysql://…` or `mariadb://…`), and creates its tables if they are missing.
    ///
    /// # Errors
    /// `Refused` if the server cannot be reached or used within the timeout, or has tables that are not ours or newer;
    /// nothing is written then.
    pub async fn open(url: &str, options: &MysqlOptions) -> Result<Self, StoreError> {
        let address = Address::parse(url)?;
        let mut database = Database {
            pool: connection::pool(&address, options)?,
            location: address.location,
            name: address.database,
            flavour: Flavour::Mysql,
            statement_timeout: options.statement_timeout,
            wait: options.wait,
            read_only: options.read_only,
            frame: None,
            vocabulary: Arc::new(Vocabulary::default()),
            receipts: Arc::new(Receipts::default()),
        };
        let notices = schema::open(&mut database, options.create).await?;
        if !options.read_only {
            lapses::look(&database).await;
        }
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

server_store!(MysqlStore);
