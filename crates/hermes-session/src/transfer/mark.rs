//! How far a transfer came, noted in the target, so that another one can go on there.

use crate::{SessionId, SessionStore, StoreError};
use serde::{Deserialize, Serialize};

/// Where it is kept; removed when the transfer is over.
pub(super) const KEY: &str = "hx_transfer";

/// A transfer that has not come to its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// Where the source is, without passwords.
    pub(super) from: String,
    /// Whether the target may hold other sessions.
    pub(super) is_merge: bool,
    /// All sessions up to this one were handled.
    pub(super) after: Option<SessionId>,
}

impl Mark {
    /// The mark of a transfer that did not end; one that nobody can read is none.
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
