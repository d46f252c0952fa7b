//! Opens stores. A command says here whether it reads or writes; clippy.toml keeps every other place from opening one.

use super::Context;
use crate::error::{CliError, Kind};
use crate::stop;
use crate::ui::Ui;
use hermes_config::{Origin, Settings};
use hermes_session::Store;
use hermes_store::{Adopt, IndexAtClose, OpenOptions, StoreUrl};
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

/// What a command does with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reads a store that exists. A file is opened read-only and is not adopted, and the tables of a server are not migrated.
    Read,
    /// Writes to a store that exists. A file of an agent is adopted by the first write.
    Write,
    /// Writes to a store, and creates it if it does not exist.
    Create,
}

/// An open store. What there is to report about it is printed when it is opened, and once more when it is closed: a file may be adopted by the first
/// write.
pub(crate) struct OpenStore {
    store: Arc<dyn Store>,
    /// How many of its notices are printed.
    printed: usize,
    /// Prints the others; `None` for a store that nobody is told of.
    ui: Option<Ui>,
}

impl OpenStore {
    const fn quiet(store: Arc<dyn Store>) -> Self {
        Self { store, printed: 0, ui: None }
    }

    /// The same, whose notices are printed when it is closed.
    pub(crate) fn reporting_when_closed(mut self, ui: &Ui) -> Self {
        self.ui = Some(ui.clone());
        self
    }

    /// Returns the store to share with a server, which serves it as long as this is kept.
    pub(crate) fn shared(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Prints the notices that were not printed yet.
    pub(crate) fn report(&mut self) {
        let notices = self.store.notices();
        if let Some(ui) = &self.ui {
            notices.iter().skip(self.printed).for_each(|notice| ui.note(notice));
        }
        self.printed = notices.len();
    }
}

impl Deref for OpenStore {
    type Target = dyn Store;
    fn deref(&self) -> &Self::Target {
        &*self.store
    }
}

impl Drop for OpenStore {
    fn drop(&mut self) {
        self.report();
    }
}

/// The configured store.
pub(crate) struct Opened {
    pub(crate) store: OpenStore,
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
    ) -> Result<OpenStore, CliError> {
        let mut store = self.open_quietly(settings, url, access).await?.reporting_when_closed(&self.ui);
        store.report();
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
    ) -> Result<OpenStore, CliError> {
        self.open_adopting(settings, url, access, Adopt::OnFirstWrite).await
    }

    /// Opens a store as the settings say, adopts a file when `adopt` says, and prints no notices.
    ///
    /// # Errors
    /// As [`Context::open_with`].
    pub(crate) async fn open_adopting(
        &self,
        settings: &Settings,
        url: &StoreUrl,
        access: Access,
        adopt: Adopt,
    ) -> Result<OpenStore, CliError> {
        if access != Access::Read {
            self.check_writable(settings, url)?;
        }
        let options = OpenOptions { adopt, ..self.open_options(settings)? };
        Ok(OpenStore::quiet(self.open_with(url, access, options).await?))
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
        let index_at_close = (access != Access::Read).then(|| self.index_at_close());
        let options = OpenOptions {
            create: access == Access::Create,
            read_only: access == Access::Read,
            index_at_close,
            ..options
        };
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        Ok(hermes_store::open(url, &options).await?)
    }

    /// Shows how far the indexing is that a command does before it ends: an agent that searches the file finds only messages that are indexed.
    /// It ends as well when a signal asks the command to stop.
    fn index_at_close(&self) -> IndexAtClose {
        let bar = self.ui.progress();
        IndexAtClose::new(move |done, total| {
            bar.show("indexing messages", done, total);
            !stop::is_asked()
        })
    }

    /// Opens a store in a temporary folder, for a rehearsal. `--read-only` does not concern it.
    ///
    /// # Errors
    /// If it can't be made.
    pub(crate) async fn open_elsewhere(&self, url: &StoreUrl) -> Result<OpenStore, CliError> {
        #[expect(clippy::disallowed_methods, reason = "this is the one place")]
        Ok(OpenStore::quiet(hermes_store::open(url, &OpenOptions::default()).await?))
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
