//! What every command gets: the settings, the time, a way to print and a way to the store.

mod open;

pub(crate) use open::{Access, OpenStore, Opened, must_be_there};

use crate::error::{CliError, Kind};
use crate::ui::Ui;
use hermes_config::{ConfigFile, Environment, Flags, Origin, Secret, Settings, StoreLocation, env};
use hermes_store::{MysqlSettings, OpenOptions, PostgresSettings, StoreUrl, Synchronous};
use hermes_terminal::shell::shell_word;
use hermes_terminal::time::Now;
use std::time::Duration;

/// What every command gets.
pub(crate) struct Context {
    pub(crate) flags: Flags,
    pub(crate) environment: Environment,
    pub(crate) ui: Ui,
    pub(crate) now: Now,
}

impl Context {
    /// Every setting, from the command line, the environment and the file.
    pub(crate) fn settings(&self) -> Result<Settings, CliError> {
        let home = hermes_config::home(&self.flags, &self.environment)?;
        let file = ConfigFile::read(&home.value)?;
        Ok(hermes_config::resolve(&self.flags, &self.environment, file.as_ref())?)
    }

    /// The same, as if the command line had said something else about where sessions are.
    pub(crate) fn with_flags(&self, flags: Flags) -> Self {
        Self { flags, environment: self.environment.clone(), ui: self.ui.clone(), now: self.now.clone() }
    }

    /// Where the configured store is.
    pub(crate) fn configured_url(&self, settings: &Settings) -> Result<StoreUrl, CliError> {
        let location = settings.store()?;
        match &location.value {
            StoreLocation::Sqlite(path) => Ok(StoreUrl::Sqlite(path.clone())),
            StoreLocation::Url(url) => self.read_url(url.reveal(), &location.origin),
        }
    }

    /// Returns how the settings say that a store is opened, whichever it is. What a command does with it is added by [`open`].
    pub(crate) fn open_options(&self, settings: &Settings) -> Result<OpenOptions, CliError> {
        let db = &settings.sessiondb;
        let (sqlite, postgresql) = (&db.sqlite, &db.postgresql);
        let connections = postgresql.pool_size.value.saturating_add(postgresql.max_overflow.value);
        let replica = match &postgresql.replica_dsn {
            Some(dsn) => match self.read_url(dsn.value.reveal(), &dsn.origin)? {
                StoreUrl::Postgresql(server) => Some(server),
                StoreUrl::Sqlite(_) | StoreUrl::Mysql(_) => {
                    let hint = format!("write postgresql://user@host/database (it is from {})", dsn.origin);
                    return Err(CliError::new(Kind::User, "the replica of PostgreSQL is no PostgreSQL server", hint));
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

    /// What the command line says about where the store is, to be said again.
    pub(crate) fn place(&self) -> String {
        let home = self.flags.home.as_ref().map(|home| format!(" --home {}", shell_word(&home.display().to_string())));
        let url = self.flags.url.as_ref().map(|url| match self.url_to_repeat(url) {
            Some(url) => format!(" --url {}", shell_word(&url)),
            None => " --url …".to_owned(),
        });
        home.into_iter().chain(url).collect()
    }

    /// A URL to be shown; none if it can't be typed back, because it holds a password.
    fn url_to_repeat(&self, url: &Secret) -> Option<String> {
        let parsed = StoreUrl::parse(url.reveal(), self.environment.user_home()).ok()?;
        (!parsed.holds_password()).then(|| url.reveal().to_owned())
    }

    /// Reads a URL; warns about a password where others can see it.
    pub(crate) fn store_url(&self, text: &str, origin: &Origin) -> Result<StoreUrl, CliError> {
        let url = self.read_url(text, origin)?;
        self.warn_of_password(&url, origin);
        Ok(url)
    }

    fn read_url(&self, text: &str, origin: &Origin) -> Result<StoreUrl, CliError> {
        StoreUrl::parse(text, self.environment.user_home()).map_err(|invalid| {
            let hint = format!("{} (the URL is from {origin})", invalid.hint);
            let kind = if *origin == Origin::Flag { Kind::Usage } else { Kind::User };
            CliError::new(kind, invalid, hint)
        })
    }

    /// Warns about a password in `--url`, which others on this machine can see.
    pub(crate) fn warn_of_password(&self, url: &StoreUrl, origin: &Origin) {
        if *origin == Origin::Flag && url.holds_password() {
            let hint = format!("set {} instead", env::HERMES_SESSIONDB_URL);
            self.ui.warn("others on this machine can see the password in --url", &hint);
        }
    }
}

/// What the configuration asks for. The store brings a log's entry in its folder to disk anyway, so that `extra` asks for no more than `full`.
const fn synchronous(configured: hermes_config::Synchronous) -> Synchronous {
    match configured {
        hermes_config::Synchronous::Extra | hermes_config::Synchronous::Full => Synchronous::Full,
        hermes_config::Synchronous::Normal => Synchronous::Normal,
    }
}
