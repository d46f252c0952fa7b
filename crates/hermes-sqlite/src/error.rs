//! Errors of SQLite, and how they become errors of the domain.

use hermes_session::{Conflict, Invalid, Location, Refusal, StoreError, Unreadable};
use rusqlite::ErrorCode;
use std::time::Duration;

/// Why work on a file failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// An error of the domain.
    Store(StoreError),
    /// SQLite reported an error.
    Sqlite(rusqlite::Error),
    /// SQLite reported an error that the search indexes in use can't have caused.
    Elsewhere(rusqlite::Error),
    /// SQLite reported an error in a discarded table that is being cleared.
    Leftover {
        /// The table.
        table: String,
        /// The error.
        error: rusqlite::Error,
    },
    /// A stored value is not of the expected form.
    Damaged(String),
    /// The deadline passed while another writer held the store.
    Late {
        /// The holder, if it is known.
        holder: Option<String>,
    },
    /// The read would take too long for the thread of a caller, and has to be repeated on another one.
    Long,
    /// The write was committed, but could not be synced to disk: its outcome is unknown.
    InDoubt(String),
    /// An earlier write could not be synced to disk.
    Broken(String),
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
        Self::Damaged(format!("{} {}: {}", row.table, row.id, row.why))
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// The operation that failed, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circumstances<'a> {
    /// The operation, as a verb.
    pub(crate) op: &'static str,
    /// Time since it was requested.
    pub(crate) waited: Duration,
    /// Location of the store.
    pub(crate) location: &'a Location,
}

/// Returns whether SQLite found the file damaged, or no database at all.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// Describes an error of SQLite for the log by its number: its text may quote stored text.
pub(crate) fn code(error: &rusqlite::Error) -> String {
    match error.sqlite_error() {
        Some(code) => format!("sqlite {} ({:?})", code.extended_code, code.code),
        None => "not an error of SQLite".to_owned(),
    }
}

impl Failure {
    /// Describes the failure for the log, without stored text.
    pub(crate) fn code(&self) -> String {
        match self {
            Self::Sqlite(error) | Self::Elsewhere(error) | Self::Leftover { error, .. } => code(error),
            Self::Store(_) => "refused".to_owned(),
            Self::Damaged(_) => "stored data is damaged".to_owned(),
            Self::Late { .. } => "deadline passed".to_owned(),
            Self::Long => "too long for the caller's thread".to_owned(),
            Self::InDoubt(_) => "outcome unknown".to_owned(),
            Self::Broken(_) => "an earlier write could not be synced".to_owned(),
        }
    }

    /// Returns whether another program holds a lock, so that a retry may help.
    pub(crate) fn is_passing(&self) -> bool {
        let code = match self {
            Self::Sqlite(error) | Self::Elsewhere(error) | Self::Leftover { error, .. } => error.sqlite_error_code(),
            _ => None,
        };
        matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// Returns whether SQLite found the file damaged, or no database at all.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Sqlite(error) | Self::Elsewhere(error) | Self::Leftover { error, .. } => is_damage(error),
            _ => false,
        }
    }

    /// Converts the failure into an error of the domain.
    pub(crate) fn into_store_error(self, circumstances: Circumstances<'_>) -> StoreError {
        let Circumstances { op, waited, location } = circumstances;
        let location = location.clone();
        match self {
            Self::Store(error) => error,
            Self::Late { holder } => {
                let source = holder.clone().unwrap_or_else(|| "the deadline passed".into()).into();
                StoreError::Busy { location, op, waited, holder, source }
            }
            Self::Long => {
                StoreError::Backend { location, op, source: "it takes too long for the caller's thread".into() }
            }
            Self::InDoubt(why) => StoreError::InDoubt { location, op, source: why.into() },
            Self::Broken(why) => {
                let source = format!("an earlier write could not be synced to disk: {why}").into();
                StoreError::Backend { location, op, source }
            }
            Self::Damaged(what) => StoreError::Corrupt { location, what, source: None },
            Self::Sqlite(error) | Self::Elsewhere(error) | Self::Leftover { error, .. } => {
                store_error(circumstances, error)
            }
        }
    }
}

/// Converts an error of SQLite into one of the domain, with the original as its source.
fn store_error(circumstances: Circumstances<'_>, error: rusqlite::Error) -> StoreError {
    let Circumstances { op, waited, location } = circumstances;
    let location = location.clone();
    // The shared memory beside the WAL is a file too, so a full disk shows here.
    let no_shared_memory =
        error.sqlite_error().is_some_and(|code| code.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
    match error.sqlite_error_code() {
        _ if no_shared_memory => StoreError::NoRoom { location, op, source: error.into() },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            StoreError::Busy { location, op, waited, holder: None, source: error.into() }
        }
        Some(ErrorCode::NotADatabase) => StoreError::Refused { location, refusal: Refusal::NotDatabase },
        Some(ErrorCode::DatabaseCorrupt) => {
            StoreError::Corrupt { location, what: error.to_string(), source: Some(error.into()) }
        }
        Some(ErrorCode::DiskFull) => StoreError::NoRoom { location, op, source: error.into() },
        _ => StoreError::Backend { location, op, source: error.into() },
    }
}
