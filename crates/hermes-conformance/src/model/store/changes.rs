//! The feed of changes.

use super::super::ModelStore;
use async_trait::async_trait;
use hermes_session::live::{ChangeMark, Changes};
use hermes_session::{ChangeStore, StoreError};

#[async_trait]
impl ChangeStore for ModelStore {
    async fn changes(&self, after: Option<&ChangeMark>) -> Result<Changes, StoreError> {
        Ok(self.state().changes_after(after))
    }
}
