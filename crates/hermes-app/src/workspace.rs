//! Flags, environment, settings and the URL of the store, each read once per process.

use crate::{AppError, Terminal, Transcripts, UrlOrigin};
use hermes_config::{ConfigError, ConfigFile, Environment, Flags, Origin, Settings, StoreLocation};
use hermes_store::{IndexAtClose, MysqlSettings, OpenOptions, PostgresSettings, StoreUrl, Synchronous};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Makes what a store needs to index its backlog when it is closed, for each store that is opened for writing.
type MakeIndexAtClose = Arc<dyn Fn() -> IndexAtClose + Send + Sync>;

/// The surroundings of a program: its flags, its environment, and the settings and store URL that follow from them.
///
/// `config.yaml` is read at the first use and kept. Only a workspace opens stores (see [`open`](crate::open)).
pub struct Workspace {
    flags: Flags,
    environment: Environment,
    terminal: Terminal,
    file: OnceLock<Option<ConfigFile>>,
    settings: OnceLock<Arc<Settings>>,
    url: OnceLock<StoreUrl>,
    index_at_close: Option<MakeIndexAtClose>,
    config_reads: AtomicU64,
    store_opens: AtomicU64,
}

/// How often a workspace accessed the disk or a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Reads of `config.yaml`.
    pub config_reads: u64,
    /// Stores that were opened, including failed attempts.
    pub store_opens: u64,
}

/// A URL that an argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedUrl {
    /// The URL.
    pub url: StoreUrl,
    /// Whether the URL itself was typed, so that others on the machine can read its password.
    pub is_typed: bool,
}

impl Workspace {
    /// Returns a workspace that has read nothing yet.
    pub const fn new(flags: Flags, environment: Environment) -> Self {
        Self {
            flags,
            environment,
            terminal: Terminal::UNKNOWN,
            file: OnceLock::new(),
            settings: OnceLock::new(),
            url: OnceLock::new(),
            index_at_close: None,
            config_reads: AtomicU64::new(0),
            store_opens: AtomicU64::new(0),
        }
    }

    /// Returns a workspace with other flags, which may lead to another `config.yaml`.
    pub fn with_flags(&self, flags: Flags) -> Self {
        Self {
            index_at_close: self.index_at_close.clone(),
            terminal: self.terminal.clone(),
            ..Self::new(flags, self.environment.clone())
        }
    }

    /// Returns the same workspace at a terminal, which has numbered lists of its own.
    #[must_use]
    pub fn at_terminal(mut self, terminal: Terminal) -> Self {
        self.terminal = terminal;
        self
    }

    pub(crate) const fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// Returns the same workspace, whose stores index their backlog when they are closed: for processes that end soon.
    #[must_use]
    pub fn indexing_at_close(mut self, make: impl Fn() -> IndexAtClose + Send + Sync + 'static) -> Self {
        self.index_at_close = Some(Arc::new(make));
        self
    }

    pub(crate) fn index_at_close(&self) -> Option<IndexAtClose> {
        self.index_at_close.as_ref().map(|make| make())
    }

    /// Returns the flags of the command line.
    pub const fn flags(&self) -> &Flags {
        &self.flags
    }

    /// Returns the environment of the process.
    pub const fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Returns how often `config.yaml` was read and a store opened.
    pub fn activity(&self) -> Activity {
        Activity {
            config_reads: self.config_reads.load(Ordering::Relaxed),
            store_opens: self.store_opens.load(Ordering::Relaxed),
        }
    }

    pub(crate) fn count_open(&self) {
        self.store_opens.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns `config.yaml`, or `None` if there is none.
    ///
    /// # Errors
    /// If there is no home folder, or the file can't be read.
    pub fn config_file(&self) -> Result<Option<&ConfigFile>, ConfigError> {
        if let Some(file) = self.file.get() {
            return Ok(file.as_ref());
        }
        let home = hermes_config::home(&self.flags, &self.environment)?;
        self.config_reads.fetch_add(1, Ordering::Relaxed);
        let file = ConfigFile::read(&home.value)?;
        Ok(self.file.get_or_init(|| file).as_ref())
    }

    /// Returns every setting, from the command line, the environment and the file.
    ///
    /// # Errors
    /// If a setting can't be used.
    pub fn settings(&self) -> Result<Arc<Settings>, AppError> {
        if let Some(settings) = self.settings.get() {
            return Ok(Arc::clone(settings));
        }
        let settings = Arc::new(hermes_config::resolve(&self.flags, &self.environment, self.config_file()?)?);
        Ok(Arc::clone(self.settings.get_or_init(|| settings)))
    }

    /// Returns the URL of the configured store.
    ///
    /// # Errors
    /// If a setting can't be used, or is not a URL.
    pub fn url(&self) -> Result<&StoreUrl, AppError> {
        match self.url.get() {
            Some(url) => Ok(url),
            None => {
                let url = self.url_of(&*self.settings()?)?;
                Ok(self.url.get_or_init(|| url))
            }
        }
    }

    /// Returns the URL of the store that these settings name.
    ///
    /// # Errors
    /// If it is missing or not a URL.
    pub fn url_of(&self, settings: &Settings) -> Result<StoreUrl, AppError> {
        let location = settings.store()?;
        match &location.value {
            StoreLocation::Sqlite(path) => Ok(StoreUrl::Sqlite(path.clone())),
            StoreLocation::Url(url) => self.parse_url(url.reveal(), UrlOrigin::Setting(location.origin)),
        }
    }

    /// Returns whether the URL of the configured store holds a password and was given on the command line, where others
    /// can read it.
    ///
    /// # Errors
    /// As [`Workspace::url`].
    pub fn is_password_typed(&self) -> Result<bool, AppError> {
        Ok(self.settings()?.store()?.origin == Origin::Flag && self.url()?.holds_password())
    }

    /// Parses `config` for the configured store, `env:NAME` for the value of a variable, a URL or a path.
    ///
    /// # Errors
    /// If the variable is not set, or the text is not a URL.
    pub fn named_url(&self, text: &str) -> Result<NamedUrl, AppError> {
        let text = text.trim();
        if text == "config" {
            return Ok(NamedUrl { url: self.url()?.clone(), is_typed: false });
        }
        let Some(name) = text.strip_prefix("env:") else {
            return Ok(NamedUrl { url: self.parse_url(text, UrlOrigin::Argument)?, is_typed: true });
        };
        let value = self.environment.raw(name).and_then(|value| value.to_str()).map(str::trim);
        let value = value.filter(|value| !value.is_empty()).ok_or_else(|| AppError::Unset { name: name.to_owned() })?;
        Ok(NamedUrl { url: self.parse_url(value, UrlOrigin::Variable(name.to_owned()))?, is_typed: false })
    }

    /// Parses a URL.
    ///
    /// # Errors
    /// If it is not a URL.
    pub fn parse_url(&self, text: &str, origin: UrlOrigin) -> Result<StoreUrl, AppError> {
        StoreUrl::parse(text, self.environment.user_home()).map_err(|invalid| AppError::Url { invalid, origin })
    }

    /// Returns the transcript files of the configured store, or `None` if those of the home folder belong to another
    /// one.
    ///
    /// # Errors
    /// As [`Workspace::url`].
    pub fn transcripts(&self) -> Result<Option<Transcripts>, AppError> {
        Ok(Transcripts::of(&*self.settings()?, self.url()?))
    }

    /// Returns the configured options for opening a store of any kind. Access and adoption are added when it is opened.
    ///
    /// # Errors
    /// If a setting can't be used.
    pub fn open_options(&self) -> Result<OpenOptions, AppError> {
        self.open_options_of(&*self.settings()?)
    }

    /// Returns the options that these settings give for opening a store.
    ///
    /// # Errors
    /// If the replica is not a PostgreSQL server.
    pub fn open_options_of(&self, settings: &Settings) -> Result<OpenOptions, AppError> {
        let db = &settings.sessiondb;
        let (sqlite, postgresql) = (&db.sqlite, &db.postgresql);
        let connections = postgresql.pool_size.value.saturating_add(postgresql.max_overflow.value);
        let replica = match &postgresql.replica_dsn {
            Some(dsn) => match self.parse_url(dsn.value.reveal(), UrlOrigin::Setting(dsn.origin.clone()))? {
                StoreUrl::Postgresql(server) => Some(server),
                StoreUrl::Sqlite(_) | StoreUrl::Mysql(_) => {
                    return Err(AppError::Replica { origin: dsn.origin.clone() });
                }
            },
            None => None,
        };
        Ok(OpenOptions {
            wait: sqlite.wait_seconds.value,
            synchronous: synchronous(sqlite.synchronous.value),
            postgresql: PostgresSettings {
                most_connections: u32::try_from(connections).unwrap_or(u32::MAX),
                statement_timeout: Some(postgresql.statement_timeout.value)
                    .filter(|milliseconds| *milliseconds > 0)
                    .map(Duration::from_millis),
                schema: postgresql.schema.as_ref().map(|schema| schema.value.clone()),
                replica,
                ..PostgresSettings::default()
            },
            mysql: MysqlSettings {
                most_connections: u32::try_from(db.mysql.pool_size.value).unwrap_or(u32::MAX),
                ..MysqlSettings::default()
            },
            ..OpenOptions::default()
        })
    }

    /// Returns whether a store may only be read, according to the command line or, for a file, the configuration.
    ///
    /// # Errors
    /// If a setting can't be used.
    pub fn is_read_only(&self, url: &StoreUrl) -> Result<bool, AppError> {
        let key = &self.settings()?.sessiondb.sqlite.read_only;
        Ok(key.value && (key.origin == Origin::Flag || url.file().is_some()))
    }

    /// Refuses to write to a read-only store.
    ///
    /// # Errors
    /// [`AppError::ReadOnly`] if it is.
    pub fn check_writable(&self, url: &StoreUrl) -> Result<(), AppError> {
        match self.is_read_only(url)? {
            true => Err(AppError::ReadOnly { origin: self.settings()?.sessiondb.sqlite.read_only.origin.clone() }),
            false => Ok(()),
        }
    }
}

/// Refuses a file that does not exist: only operations that create stores may create one.
///
/// # Errors
/// [`AppError::NoStore`] if there is no such file.
pub fn must_exist(path: &Path) -> Result<(), AppError> {
    // Any other problem with the path is reported when it is opened.
    if path.try_exists().unwrap_or(true) || path.is_symlink() {
        return Ok(());
    }
    Err(AppError::NoStore { path: std::path::absolute(path).unwrap_or_else(|_| path.to_owned()) })
}

/// Returns the configured level. The store syncs the folder entry of the WAL anyway, so `extra` adds nothing to `full`.
const fn synchronous(configured: hermes_config::Synchronous) -> Synchronous {
    match configured {
        hermes_config::Synchronous::Extra | hermes_config::Synchronous::Full => Synchronous::Full,
        hermes_config::Synchronous::Normal => Synchronous::Normal,
    }
}
