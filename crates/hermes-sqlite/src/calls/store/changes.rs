//! The feed of changes.

use super::SqliteStore;
use crate::calls::changes;
use crate::write::database::Database;
use async_trait::async_trait;
use hermes_session::live::{ChangeMark, Changes};
use hermes_session::{ChangeStore, StoreError};

#[async_trait]
impl ChangeStore for SqliteStore {
    async fn changes(&self, after: Option<&ChangeMark>) -> Result<Changes, StoreError> {
        const OP: &str = "follow changes";
        let after = after.cloned();
        let mark = after.clone();
        let work = move |database: &Database| changes::since(database, mark.as_ref());
        match self.workers.read_short(OP, work).await? {
            Some(changes) => Ok(changes),
            None => self.workers.write(OP, move |database| changes::start(database, after.as_ref())).await,
        }
    }
}
