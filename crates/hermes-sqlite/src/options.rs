//! How a file is opened.

use std::time::Duration;

/// How a file is opened and how patient its calls are.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// How long a call waits for another process's lock before it answers [`Busy`](hermes_session::StoreError::Busy).
    pub wait: Duration,
    /// Whether a file that is not there is made.
    pub create: bool,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { wait: Duration::from_secs(60), create: true }
    }
}
