//! How a server is used.

use std::time::Duration;

/// How a server is used.
#[derive(Clone)]
pub struct PostgresOptions {
    /// How long a call goes on trying while a server restarts, others are in the way, or every connection is in use.
    pub wait: Duration,
    /// How long one attempt to connect may take.
    pub connect_timeout: Duration,
    /// The most connections at once.
    pub max_connections: usize,
    /// How long the server works on one statement; zero sets no bound.
    pub statement_timeout: Duration,
    /// The schema that holds the tables; `public` if not given.
    pub schema: Option<String>,
    /// Whether the tables are made if they are not there.
    pub create: bool,
    /// Whether the store is only read: no table is made or brought up to date, and every write is refused.
    pub read_only: bool,
    /// Another server that follows this one, for searching and counting.
    pub replica: Option<String>,
}

impl std::fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The replica's URL may hold a password.
        f.debug_struct("PostgresOptions")
            .field("wait", &self.wait)
            .field("max_connections", &self.max_connections)
            .field("schema", &self.schema)
            .field("has_replica", &self.replica.is_some())
            .finish_non_exhaustive()
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            max_connections: 15,
            statement_timeout: Duration::from_secs(30),
            schema: None,
            create: true,
            read_only: false,
            replica: None,
        }
    }
}
