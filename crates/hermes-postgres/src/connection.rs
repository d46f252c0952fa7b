//! Connection pool for a URL.

use crate::address::Address;
use crate::{PostgresOptions, tls};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use hermes_session::{Invalid, Location, Refusal, ServerProblem, StoreError};
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::error::SqlState;

/// Oldest supported version of the server, in the form of `server_version_num`.
pub(crate) const OLDEST: i32 = 130_000;

/// Creates a pool of connections, without connecting yet.
pub(crate) fn pool(address: &Address, options: &PostgresOptions) -> Result<Pool, StoreError> {
    let mut config = address.config.clone();
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.connect_timeout);
    }
    // Detects a server that vanished silently before a person gives up.
    config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(Duration::from_secs(30));
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config, tls::connector(&address.trust)?, manager);
    // The driver's own timeout covers only the connection itself. The wait for the server's answer after it is limited
    // here. Each host may take that long.
    let once = config_timeout(&address.config, options);
    let hosts = u32::try_from(address.config.get_hosts().len().max(1)).unwrap_or(1);
    let timeouts = Timeouts { wait: Some(options.wait), create: Some(once * hosts), recycle: Some(once) };
    Pool::builder(manager)
        .max_size(options.max_connections.max(1))
        .timeouts(timeouts)
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| StoreError::Backend {
            location: Location::Server(address.location.clone()),
            op: "create a connection pool",
            source: error.into(),
        })
}

fn config_timeout(config: &Config, options: &PostgresOptions) -> Duration {
    config.get_connect_timeout().copied().unwrap_or(options.connect_timeout)
}

/// Returns the error of a server that does not answer.
pub(crate) fn silence(location: &str) -> StoreError {
    refused(location, ServerProblem::NotReached, "no answer within the timeout".into())
}

fn refused(location: &str, problem: ServerProblem, cause: String) -> StoreError {
    StoreError::Refused { location: Location::Server(location.to_owned()), refusal: Refusal::Server { problem, cause } }
}

/// Returns the error of a server that cannot be used.
pub(crate) fn refusal(location: &str, error: tokio_postgres::Error) -> StoreError {
    let problem = match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            ServerProblem::Authentication
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => ServerProblem::NoDatabase,
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => ServerProblem::NoPrivilege,
        Some(_) => {
            return StoreError::Backend {
                location: Location::Server(location.to_owned()),
                op: "open the store",
                source: error.into(),
            };
        }
        None => ServerProblem::NotReached,
    };
    refused(location, problem, message_of(&error))
}

/// Returns the message of a driver's error with all its causes.
fn message_of(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return error.message().to_owned();
    }
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// Checks the name of a schema.
pub(crate) fn checked_schema(name: &str) -> Result<String, Invalid> {
    if name.is_empty() || name.len() > 63 || name.contains('\0') || name.starts_with("pg_") || name == "$user" {
        let hint = "use 1 to 63 letters, digits and underscores, not beginning with pg_";
        return Err(Invalid::new("schema", format!("can't be named {name:?}"), hint));
    }
    Ok(name.to_owned())
}

/// Quotes a name for SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
