//! The settings, and the one function that decides between their origins.

use crate::file::Tree;
use crate::read::Reader;
use crate::{ConfigError, ConfigFile, Environment, Origin, Secret, Setting, env, expand_tilde, home};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::path::PathBuf;
use std::time::Duration;

/// Flags of the command line.
#[derive(Debug, Clone, Default)]
pub struct Flags {
    /// The home folder.
    pub home: Option<PathBuf>,
    /// The store.
    pub url: Option<Secret>,
    /// Whether writing to the store is forbidden.
    pub read_only: bool,
}

/// Every setting, each with its origin.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The folder of `state.db` and `config.yaml`.
    pub home: Setting<PathBuf>,
    /// The store.
    pub sessiondb: SessionDb,
    /// How long sessions are kept.
    pub sessions: Sessions,
    /// Output.
    pub display: Display,
    /// Search.
    pub search: Search,
}

/// The store and how it is reached.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionDb {
    /// A URL from the command line or the environment, which wins over the provider's own keys.
    pub url: Option<Setting<Secret>>,
    /// The provider.
    pub provider: Setting<Provider>,
    /// Settings of SQLite.
    pub sqlite: Sqlite,
    /// Settings of PostgreSQL.
    pub postgresql: Postgresql,
    /// Settings of MySQL and MariaDB.
    pub mysql: Mysql,
}

/// Kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// A file on this machine.
    Sqlite,
    /// PostgreSQL.
    Postgresql,
    /// MySQL or MariaDB.
    Mysql,
}

/// `sessiondb.sqlite`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sqlite {
    /// The file; `state.db` in the home folder unless given.
    pub db_path: Setting<PathBuf>,
    /// How durable an acknowledged write is.
    pub synchronous: Setting<Synchronous>,
    /// How long a writer waits for another writer.
    pub wait_seconds: Setting<Duration>,
    /// Whether commands that would write to the store refuse. The flag applies to servers as well.
    pub read_only: Setting<bool>,
}

/// How durable an acknowledged write is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synchronous {
    /// Survives a power cut, as does the directory entry.
    Extra,
    /// Survives a power cut.
    Full,
    /// Survives the end of the process, but not necessarily a power cut.
    Normal,
}

/// `sessiondb.postgresql`. At most `pool_size` + `max_overflow` connections are open.
#[derive(Debug, Clone, PartialEq)]
pub struct Postgresql {
    /// The URL of the server; may hold a password.
    pub dsn: Option<Setting<Secret>>,
    /// The URL of a replica that reads may go to.
    pub replica_dsn: Option<Setting<Secret>>,
    /// Connections that are kept open.
    pub pool_size: Setting<u64>,
    /// Connections that may be opened beyond that.
    pub max_overflow: Setting<u64>,
    /// The longest a statement may run, in milliseconds.
    pub statement_timeout: Setting<u64>,
    /// The schema, if not the connection's default.
    pub schema: Option<Setting<String>>,
}

/// `sessiondb.mysql`.
#[derive(Debug, Clone, PartialEq)]
pub struct Mysql {
    /// The host name, address or socket path.
    pub host: Option<Setting<String>>,
    /// The port.
    pub port: Setting<u64>,
    /// The database.
    pub database: Option<Setting<String>>,
    /// The account.
    pub user: Option<Setting<String>>,
    /// Its password.
    pub password: Option<Setting<Secret>>,
    /// Maximum number of connections.
    pub pool_size: Setting<u64>,
}

/// `sessions`: automatic deletion.
#[derive(Debug, Clone, PartialEq)]
pub struct Sessions {
    /// Whether old sessions are deleted after commands that write.
    pub auto_prune: Setting<bool>,
    /// Age in days after which a session is deleted.
    pub retention_days: Setting<u64>,
    /// Whether the file is made smaller afterwards.
    pub vacuum_after_prune: Setting<bool>,
    /// Minimum time between two such runs, in hours.
    pub min_interval_hours: Setting<u64>,
    /// How long a conversation that a person deleted can be restored, in days; 0 deletes it permanently at once.
    pub trash_days: Setting<u64>,
}

/// `display`.
#[derive(Debug, Clone, PartialEq)]
pub struct Display {
    /// The first output of a resumed session.
    pub resume_display: Setting<ResumeDisplay>,
}

/// The first output of a resumed session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeDisplay {
    /// One line and the panel with the last messages.
    Full,
    /// One line.
    Minimal,
}

/// `search`.
#[derive(Debug, Clone, PartialEq)]
pub struct Search {
    /// The longest a search may take, in milliseconds.
    pub timeout_ms: Setting<u64>,
}

/// Location of the store according to the settings.
#[derive(Debug, Clone, PartialEq)]
pub enum StoreLocation {
    /// A URL, which may hold a password.
    Url(Secret),
    /// A SQLite file.
    Sqlite(PathBuf),
}

/// Resolves every setting: the command line, then the environment, then the file, then the default.
///
/// # Errors
/// If a value is not allowed for its key, wherever it was set. Keys that are not ours are ignored.
pub fn resolve(flags: &Flags, environment: &Environment, file: Option<&ConfigFile>) -> Result<Settings, ConfigError> {
    resolve_tree(flags, environment, &Tree::parse(file)?)
}

/// Resolves every setting like [`resolve`], from a parsed file.
pub(crate) fn resolve_tree(flags: &Flags, environment: &Environment, tree: &Tree) -> Result<Settings, ConfigError> {
    let home = home(flags, environment)?;
    let reader = Reader { tree, environment };
    let url = match (&flags.url, environment.text(env::HERMES_SESSIONDB_URL)?) {
        (Some(url), _) => Some(Setting { value: url.clone(), origin: Origin::Flag }),
        (None, Some(url)) => {
            Some(Setting { value: Secret::new(url), origin: Origin::Environment(env::HERMES_SESSIONDB_URL) })
        }
        (None, None) => None,
    };
    let whole = "give a whole number of 0 or more";
    let some = "give a whole number of 1 or more";
    Ok(Settings {
        sessiondb: session_db(&reader, flags, url, &home.value)?,
        home,
        sessions: Sessions {
            auto_prune: reader.bool("sessions.auto_prune", false)?,
            retention_days: reader.count("sessions.retention_days", 90, 0.., whole)?,
            vacuum_after_prune: reader.bool("sessions.vacuum_after_prune", true)?,
            min_interval_hours: reader.count("sessions.min_interval_hours", 24, 0.., whole)?,
            trash_days: reader.count("sessions.trash_days", 30, 0.., whole)?,
        },
        display: Display {
            // The key belongs to the agent, which treats any other word as `full`.
            resume_display: match reader.text("display.resume_display")? {
                Some(setting) => setting.map(|word| match word.trim() {
                    "minimal" => ResumeDisplay::Minimal,
                    _ => ResumeDisplay::Full,
                }),
                None => Setting::default_value(ResumeDisplay::Full),
            },
        },
        search: Search { timeout_ms: reader.count("search.timeout_ms", 2000, 1.., some)? },
    })
}

fn session_db(
    reader: &Reader<'_>,
    flags: &Flags,
    url: Option<Setting<Secret>>,
    home: &std::path::Path,
) -> Result<SessionDb, ConfigError> {
    let providers = [
        ("sqlite", Provider::Sqlite),
        ("postgresql", Provider::Postgresql),
        ("postgres", Provider::Postgresql),
        ("mysql", Provider::Mysql),
        ("mariadb", Provider::Mysql),
    ];
    let provider =
        reader.word("sessiondb.provider", &providers, Provider::Sqlite, "use sqlite, postgresql or mysql")?;
    let levels = [("extra", Synchronous::Extra), ("full", Synchronous::Full), ("normal", Synchronous::Normal)];
    let db_path = match reader.text("sessiondb.sqlite.db_path")? {
        // A relative path is relative to the home folder, not to the folder in which the agent was started.
        Some(setting) => setting.map(|text| home.join(expand_tilde(text.trim(), reader.environment.user_home()))),
        None => Setting::default_value(home.join("state.db")),
    };
    let whole = "give a whole number of 0 or more";
    let some = "give a whole number of 1 or more";
    // Variables named by the keys of an unused provider need not be set.
    let used = url.is_none().then_some(provider.value);
    Ok(SessionDb {
        sqlite: Sqlite {
            db_path,
            synchronous: reader.word(
                "sessiondb.sqlite.synchronous",
                &levels,
                Synchronous::Full,
                "use full, extra or normal",
            )?,
            wait_seconds: reader.seconds("sessiondb.sqlite.wait_seconds", 60)?,
            read_only: match (reader.bool("sessiondb.sqlite.read_only", false)?, flags.read_only) {
                (_, true) => Setting { value: true, origin: Origin::Flag },
                (configured, false) => configured,
            },
        },
        postgresql: Postgresql {
            dsn: if_used(used, Provider::Postgresql, reader.secret("sessiondb.postgresql.dsn"))?,
            replica_dsn: if_used(used, Provider::Postgresql, reader.secret("sessiondb.postgresql.replica_dsn"))?,
            pool_size: reader.count("sessiondb.postgresql.pool_size", 10, 1.., some)?,
            max_overflow: reader.count("sessiondb.postgresql.max_overflow", 5, 0.., whole)?,
            statement_timeout: reader.count("sessiondb.postgresql.statement_timeout", 30_000, 0.., whole)?,
            schema: if_used(used, Provider::Postgresql, reader.text("sessiondb.postgresql.schema"))?,
        },
        mysql: Mysql {
            host: if_used(used, Provider::Mysql, reader.text("sessiondb.mysql.host"))?,
            port: reader.count("sessiondb.mysql.port", 3306, 1..=65_535, "give a port from 1 to 65535")?,
            database: if_used(used, Provider::Mysql, reader.text("sessiondb.mysql.database"))?,
            user: if_used(used, Provider::Mysql, reader.text("sessiondb.mysql.user"))?,
            password: if_used(used, Provider::Mysql, reader.secret("sessiondb.mysql.password"))?,
            pool_size: reader.count("sessiondb.mysql.pool_size", 10, 1.., some)?,
        },
        url,
        provider,
    })
}

fn if_used<T>(
    used: Option<Provider>,
    provider: Provider,
    setting: Result<Option<Setting<T>>, ConfigError>,
) -> Result<Option<Setting<T>>, ConfigError> {
    match setting {
        Err(ConfigError::Unset { .. }) if used != Some(provider) => Ok(None),
        other => other,
    }
}

impl Settings {
    /// Returns the location of the store: the URL if one was given, otherwise that of the chosen provider's keys.
    ///
    /// # Errors
    /// If a key that the chosen provider needs is missing.
    pub fn store(&self) -> Result<Setting<StoreLocation>, ConfigError> {
        let db = &self.sessiondb;
        if let Some(url) = &db.url {
            return Ok(url.clone().map(StoreLocation::Url));
        }
        match db.provider.value {
            Provider::Sqlite => Ok(db.sqlite.db_path.clone().map(StoreLocation::Sqlite)),
            Provider::Postgresql => {
                let dsn = self.needed("sessiondb.postgresql.dsn", db.postgresql.dsn.as_ref())?;
                Ok(dsn.clone().map(StoreLocation::Url))
            }
            Provider::Mysql => {
                let host = self.needed("sessiondb.mysql.host", db.mysql.host.as_ref())?;
                let database = self.needed("sessiondb.mysql.database", db.mysql.database.as_ref())?;
                // A text that is not a valid host may contain a password.
                if !is_host(host.value.trim()) {
                    let (value, origin) = ("***".to_owned(), host.origin.clone());
                    let hint = "give the name or the address of a server, or the path of its socket";
                    return Err(ConfigError::Value { key: "sessiondb.mysql.host", value, origin, hint });
                }
                let url = mysql_url(&db.mysql, host.value.trim(), &database.value);
                Ok(host.clone().map(|_| StoreLocation::Url(url)))
            }
        }
    }

    fn needed<'a, T>(&self, key: &'static str, setting: Option<&'a Setting<T>>) -> Result<&'a Setting<T>, ConfigError> {
        setting.ok_or_else(|| ConfigError::Missing { key, origin: self.sessiondb.provider.origin.clone() })
    }
}

/// Returns whether a text can be the host of a URL: a name, an address, or the path of a socket.
fn is_host(text: &str) -> bool {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let is_name =
        |text: &str| !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || "/@?#:[]%\\".contains(c));
    text.starts_with('/') || inner.parse::<std::net::Ipv6Addr>().is_ok() || is_name(text)
}

/// Returns the URL built from the keys of MySQL. A host that is a path is a socket.
fn mysql_url(mysql: &Mysql, host: &str, database: &str) -> Secret {
    let password = mysql.password.as_ref().map(|password| format!(":{}", percent_encoded(password.value.reveal())));
    let user = mysql.user.as_ref().map(|user| percent_encoded(&user.value));
    let account = match (user, password) {
        (None, None) => String::new(),
        (user, password) => format!("{}{}@", user.unwrap_or_default(), password.unwrap_or_default()),
    };
    let (host, socket) = match host {
        path if path.starts_with('/') => ("localhost".to_owned(), format!("?socket={}", percent_encoded(path))),
        address if address.parse::<std::net::Ipv6Addr>().is_ok() => (format!("[{address}]"), String::new()),
        name => (name.to_owned(), String::new()),
    };
    let (port, database) = (mysql.port.value, percent_encoded(database));
    Secret::new(format!("mysql://{account}{host}:{port}/{database}{socket}"))
}

/// Encodes a text so that it can be any part of a URL.
fn percent_encoded(text: &str) -> String {
    // The unreserved characters of RFC 3986 stay as they are.
    const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, RESERVED).to_string()
}

#[cfg(test)]
mod tests;
