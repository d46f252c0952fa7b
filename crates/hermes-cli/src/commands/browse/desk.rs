//! Resources of the picker: the settings, and the store, which is opened for writing only when something is changed.

use crate::context::{Access, Context, OpenStore, Opened};
use crate::error::CliError;
use hermes_app::Transcripts;
use hermes_session::SessionFilter;
use hermes_store::StoreUrl;
use std::time::Duration;
use tokio::sync::OnceCell;

/// The settings and the store that the picker's work uses.
pub(super) struct Desk {
    pub(super) context: Context,
    reading: OpenStore,
    /// Set by the first change.
    writing: OnceCell<OpenStore>,
    pub(super) url: StoreUrl,
    pub(super) transcripts: Option<Transcripts>,
    /// Days for which a deleted conversation can be restored.
    pub(super) trash_days: u64,
    pub(super) filter: SessionFilter,
    /// Time limit of a search.
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

    /// Returns the store to read from. After the first change it is the one that was written to, so that changes are
    /// visible.
    pub(super) fn store(&self) -> &OpenStore {
        self.writing.get().unwrap_or(&self.reading)
    }

    /// Returns the store to write to, opening it the first time. Its notices are printed when the picker is left.
    ///
    /// # Errors
    /// If it can't be opened for writing, or is read-only.
    pub(super) async fn for_writing(&self) -> Result<&OpenStore, CliError> {
        let open = async || {
            let store = self.context.open_quietly(&self.url, Access::Write).await?;
            Ok(store.reporting_when_closed(&self.context.ui))
        };
        self.writing.get_or_try_init(open).await
    }
}
