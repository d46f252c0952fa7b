//! The resume point of a transfer, stored in the target, so that another run can continue.

use crate::{SessionId, SessionStore, StoreError};
use serde::{Deserialize, Serialize};

/// The key that it is stored under. It is removed when the transfer is complete.
pub(super) const KEY: &str = "hx_transfer";

/// The progress of a transfer that is not complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    /// Location of the source, without passwords.
    pub(super) from: String,
    /// Whether the target may hold other sessions.
    pub(super) is_merge: bool,
    /// All sessions up to this one were handled.
    pub(super) after: Option<SessionId>,
}

impl Checkpoint {
    /// Reads the checkpoint of an unfinished transfer. Returns `None` if there is none or it cannot be parsed.
    pub(super) async fn read(target: &dyn SessionStore) -> Result<Option<Self>, StoreError> {
        Ok(target.meta(KEY).await?.and_then(|text| serde_json::from_str(&text).ok()))
    }

    pub(super) async fn write(&self, target: &dyn SessionStore) -> Result<(), StoreError> {
        let text = serde_json::to_string(self).unwrap_or_default();
        target.set_meta(KEY, Some(&text)).await
    }

    pub(super) async fn remove(target: &dyn SessionStore) -> Result<(), StoreError> {
        target.set_meta(KEY, None).await
    }
}
