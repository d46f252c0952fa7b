//! From a URL to a pool.

use crate::address::Address;
use crate::{PostgresOptions, tls};
use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use hermes_session::{Invalid, StoreError};
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::Config;
use tokio_postgres::error::SqlState;

/// The oldest server that has all we ask for, as it counts its versions.
pub(crate) const OLDEST: i32 = 130_000;

/// A pool of connections. Nothing is connected to yet.
pub(crate) fn pool(address: &Address, options: &PostgresOptions) -> Result<Pool, StoreError> {
    let mut config = address.config.clone();
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(options.connect_timeout);
    }
    // A server that vanished without a word is noticed before a person gives up.
    config.keepalives_idle(Duration::from_secs(30)).tcp_user_timeout(Duration::from_secs(30));
    let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = Manager::from_config(config, tls::connector(&address.trust)?, manager);
    // The driver's own time-out ends with the connection; what a server says next, or does not, is waited for here. Each host may take as long.
    let once = config_timeout(&address.config, options);
    let hosts = u32::try_from(address.config.get_hosts().len().max(1)).unwrap_or(1);
    let timeouts = Timeouts { wait: Some(options.wait), create: Some(once * hosts), recycle: Some(once) };
    Pool::builder(manager)
        .max_size(options.max_connections.max(1))
        .timeouts(timeouts)
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| StoreError::Backend {
            location: address.location.clone(),
            op: "make a pool of connections",
            source: error.into(),
        })
}

fn config_timeout(config: &Config, options: &PostgresOptions) -> Duration {
    config.get_connect_timeout().copied().unwrap_or(options.connect_timeout)
}

/// The error of a server that does not answer.
pub(crate) fn silence(location: &str) -> StoreError {
    StoreError::Refused {
        path: PathBuf::from(location),
        why: "can't be used: nothing came back within the time-out".into(),
        hint: REACHABLE.into(),
    }
}

const REACHABLE: &str =
    "see that the server runs, that its address is right, and that it is asked for the right kind of TLS (sslmode)";

/// The error of a server that can't be used, with what to do about it.
pub(crate) fn refusal(location: &str, error: tokio_postgres::Error) -> StoreError {
    let hint = match error.code() {
        Some(&SqlState::INVALID_PASSWORD | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION) => {
            "check the user and the password in sessiondb.postgresql.dsn or HERMES_SESSIONDB_URL"
        }
        Some(&SqlState::INVALID_CATALOG_NAME) => "make the database first (createdb), or name another one in the URL",
        Some(&SqlState::INSUFFICIENT_PRIVILEGE) => {
            "let the user make tables there (GRANT CREATE ON SCHEMA …), or name a schema of its own in sessiondb.postgresql.schema"
        }
        Some(_) => {
            return StoreError::Backend { location: location.to_owned(), op: "open the store", source: error.into() };
        }
        None => REACHABLE,
    };
    StoreError::Refused {
        path: PathBuf::from(location),
        why: format!("can't be used: {}", told(&error)),
        hint: hint.into(),
    }
}

/// What the driver says, down to the cause that tells.
fn told(error: &tokio_postgres::Error) -> String {
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

/// Takes the name of a schema.
pub(crate) fn checked_schema(name: &str) -> Result<String, Invalid> {
    if name.is_empty() || name.len() > 63 || name.contains('\0') || name.starts_with("pg_") || name == "$user" {
        let hint = "use 1 to 63 letters, digits and underscores, not beginning with pg_";
        return Err(Invalid::new("schema", format!("can't be named {name:?}"), hint));
    }
    Ok(name.to_owned())
}

/// A name as it stands in SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
