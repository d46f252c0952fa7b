//! Opens stores. A program says here whether it reads or writes; `clippy.toml` keeps every other crate from opening
//! one.

use crate::workspace::must_exist;
use crate::{AppError, Transcripts, Workspace};
use hermes_config::{Origin, Settings};
use hermes_session::Store;
use hermes_store::{Adopt, OpenOptions, StoreUrl};
use std::ops::Deref;
use std::sync::Arc;

/// Kind of access that a program needs to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads a store that exists. A file is opened read-only and is not adopted, and the tables of a server are not
    /// migrated.
    Read,
    /// Writes to a store that exists. A file of an agent is adopted by the first write.
    Write,
    /// Writes to a store, and creates it if it does not exist.
    Create,
}

/// An open store and the notices it has for a person. More notices come later: a file may be adopted by the first
/// write.
pub struct OpenStore {
    store: Arc<dyn Store>,
    /// How many notices were taken.
    taken: usize,
    /// The temporary folder of a store that stands in for another one; removed after the store is closed.
    _folder: Option<tempfile::TempDir>,
}

impl OpenStore {
    fn new(store: Arc<dyn Store>) -> Self {
        Self { store, taken: 0, _folder: None }
    }

    /// Returns the store to share with a server.
    pub fn shared(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store)
    }

    /// Returns the notices that were not returned before.
    pub fn take_notices(&mut self) -> Vec<String> {
        let notices = self.store.notices();
        let new = notices.iter().skip(self.taken).cloned().collect();
        self.taken = notices.len();
        new
    }
}

impl Deref for OpenStore {
    type Target = dyn Store;
    fn deref(&self) -> &Self::Target {
        &*self.store
    }
}

/// The configured store, with the settings and the URL it was opened with.
pub struct Opened {
    /// The store.
    pub store: OpenStore,
    /// The URL of the store.
    pub url: StoreUrl,
    /// The settings.
    pub settings: Arc<Settings>,
}

impl Opened {
    /// Returns the transcript files of the store, or `None` if those of the home folder belong to another one.
    pub fn transcripts(&self) -> Option<Transcripts> {
        Transcripts::of(&self.settings, &self.url)
    }
}

/// A store to be filled, or an empty one in its place for a rehearsal.
pub struct Target {
    /// The store.
    pub store: OpenStore,
    /// Whether the file did not exist before.
    pub is_new: bool,
}

impl Workspace {
    /// Opens the configured store.
    ///
    /// # Errors
    /// If it does not exist, can't be opened, or is to be written and is read-only.
    pub async fn open(&self, access: Access) -> Result<Opened, AppError> {
        let (settings, url) = (self.settings()?, self.url()?.clone());
        let store = self.open_url(&url, access, Adopt::OnFirstWrite).await?;
        Ok(Opened { store, url, settings })
    }

    /// Opens a store as configured. `adopt` says when a file is adopted.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub async fn open_url(&self, url: &StoreUrl, access: Access, adopt: Adopt) -> Result<OpenStore, AppError> {
        if access != Access::Read {
            self.check_writable(url)?;
        }
        let options = OpenOptions { adopt, ..self.open_options()? };
        self.open_with(url, access, options).await
    }

    /// Opens a store with these options; `access` decides the rest. Settings are not consulted, but `--read-only`
    /// counts.
    ///
    /// # Errors
    /// As [`Workspace::open`].
    pub async fn open_with(&self, url: &StoreUrl, access: Access, options: OpenOptions) -> Result<OpenStore, AppError> {
        if access != Access::Read && self.flags().read_only {
            return Err(AppError::ReadOnly { origin: Origin::Flag });
        }
        if let (Some(path), Access::Read | Access::Write) = (url.file(), access) {
            must_exist(path)?;
        }
        let options = OpenOptions {
            create: access == Access::Create,
            read_only: access == Access::Read,
            // A process that ends soon may have adopted an old file, or appended: an agent that searches it finds only
            // indexed messages.
            index_at_close: self.index_at_close().filter(|_| access != Access::Read),
            ..options
        };
        self.count_open();
        #[expect(clippy::disallowed_methods, reason = "the one place that opens stores")]
        Ok(OpenStore::new(hermes_store::open(url, &options).await?))
    }

    /// Opens a store to be filled, and creates it. For a rehearsal it is only read, and if the file does not exist, an
    /// empty store in a temporary folder takes its place.
    ///
    /// # Errors
    /// As [`Workspace::open`]; if no temporary folder can be made.
    pub async fn open_target(&self, url: &StoreUrl, is_rehearsal: bool) -> Result<Target, AppError> {
        let is_new = url.file().is_some_and(|path| !path.try_exists().unwrap_or(true));
        if is_new && is_rehearsal {
            let folder = tempfile::tempdir().map_err(AppError::TemporaryFolder)?;
            let elsewhere = StoreUrl::Sqlite(folder.path().join("state.db"));
            self.count_open();
            #[expect(clippy::disallowed_methods, reason = "the one place that opens stores")]
            let store = hermes_store::open(&elsewhere, &OpenOptions::default()).await?;
            return Ok(Target { store: OpenStore { _folder: Some(folder), ..OpenStore::new(store) }, is_new });
        }
        let access = if is_rehearsal { Access::Read } else { Access::Create };
        let store = self.open_url(url, access, Adopt::OnFirstWrite).await?;
        Ok(Target { store, is_new })
    }
}
