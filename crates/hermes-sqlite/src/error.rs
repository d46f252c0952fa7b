//! What SQLite says → what the domain says.

use hermes_session::{Conflict, Invalid, StoreError, Unreadable};
use rusqlite::ErrorCode;
use std::time::Duration;

/// Why a job failed: for a reason of the domain, or of SQLite's.
#[derive(Debug)]
pub(crate) enum Failure {
    Store(StoreError),
    Sqlite(rusqlite::Error),
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Conflict> for Failure {
    fn from(conflict: Conflict) -> Self {
        Self::Store(conflict.into())
    }
}

impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        Self::Store(invalid.into())
    }
}

impl From<Unreadable> for Failure {
    fn from(row: Unreadable) -> Self {
        Self::Store(StoreError::Corrupt { what: format!("{} {}: {}", row.table, row.id, row.why), source: None })
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl Failure {
    /// The domain's error, for a job called `op` that had waited for `waited`.
    pub(crate) fn into_store_error(self, op: &'static str, waited: Duration) -> StoreError {
        match self {
            Self::Store(error) => error,
            Self::Sqlite(error) => store_error(op, waited, error),
        }
    }
}

/// The domain's error for one of SQLite's, which stays its source.
pub(crate) fn store_error(op: &'static str, waited: Duration, error: rusqlite::Error) -> StoreError {
    // The memory beside the log is a file too.
    let no_shared_memory =
        error.sqlite_error().is_some_and(|code| code.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
    match error.sqlite_error_code() {
        _ if no_shared_memory => StoreError::NoRoom { op, source: error.into() },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Busy { op, waited, source: error.into() }
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Corrupt { what: error.to_string(), source: Some(error.into()) }
        }
        Some(ErrorCode::DiskFull) => StoreError::NoRoom { op, source: error.into() },
        _ => StoreError::Backend { op, source: error.into() },
    }
}
