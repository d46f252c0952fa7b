//! Opens stores and prints their notices.

use super::{Access, Context};
use crate::error::CliError;
use crate::ui::Ui;
use hermes_app::Transcripts;
use hermes_config::Settings;
use hermes_session::Store;
use hermes_store::{Adopt, OpenOptions, StoreUrl};
use std::ops::Deref;
use std::sync::Arc;

/// An open store. Its notices are printed when it is opened, and again when it is closed: the first write may adopt a
/// file.
pub(crate) struct OpenStore {
    store: hermes_app::OpenStore,
    /// Prints the notices; `None` for a store whose notices nobody asked for.
    ui: Option<Ui>,
}

impl OpenStore {
    /// Wraps a store whose notices are not printed.
    pub(crate) const fn quiet(store: hermes_app::OpenStore) -> Self {
        Self { store, ui: None }
    }

    /// Prints the store's notices when it is closed.
    pub(crate) fn reporting_when_closed(mut self, ui: &Ui) -> Self {
        self.ui = Some(ui.clone());
        self
    }

    /// Returns the store to share with a server. It stays open as long as `self` is kept.
    pub(crate) fn shared(&self) -> Arc<dyn Store> {
        self.store.shared()
    }

    /// Prints the notices that were not printed yet.
    pub(crate) fn report(&mut self) {
        let notices = self.store.take_notices();
        if let Some(ui) = &self.ui {
            notices.iter().for_each(|notice| ui.note(notice));
        }
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
    pub(crate) settings: Arc<Settings>,
}

impl Opened {
    /// Returns the transcript files of the store, or `None` if those of the home folder belong to another one.
    pub(crate) fn transcripts(&self) -> Option<Transcripts> {
        Transcripts::of(&self.settings, &self.url)
    }
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
    /// If it does not exist or can't be opened, or is read-only.
    pub(crate) async fn open_for_writing(&self) -> Result<Opened, CliError> {
        self.open_configured(Access::Write).await
    }

    async fn open_configured(&self, access: Access) -> Result<Opened, CliError> {
        self.warn_of_typed_password()?;
        let opened = self.workspace.open(access).await?;
        let mut store = OpenStore::quiet(opened.store).reporting_when_closed(&self.ui);
        store.report();
        Ok(Opened { store, url: opened.url, settings: opened.settings })
    }

    /// Opens a store as the settings say, without printing its notices: they were printed before, or nobody asked.
    ///
    /// # Errors
    /// If it does not exist or can't be opened, or is to be written and is read-only.
    pub(crate) async fn open_quietly(&self, url: &StoreUrl, access: Access) -> Result<OpenStore, CliError> {
        self.open_adopting(url, access, Adopt::OnFirstWrite).await
    }

    /// Opens a store as the settings say, adopts a file when `adopt` says, and prints no notices.
    ///
    /// # Errors
    /// As [`Context::open_quietly`].
    pub(crate) async fn open_adopting(
        &self,
        url: &StoreUrl,
        access: Access,
        adopt: Adopt,
    ) -> Result<OpenStore, CliError> {
        Ok(OpenStore::quiet(self.workspace.open_url(url, access, adopt).await?))
    }

    /// Opens a store with these options, apart from what `access` decides, and prints no notices.
    ///
    /// # Errors
    /// As [`Context::open_quietly`].
    pub(crate) async fn open_with(
        &self,
        url: &StoreUrl,
        access: Access,
        options: OpenOptions,
    ) -> Result<OpenStore, CliError> {
        Ok(OpenStore::quiet(self.workspace.open_with(url, access, options).await?))
    }
}
