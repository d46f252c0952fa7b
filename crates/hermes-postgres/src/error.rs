//! Errors of PostgreSQL → errors of the domain.

use deadpool_postgres::{PoolError, TimeoutType};
use hermes_session::{Location, ReadOnlyReason, StoreError};
use hermes_sql::server::Remedy;
use std::time::Duration;
use tokio_postgres::error::{Severity, SqlState};

hermes_sql::server_failure!(tokio_postgres::Error, PoolError);

impl Failure {
    /// Returns whether the row of a receipt does not have the number that this writer left.
    pub(crate) fn is_misplaced_receipt(&self) -> bool {
        matches!(self, Self::Driver(error) if error.code() == Some(&SqlState::DIVISION_BY_ZERO))
    }
}

/// Describes an error for the log.
fn error_code(error: &tokio_postgres::Error) -> String {
    match error.code() {
        Some(state) => format!("SQLSTATE {}", state.code()),
        None if error.is_closed() => "connection closed".to_owned(),
        None => "no answer from the server".to_owned(),
    }
}

/// Returns whether the server refused the request and stays alive.
fn is_refusal(error: &tokio_postgres::Error) -> bool {
    error.as_db_error().is_some_and(|error| error.parsed_severity() == Some(Severity::Error))
}

/// Converts an error of the server to the domain's, keeping it as the source.
fn server_error(error: tokio_postgres::Error, op: &'static str, waited: Duration, location: Location) -> StoreError {
    let Some(code) = error.code() else { return StoreError::Backend { location, op, source: error.into() } };
    match code {
        &SqlState::DISK_FULL => StoreError::NoRoom { location, op, source: error.into() },
        &SqlState::READ_ONLY_SQL_TRANSACTION => {
            StoreError::ReadOnly { op, location, reason: ReadOnlyReason::NotWritable }
        }
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
        // No answer: the connection was refused, cut, or timed out.
        let is_cut =
            error.is_closed() || std::error::Error::source(error).is_some_and(|source| source.is::<std::io::Error>());
        return if is_cut { Remedy::Reconnect } else { Remedy::Tell };
    };
    match code {
        // Concurrent work was in the way. A key, title or id that was added meanwhile is seen by the next attempt,
        // which reports it properly.
        &SqlState::T_R_SERIALIZATION_FAILURE
        | &SqlState::T_R_DEADLOCK_DETECTED
        | &SqlState::LOCK_NOT_AVAILABLE
        | &SqlState::UNIQUE_VIOLATION
        | &SqlState::FOREIGN_KEY_VIOLATION
        // The row of a receipt has an unexpected number; the next attempt uses another row.
        | &SqlState::DIVISION_BY_ZERO => Remedy::Again,
        // The server stops, starts, has no free connection, or has become a replica.
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
