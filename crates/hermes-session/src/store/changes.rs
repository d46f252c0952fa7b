//! The feed of changes.

use crate::live::{ChangeMark, Changes};
use crate::{ConversationStore, StoreError};
use async_trait::async_trait;

/// The feed of changes, for readers that follow conversations.
#[async_trait]
pub trait ChangeStore: ConversationStore {
    /// Returns the sessions that changed since a mark, foreign writers included. None is skipped, and each change is
    /// reported within a second of its commit. Without a mark only the mark of now is returned. Renewing a lease, mail
    /// and holds are no changes of sessions.
    ///
    /// In a file, the first call without a mark starts the recording of changes; a store that is open for reading only
    /// records nothing.
    ///
    /// # Errors
    /// [`StoreError::ReadOnly`] if recording would have to start and the store can't be written.
    //  Cases: changes::every_change_is_reported, changes::nothing_new_is_empty, changes::none_is_skipped_under_load,
    //         changes::an_unknown_mark_starts_again
    async fn changes(&self, after: Option<&ChangeMark>) -> Result<Changes, StoreError>;
}
