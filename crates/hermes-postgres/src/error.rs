//! What PostgreSQL says → what the domain says.

use deadpool_postgres::{PoolError, TimeoutType};
use hermes_session::{Cause, Conflict, Invalid, StoreError, Unreadable};
use hermes_sql::server::{Failing, Odd, Remedy};
use std::time::Duration;
use tokio_postgres::error::{Severity, SqlState};

/// Why a job failed: for a reason of the domain, or of the server's.
#[derive(Debug)]
pub(crate) enum Failure {
    Store(StoreError),
    Postgres(tokio_postgres::Error),
    Pool(PoolError),
    /// Something stored can't be read as what it should be.
    Damaged(String),
    /// The transaction did not happen, and can be tried again.
    Undone(Cause),
    /// The answer to a commit was lost, and nobody can tell any more whether it happened.
    InDoubt(Cause),
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

impl From<Odd> for Failure {
    fn from(Odd(what): Odd) -> Self {
        Self::Damaged(what)
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => Self::Postgres(error),
            other => Self::Pool(other),
        }
    }
}

impl Failing for Failure {
    fn remedy(&self) -> Remedy {
        match self {
            Self::Postgres(error) => remedy(error),
            Self::Undone(_) => Remedy::Again,
            Self::Pool(PoolError::Timeout(TimeoutType::Create)) => Remedy::Reconnect,
            Self::Pool(_) | Self::Store(_) | Self::Damaged(_) | Self::InDoubt(_) => Remedy::Tell,
        }
    }

    fn is_refusal(&self) -> bool {
        match self {
            Self::Postgres(error) => {
                error.as_db_error().is_some_and(|error| error.parsed_severity() == Some(Severity::Error))
            }
            Self::Store(_) | Self::Damaged(_) => true,
            Self::Pool(_) | Self::Undone(_) | Self::InDoubt(_) => false,
        }
    }

    fn into_cause(self) -> Cause {
        match self {
            Self::Postgres(error) => error.into(),
            Self::Pool(error) => error.into(),
            Self::Undone(cause) | Self::InDoubt(cause) => cause,
            Self::Store(error) => error.into(),
            Self::Damaged(what) => what.into(),
        }
    }

    fn is_missing(&self) -> bool {
        matches!(self, Self::Store(StoreError::NotFound(_)))
    }

    fn undone(cause: Cause) -> Self {
        Self::Undone(cause)
    }

    fn in_doubt(cause: Cause) -> Self {
        Self::InDoubt(cause)
    }

    fn into_store_error(self, op: &'static str, waited: Duration, location: &str) -> StoreError {
        let location = location.to_owned();
        match self {
            Self::Store(error) => error,
            Self::Damaged(what) => StoreError::Corrupt { location, what, source: None },
            Self::InDoubt(source) => StoreError::InDoubt { location, op, source },
            Self::Undone(source) => StoreError::Busy { location, op, waited, holder: None, source },
            Self::Pool(error @ PoolError::Timeout(TimeoutType::Wait)) => {
                let holder = Some("calls of this process that use every connection".to_owned());
                StoreError::Busy { location, op, waited, holder, source: error.into() }
            }
            Self::Pool(error) => StoreError::Backend { location, op, source: error.into() },
            Self::Postgres(error) => server_error(error, op, waited, location),
        }
    }
}

/// The domain's error for one of the server's, which stays its source.
fn server_error(error: tokio_postgres::Error, op: &'static str, waited: Duration, location: String) -> StoreError {
    let Some(code) = error.code() else { return StoreError::Backend { location, op, source: error.into() } };
    match code {
        &SqlState::DISK_FULL => StoreError::NoRoom { location, op, source: error.into() },
        &SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::ReadOnly { op, location },
        &SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED => {
            StoreError::Corrupt { location, what: error.to_string(), source: Some(error.into()) }
        }
        _ if remedy(&error) == Remedy::Again => {
            StoreError::Busy { location, op, waited, holder: None, source: error.into() }
        }
        _ => StoreError::Backend { location, op, source: error.into() },
    }
}

fn remedy(error: &tokio_postgres::Error) -> Remedy {
    let Some(code) = error.code() else {
        // No answer came: the connection was refused, cut, or took too long.
        let is_cut =
            error.is_closed() || std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>());
        return if is_cut { Remedy::Reconnect } else { Remedy::Tell };
    };
    match code {
        // Others were in the way. A key, a title or an id that came up meanwhile is seen by the next attempt, which tells what that means.
        &SqlState::T_R_SERIALIZATION_FAILURE
        | &SqlState::T_R_DEADLOCK_DETECTED
        | &SqlState::LOCK_NOT_AVAILABLE
        | &SqlState::UNIQUE_VIOLATION
        | &SqlState::FOREIGN_KEY_VIOLATION
        // The row of a mark is not where this writer left it: it gets another one.
        | &SqlState::DIVISION_BY_ZERO => Remedy::Again,
        // The server stops, starts, or has no connection to spare; or it has become one that only follows.
        &SqlState::ADMIN_SHUTDOWN
        | &SqlState::CRASH_SHUTDOWN
        | &SqlState::CANNOT_CONNECT_NOW
        | &SqlState::TOO_MANY_CONNECTIONS
        | &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        | &SqlState::READ_ONLY_SQL_TRANSACTION => Remedy::Reconnect,
        _ if code.code().starts_with("08") => Remedy::Reconnect,
        _ => Remedy::Tell,
    }
}
