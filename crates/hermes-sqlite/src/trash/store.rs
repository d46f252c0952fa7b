//! The calls of the contract about the trash, each a few jobs.

use super::{Restoring, abandon, empty, find, finish, list, prepare, sweep};
use crate::database::Database;
use crate::{SqliteStore, deletion};
use async_trait::async_trait;
use hermes_session::{
    Conflict, Deleted, Emptying, Request, Restored, SessionId, StoreError, Timestamp, TrashStore, Trashed,
};

#[async_trait]
impl TrashStore for SqliteStore {
    async fn trash_chain(&self, id: &SessionId, until: Timestamp, request: &Request) -> Result<Deleted, StoreError> {
        let (id, request) = (id.clone(), request.clone());
        let work = move |database: &Database| deletion::begin_in_trash(database, &id, until, &request);
        let (deleted, is_over) = self.workers.write("move a conversation to the trash", work).await?;
        if !is_over {
            self.finish_deletions().await;
        }
        Ok(deleted)
    }

    async fn trash(&self, older_than: Option<&Trashed>, limit: u32) -> Result<Vec<Trashed>, StoreError> {
        let older_than = older_than.map(|entry| entry.number);
        self.workers.read("read the trash", move |database| list(database, older_than, limit)).await
    }

    async fn trashed(&self, id: &SessionId) -> Result<Option<(Trashed, Vec<SessionId>)>, StoreError> {
        let id = id.clone();
        self.workers.read_short("read the trash", move |database| find(database, &id)).await
    }

    async fn restore(&self, id: &SessionId, request: &Request) -> Result<Restored, StoreError> {
        const OP: &str = "restore a conversation";
        loop {
            let (of, by) = (id.clone(), request.clone());
            let step = self.workers.write(OP, move |database| prepare(database, &of, &by)).await;
            match step {
                Ok(Restoring::Under) => continue,
                Ok(Restoring::Ready) => {}
                Err(error) => {
                    if matches!(error, StoreError::Conflict(Conflict::Exists(_))) {
                        // Nobody continues with the copied rows; if this fails, they stay hidden.
                        let of = id.clone();
                        if self.workers.write(OP, move |database| abandon(database, &of)).await.is_err() {
                            tracing::warn!(session = id.as_str(), "rows of an abandoned restore not removed");
                        }
                    }
                    return Err(error);
                }
            }
            let (of, by) = (id.clone(), request.clone());
            if let Some(restored) = self.workers.write(OP, move |database| finish(database, &of, &by)).await? {
                self.finish_sweeping().await;
                return Ok(restored);
            }
        }
    }

    async fn empty_trash(&self, which: &Emptying) -> Result<Vec<Trashed>, StoreError> {
        let which = which.clone();
        let gone = self.workers.write("empty the trash", move |database| empty(database, &which)).await?;
        self.finish_deletions().await;
        self.finish_sweeping().await;
        Ok(gone)
    }
}

impl SqliteStore {
    /// Takes away what is left of what is gone from the trash. It is gone whatever comes of it: what fails here is upkeep's.
    async fn finish_sweeping(&self) {
        while let Ok(true) = self.workers.write("empty the trash", sweep).await {}
    }
}
