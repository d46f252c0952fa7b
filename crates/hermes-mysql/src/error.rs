//! Errors of MySQL and MariaDB → errors of the domain.

use deadpool::managed::{PoolError, TimeoutType};
use hermes_session::{Location, ReadOnlyReason, Refusal, StoreError};
use hermes_sql::server::Remedy;
use mysql_async::{DriverError, Error, IoError, ServerError};
use std::time::Duration;

hermes_sql::server_failure!(Error, PoolError<Error>);

/// Error numbers of the server, the same on both kinds.
pub(crate) mod code {
    pub(crate) const TOO_MANY_CONNECTIONS: u16 = 1040;
    pub(crate) const NO_SUCH_DATABASE: u16 = 1049;
    pub(crate) const NO_ACCESS_TO_DATABASE: u16 = 1044;
    pub(crate) const WRONG_PASSWORD: u16 = 1045;
    pub(crate) const NOT_ALLOWED: [u16; 3] = [1142, 1143, 1227];
    pub(crate) const DISK_FULL: [u16; 3] = [1021, 1114, 3675];
    pub(crate) const DEADLOCK: u16 = 1213;
    pub(crate) const LOCK_WAIT: u16 = 1205;
    pub(crate) const DUPLICATE: u16 = 1062;
    pub(crate) const CHANGED_SINCE: u16 = 1020;
    pub(crate) const OUT_OF_RANGE: u16 = 1690;
    pub(crate) const PACKET: u16 = 1153;
    pub(crate) const SHUTDOWN: u16 = 1053;
    pub(crate) const READ_ONLY: [u16; 3] = [1290, 1792, 1836];
    pub(crate) const DAMAGED: [u16; 4] = [1034, 1194, 1712, 1877];
    /// The statement took too long or was killed.
    pub(crate) const TIMED_OUT: [u16; 3] = [1317, 1969, 3024];
    /// The server or the connection is going down, or a commit failed that may have happened.
    pub(crate) const LAST_BREATHS: [u16; 6] = [SHUTDOWN, 1080, 1180, 1196, 1927, 4031];
}

impl Failure {
    /// Returns whether the row of a receipt does not have the number that this writer left.
    pub(crate) fn is_misplaced_receipt(&self) -> bool {
        matches!(self, Self::Driver(Error::Server(error)) if error.code == code::OUT_OF_RANGE)
    }
}

/// Converts an error of the server to the domain's, keeping it as the source.
fn server_error(error: Error, op: &'static str, waited: Duration, location: Location) -> StoreError {
    if is_too_large(&error) {
        return StoreError::Refused { location, refusal: Refusal::PacketTooLarge };
    }
    let Error::Server(ServerError { code, .. }) = &error else {
        return StoreError::Backend { location, op, source: error.into() };
    };
    match *code {
        code if code::DISK_FULL.contains(&code) => StoreError::NoRoom { location, op, source: error.into() },
        code if code::READ_ONLY.contains(&code) => {
            StoreError::ReadOnly { op, location, reason: ReadOnlyReason::NotWritable }
        }
        code if code::DAMAGED.contains(&code) => {
            StoreError::Corrupt { location, what: error.to_string(), source: Some(error.into()) }
        }
        _ if remedy(&error) == Remedy::Again => {
            StoreError::Busy { location, op, waited, holder: None, source: error.into() }
        }
        _ => StoreError::Backend { location, op, source: error.into() },
    }
}

/// Returns whether a statement or a row is larger than the server accepts.
fn is_too_large(error: &Error) -> bool {
    match error {
        Error::Server(error) => error.code == code::PACKET,
        Error::Driver(DriverError::PacketTooLarge) => true,
        _ => false,
    }
}

/// Describes an error for the log.
fn error_code(error: &Error) -> String {
    match error {
        Error::Server(error) => format!("error {}", error.code),
        Error::Io(_) => "connection failed".to_owned(),
        _ => "error of the driver".to_owned(),
    }
}

/// Returns whether the server refused the request and stays alive.
fn is_refusal(error: &Error) -> bool {
    matches!(error, Error::Server(error) if !code::LAST_BREATHS.contains(&error.code))
}

fn remedy(error: &Error) -> Remedy {
    match error {
        Error::Server(ServerError { code, .. }) => match *code {
            // Concurrent work was in the way. A key, title or id that was added meanwhile is seen by the next attempt,
            // which reports it properly. `OUT_OF_RANGE` means that the row of a receipt has an unexpected number; the
            // next attempt uses another row.
            code::DEADLOCK | code::LOCK_WAIT | code::DUPLICATE | code::CHANGED_SINCE | code::OUT_OF_RANGE => {
                Remedy::Again
            }
            code::TOO_MANY_CONNECTIONS => Remedy::Reconnect,
            code if code::LAST_BREATHS.contains(&code) || code::READ_ONLY.contains(&code) => Remedy::Reconnect,
            _ => Remedy::Tell,
        },
        // No answer: the connection was refused, cut, or timed out.
        Error::Io(IoError::Io(_)) | Error::Driver(DriverError::ConnectionClosed) => Remedy::Reconnect,
        _ => Remedy::Tell,
    }
}
