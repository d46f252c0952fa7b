//! stub
use hermes_session::StoreError;
use std::path::Path;
use std::time::Duration;

/// How to open.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// How long a writer waits for the lock.
    pub wait: Duration,
}

/// The store.
pub struct SqliteStore;

impl SqliteStore {
    /// Opens or creates.
    pub fn open(_path: &Path, _options: &SqliteOptions) -> Result<Self, StoreError> {
        Err(StoreError::NotFound("stub".into()))
    }
}

/// The version of SQLite inside.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
