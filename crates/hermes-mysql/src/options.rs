//! Options of a server.

use std::time::Duration;

/// Options of a server.
#[derive(Debug, Clone)]
pub struct MysqlOptions {
    /// How long a call is retried while a server restarts, others are in the way, or every connection is in use.
    pub wait: Duration,
    /// Timeout of one attempt to connect.
    pub connect_timeout: Duration,
    /// Maximum number of connections.
    pub max_connections: usize,
    /// Time limit of a statement; zero means no limit.
    pub statement_timeout: Duration,
    /// Whether missing tables are created.
    pub create: bool,
    /// Whether the store is opened read-only: no table is created or migrated, and every write is refused.
    pub read_only: bool,
}

impl Default for MysqlOptions {
    fn default() -> Self {
        Self {
            wait: Duration::from_secs(60),
            connect_timeout: Duration::from_secs(10),
            max_connections: 10,
            statement_timeout: Duration::from_secs(30),
            create: true,
            read_only: false,
        }
    }
}
