//! How a server is used.

use std::time::Duration;

/// How a server is used.
#[derive(Debug, Clone)]
pub struct MysqlOptions {
    /// How long a call goes on trying while a server restarts, others are in the way, or every connection is in use.
    pub wait: Duration,
    /// How long one attempt to connect may take.
    pub connect_timeout: Duration,
    /// The most connections at once.
    pub max_connections: usize,
    /// How long the server works on one statement; zero sets no bound.
    pub statement_timeout: Duration,
    /// Whether the tables are made if they are not there.
    pub create: bool,
    /// Whether the store is only read: no table is made or brought up to date, and every write is refused.
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
