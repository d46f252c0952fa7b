//! Options of a server.

use std::time::Duration;

/// Options of a server.
#[derive(Clone)]
pub struct PostgresOptions {
    /// How long a call is retried while a server restarts, others are in the way, or every connection is in use.
    pub wait: Duration,
    /// Timeout of one attempt to connect.
    pub connect_timeout: Duration,
    /// Maximum number of connections.
    pub max_connections: usize,
    /// Time limit of a statement; zero means no limit.
    pub statement_timeout: Duration,
    /// Schema of the tables; `public` if not given.
    pub schema: Option<String>,
    /// Whether missing tables are created.
    pub create: bool,
    /// Whether the store is opened read-only: no table is created or migrated, and every write is refused.
    pub read_only: bool,
    /// URL of a replica for searching and counting.
    pub replica: Option<String>,
}

impl std::fmt::Debug for PostgresOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The replica's URL may contain a password.
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
