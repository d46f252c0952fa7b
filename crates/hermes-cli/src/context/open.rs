//! Opens stores. A command says here whether it reads or writes; clippy.toml keeps every other place from opening one.

use super::Context;
use crate::error::{CliError, Kind};
use hermes_config::{Origin, Settings};
use hermes_session::Store;
use hermes_store::{OpenOptions, StoreUrl};
use std::path::Path;
use std::sync::Arc;

/// What a command does with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads a store that exists. A file is opened read-only and is not adopted, and the tables of a server are not migrated.
    Read,
    /// Writes to a store that exists.
    Write,
    /// Writes to a store, and creates it if it does not exist.
    Create,
}

/// The configured store.
pub(crate) struct Opened {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) url: StoreUrl,
    pub(crate) settings: Settings,
}

impl Context {
    /// Opens the configured store for a command that changes nothing.
    ///
    /// # Errors
    /// If it does not exist or can't be opened.
    pub(crate) async fn open_for_reading(&self) -> Result<Opened, CliError> {
        self.open_configured(Access::Read).await
    }

    /// Opens the configured store for a command that changes it.
    ///
    /// # Errors
    /// If it does not exist or can't be opened, or is to be read only.
    pub(crate) async fn open_for_writing(&self) -> Result<Opened, CliError> {
        self.open_configured(Access::Write).await
    }

    async fn open_configured(&self, access: Access) -> Result<Opened, CliError> {
        let settings = self.settings()?;
        let url = self.configured_url(&settings)?;
        self.warn_of_password(&url, &settings.store()?.origin);
        let store = self.open(&settings, &url, access).await?;
        Ok(Opened { store, url, settings })
    }

    /// Opens a store as the settings say and prints its notices.
    ///
    /// # Errors
    /// As [`Context::open_with`].
    pub(crate) async fn open(
        &self,
        settings: &Settings,
        url: &StoreUrl,
        access: Access,
    ) -> Result<Arc<dyn Store>, CliError> {
        let store = self.open_quietly(settings, url, access).await?;
        store.notices().iter().for_each(|notice| self.ui.note(notice));
        Ok(store)
    }

    /// Opens a store as the settings say, without printing its notices: they were printed before, or nobody asked.
    ///
    /// # Errors
    /// As [`Context::open_with`].
    pub(crate) async fn open_quietly(
        &self,
        settings: &Settings,
        url: &StoreUrl,
        access: Access,
    ) -> Result<Arc<dyn Store>, CliError> {
        if access != Access::Read {
            self.check_writable(settings, url)?;
        }
        self.open_with(url, access, self.open_options(settings)?).await
    }

    /// Opens a store with these options, apart from what `access` decides.
    ///
    /// # Errors
    /// If it does not exist or can't be opened, or `--read-only` was given and it is to be written.
    pub(crate) async fn open_with(
        &self,
        url: &StoreUrl,
        access: Access,
        options: OpenOptions,
    ) -> Result<Arc<dyn Store>, CliError> {
        if access != Access::Read && self.flags.read_only {
            return Err(read_only(&Origin::Flag));
        }
        if let (Some(path), Access::Read | Access::Write) = (url.file(), access) {
            must_be_there(path)?;
        }
        let options = OpenOptions { create: access == Access::Create, read_only: access == Access::Read, ..options };
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        Ok(hermes_store::open(url, &options).await?)
    }

    /// Opens a store in a temporary folder, for a rehearsal. `--read-only` does not concern it.
    ///
    /// # Errors
    /// If it can't be made.
    pub(crate) async fn open_elsewhere(&self, url: &StoreUrl) -> Result<Arc<dyn Store>, CliError> {
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        Ok(hermes_store::open(url, &OpenOptions::default()).await?)
    }

    /// Refuses if the command line or the configuration says that this store is only read.
    ///
    /// # Errors
    /// If it is only read.
    pub(crate) fn check_writable(&self, settings: &Settings, url: &StoreUrl) -> Result<(), CliError> {
        match self.is_read_only(settings, url) {
            true => Err(read_only(&settings.sessiondb.sqlite.read_only.origin)),
            false => Ok(()),
        }
    }

    /// Returns whether the command line, or for a file the configuration, says that the store is only read.
    pub(crate) fn is_read_only(&self, settings: &Settings, url: &StoreUrl) -> bool {
        let key = &settings.sessiondb.sqlite.read_only;
        key.value && (key.origin == Origin::Flag || url.file().is_some())
    }
}

fn read_only(origin: &Origin) -> CliError {
    match origin {
        Origin::Flag => CliError::new(
            Kind::User,
            "this command writes to the store, and --read-only forbids it",
            "leave --read-only out",
        ),
        origin => CliError::new(
            Kind::User,
            format!("this command writes to the store, which is read-only, set by {origin}"),
            "set sessiondb.sqlite.read_only to false to let commands write",
        ),
    }
}

/// Refuses a file that does not exist: only what creates stores may create one.
///
/// # Errors
/// If there is no such file.
pub(crate) fn must_be_there(path: &Path) -> Result<(), CliError> {
    // Whatever else is wrong with the path, opening it tells better.
    if path.try_exists().unwrap_or(true) || path.is_symlink() {
        return Ok(());
    }
    let hint = "`hermes demo` makes one to look at; --home, --url and HERMES_HOME say where else to look";
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    Err(CliError::new(Kind::User, format!("there is no session store at {}", place.display()), hint))
}
