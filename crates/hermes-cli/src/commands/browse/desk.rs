//! What the picker's work needs: the settings, and the store, which is opened for writing only once something is to be changed.

use crate::context::{Access, Context, OpenStore, Opened};
use crate::error::CliError;
use hermes_app::Transcripts;
use hermes_session::SessionFilter;
use hermes_store::StoreUrl;
use std::time::Duration;
use tokio::sync::OnceCell;

/// What is needed to do anything.
pub(super) struct Desk {
    pub(super) context: Context,
    reading: OpenStore,
    /// Set by the first change.
    writing: OnceCell<OpenStore>,
    pub(super) url: StoreUrl,
    pub(super) transcripts: Option<Transcripts>,
    /// How long what is deleted can come back.
    pub(super) trash_days: u64,
    pub(super) filter: SessionFilter,
    /// How long a search may take.
    pub(super) timeout: Duration,
}

impl Desk {
    /// Starts with a store that is open for reading.
    pub(super) fn new(context: &Context, opened: Opened, filter: SessionFilter) -> Self {
        let transcripts = opened.transcripts();
        let Opened { store, url, settings } = opened;
        Self {
            context: context.clone(),
            reading: store,
            writing: OnceCell::new(),
            transcripts,
            trash_days: settings.sessions.trash_days.value,
            timeout: Duration::from_millis(settings.search.timeout_ms.value),
            url,
            filter,
        }
    }

    /// Returns the store to read from: the one that changes go to once there was one, so that they are seen.
    pub(super) fn store(&self) -> &OpenStore {
        self.writing.get().unwrap_or(&self.reading)
    }

    /// Returns the store to change, and opens it for writing the first time. What there is to report about that is printed when the picker is left.
    ///
    /// # Errors
    /// If it can't be opened for writing, or is to be read only.
    pub(super) async fn for_writing(&self) -> Result<&OpenStore, CliError> {
        let open = async || {
            let store = self.context.open_quietly(&self.url, Access::Write).await?;
            Ok(store.reporting_when_closed(&self.context.ui))
        };
        self.writing.get_or_try_init(open).await
    }
}
