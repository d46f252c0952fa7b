//! How a server is used.

use std::time::Duration;

/// How a server is used.
#[derive(Debug, Clone)]
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
    /// Another server that follows this one, for searching and counting.
    pub replica: Option<String>,
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
            replica: None,
        }
    }
}
