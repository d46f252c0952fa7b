//! Conversations: lists, titles, pins and tags, deletion, trash, search.

use super::{SHORT, SqliteStore};
use crate::calls::trash::Restoring;
use crate::calls::{archive, deletion, lineage, listing, pins_and_tags, titles, trash};
use crate::care::fresh;
use crate::care::fresh::Decides;
use crate::search;
use crate::write::database::Database;
use async_trait::async_trait;
use hermes_session::search::{SearchAnswer, SearchRequest};
use hermes_session::{
    Conflict, ConversationStore, Counts, DeleteExtent, Deleted, Emptying, Lineage, ListRequest, Listing, Request,
    Restored, SessionFilter, SessionId, StoreError, Tag, Timestamp, Title, Titled, Trashed,
};

#[async_trait]
impl ConversationStore for SqliteStore {
    async fn list(&self, request: &ListRequest) -> Result<Listing, StoreError> {
        let request = request.clone();
        let limit = request.page.limit();
        let work = move |database: &Database| listing::list(database, &request);
        let (listing, has_stale_rows) = if limit <= SHORT {
            self.workers.read_short("list sessions", work).await?
        } else {
            self.workers.read("list sessions", work).await?
        };
        if has_stale_rows {
            // The list is right; storing the recomputed rows makes the next one faster.
            self.workers.nudge();
        }
        Ok(listing)
    }

    async fn counts(&self, filter: &SessionFilter) -> Result<Counts, StoreError> {
        let filter = filter.clone();
        self.workers.read("count sessions", move |database| listing::counts(database, &filter)).await
    }

    async fn lineage(&self, id: &SessionId) -> Result<Lineage, StoreError> {
        let id = id.clone();
        self.workers.read_short("read a lineage", move |database| lineage::read(database, &id)).await
    }

    async fn titled(&self, title: &str) -> Result<Vec<Titled>, StoreError> {
        let title = title.to_owned();
        self.workers.read_short("look up titles", move |database| titles::lineage_of(database, &title)).await
    }

    async fn set_title(&self, id: &SessionId, title: Option<&Title>, request: &Request) -> Result<(), StoreError> {
        let (id, title, request) = (id.clone(), title.cloned(), request.clone());
        self.workers.write("set a title", move |database| titles::set(database, &id, title.as_ref(), &request)).await
    }

    async fn allocate_title(&self, id: &SessionId, base: &Title, request: &Request) -> Result<Title, StoreError> {
        let (id, base, request) = (id.clone(), base.clone(), request.clone());
        self.workers.write("allocate a title", move |database| titles::allocate(database, &id, &base, &request)).await
    }

    async fn entitle(&self, id: &SessionId, base: &Title, request: &Request) -> Result<Option<Title>, StoreError> {
        let (id, base, request) = (id.clone(), base.clone(), request.clone());
        self.workers.write("title a session", move |database| titles::entitle(database, &id, &base, &request)).await
    }

    async fn set_pinned(&self, id: &SessionId, is_pinned: bool, request: &Request) -> Result<bool, StoreError> {
        let (id, request) = (id.clone(), request.clone());
        let work = move |database: &Database| pins_and_tags::set_pinned(database, &id, is_pinned, &request);
        self.workers.write("pin a conversation", work).await
    }

    async fn set_archived(&self, id: &SessionId, is_archived: bool, request: &Request) -> Result<bool, StoreError> {
        let (id, request) = (id.clone(), request.clone());
        let work = move |database: &Database| archive::set(database, &id, is_archived, &request);
        self.workers.write("archive a conversation", work).await
    }

    async fn change_tags(
        &self,
        id: &SessionId,
        add: &[Tag],
        remove: &[Tag],
        request: &Request,
    ) -> Result<Vec<Tag>, StoreError> {
        let (id, add, remove, request) = (id.clone(), add.to_vec(), remove.to_vec(), request.clone());
        let work = move |database: &Database| pins_and_tags::change_tags(database, &id, &add, &remove, &request);
        self.workers.write("tag a conversation", work).await
    }

    async fn tags(&self) -> Result<Vec<(Tag, u64)>, StoreError> {
        self.workers.read_short("read tags", pins_and_tags::tags).await
    }

    async fn delete(&self, id: &SessionId, extent: DeleteExtent, request: &Request) -> Result<Deleted, StoreError> {
        let (id, request) = (id.clone(), request.clone());
        let work = move |database: &Database| deletion::begin(database, &id, extent, &request);
        let (deleted, is_over) = self.workers.write("delete a conversation", work).await?;
        if !is_over {
            self.finish_deletions().await;
        }
        Ok(deleted)
    }

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
        self.workers.read("read the trash", move |database| trash::list(database, older_than, limit)).await
    }

    async fn trashed(&self, id: &SessionId) -> Result<Option<(Trashed, Vec<SessionId>)>, StoreError> {
        let id = id.clone();
        self.workers.read_short("read the trash", move |database| trash::find(database, &id)).await
    }

    async fn restore(&self, id: &SessionId, request: &Request) -> Result<Restored, StoreError> {
        const OP: &str = "restore a conversation";
        loop {
            let (of, by) = (id.clone(), request.clone());
            let step = self.workers.write(OP, move |database| trash::prepare(database, &of, &by)).await;
            match step {
                Ok(Restoring::Under) => continue,
                Ok(Restoring::Ready) => {}
                Err(error) => {
                    if matches!(error, StoreError::Conflict(Conflict::Exists(_))) {
                        // Nothing continues with the copied rows; if removing them fails, they stay hidden.
                        let of = id.clone();
                        if self.workers.write(OP, move |database| trash::abandon(database, &of)).await.is_err() {
                            tracing::warn!(session = id.as_str(), "rows of an abandoned restore not removed");
                        }
                    }
                    return Err(error);
                }
            }
            let (of, by) = (id.clone(), request.clone());
            if let Some(restored) = self.workers.write(OP, move |database| trash::finish(database, &of, &by)).await? {
                self.finish_sweeping().await;
                return Ok(restored);
            }
        }
    }

    async fn empty_trash(&self, which: &Emptying) -> Result<Vec<Trashed>, StoreError> {
        let which = which.clone();
        let gone = self.workers.write("empty the trash", move |database| trash::empty(database, &which)).await?;
        self.finish_deletions().await;
        self.finish_sweeping().await;
        Ok(gone)
    }

    async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, StoreError> {
        let request = request.clone();
        let work = move |database: &Database| {
            fresh::read(database, Decides::ByPlace, |database| search::search(database, &request))
        };
        let answer = self.workers.read_short("search messages", work).await?;
        if answer.served.unindexed > 0 {
            // The agent may be the only writer, and it does not fill our indexes, so a search that met a backlog has it
            // indexed.
            self.workers.nudge();
        }
        Ok(answer)
    }
}

impl SqliteStore {
    /// Removes the remaining rows of conversations that were purged from the trash. A failure is ignored: they count as
    /// gone, and upkeep continues.
    async fn finish_sweeping(&self) {
        while let Ok(true) = self.workers.write("empty the trash", trash::sweep).await {}
    }
}
