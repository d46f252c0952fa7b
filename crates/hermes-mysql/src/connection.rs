//! Connection pool for a URL.

use crate::address::{Address, Trust};
use crate::error::code;
use crate::{MysqlOptions, tls};
use deadpool::Runtime;
use deadpool::managed::{self, Metrics, RecycleError, RecycleResult, Timeouts};
use hermes_session::{Location, Refusal, ServerProblem, StoreError};
use mysql_async::prelude::Queryable as _;
use mysql_async::{Conn, DriverError, Error, IoError, Opts, OptsBuilder, ServerError};
use std::time::Duration;

/// A pool of connections.
pub(crate) type Pool = managed::Pool<Manager>;

/// A connection of the pool.
pub(crate) type Object = managed::Object<Manager>;

/// How long an unused connection is kept. The server closes it a little later, see [`SETTINGS`].
const IDLE: Duration = Duration::from_secs(45);

/// Settings of every connection, independent of the server's own. A connection whose client vanished is closed soon,
/// which releases its locks. Lock waits are short and are retried, because others may be waiting meanwhile. MySQL and
/// MariaDB have different names for the recursion limit, which lineages need; each reads the other's as a comment.
const SETTINGS: &str = "SET SESSION sql_mode = 'ANSI_QUOTES,STRICT_TRANS_TABLES,ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION', autocommit = 1, \
     time_zone = '+00:00', wait_timeout = 60, innodb_lock_wait_timeout = 5 \
     /*!80003 , cte_max_recursion_depth = 4294967295, information_schema_stats_expiry = 0 */ /*M!100200 , max_recursive_iterations = 4294967295 */; \
     SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED; SET NAMES utf8mb4 COLLATE utf8mb4_bin";

/// Number of prepared statements cached per connection.
const STATEMENTS: usize = 256;

/// Creates connections.
#[derive(Debug)]
pub(crate) struct Manager {
    options: Opts,
    /// Options without encryption, if the URL permits that.
    plain: Option<Opts>,
}

impl managed::Manager for Manager {
    type Type = Conn;
    type Error = Error;

    async fn create(&self) -> Result<Conn, Error> {
        let conn = match (Conn::new(self.options.clone()).await, &self.plain) {
            (Err(Error::Driver(DriverError::NoClientSslFlagFromServer)), Some(plain)) => Conn::new(plain.clone()).await,
            (made, _) => made,
        };
        let mut conn = conn?;
        conn.query_drop(SETTINGS).await?;
        Ok(conn)
    }

    async fn recycle(&self, conn: &mut Conn, metrics: &Metrics) -> RecycleResult<Error> {
        if conn.is_disconnected() || metrics.last_used() > IDLE {
            return Err(RecycleError::message("it was not used for long"));
        }
        Ok(())
    }
}

/// Creates a pool of connections, without connecting yet.
pub(crate) fn pool(address: &Address, options: &MysqlOptions) -> Result<Pool, StoreError> {
    let base = OptsBuilder::from_opts(address.options.clone())
        .stmt_cache_size(STATEMENTS)
        .tcp_keepalive(Some(Duration::from_secs(20)))
        .client_found_rows(true);
    let encrypted: Opts = base.clone().ssl_opts(tls::options(&address.trust)?).into();
    let plain = (address.trust == Trust::Preferred).then(|| base.into());
    let once = address.connect_timeout.unwrap_or(options.connect_timeout);
    let timeouts = Timeouts { wait: Some(options.wait), create: Some(once), recycle: Some(once) };
    Pool::builder(Manager { options: encrypted, plain })
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

fn refused(location: &str, problem: ServerProblem, cause: String) -> StoreError {
    StoreError::Refused { location: Location::Server(location.to_owned()), refusal: Refusal::Server { problem, cause } }
}

/// Returns the error of a server that does not answer.
pub(crate) fn silence(location: &str) -> StoreError {
    refused(location, ServerProblem::NotReached, "no answer within the timeout".into())
}

/// Returns the error of a server that cannot be used.
pub(crate) fn refusal(location: &str, error: Error) -> StoreError {
    let problem = match &error {
        Error::Server(ServerError { code, .. }) => match *code {
            code::WRONG_PASSWORD => ServerProblem::Authentication,
            code::NO_SUCH_DATABASE => ServerProblem::NoDatabase,
            code::NO_ACCESS_TO_DATABASE => ServerProblem::NoAccess,
            code if code::NOT_ALLOWED.contains(&code) => ServerProblem::NoPrivilege,
            _ => {
                let location = Location::Server(location.to_owned());
                return StoreError::Backend { location, op: "open the store", source: error.into() };
            }
        },
        _ => ServerProblem::NotReached,
    };
    refused(location, problem, message_of(&error))
}

/// Returns the message of the most specific cause of a driver's error.
fn message_of(error: &Error) -> String {
    match error {
        Error::Server(error) => error.message.clone(),
        Error::Driver(error) => error.to_string(),
        Error::Io(IoError::Io(error)) => error.to_string(),
        Error::Io(IoError::Tls(error)) => format!("TLS: {error}"),
        other => other.to_string(),
    }
}

/// Quotes a name for SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
