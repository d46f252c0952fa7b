//! Conversations.

use super::super::ModelStore;
use super::super::trash::Kept;
use async_trait::async_trait;
use hermes_session::search::{SearchAnswer, SearchRequest};
use hermes_session::{
    ConversationStore, Counts, DeleteExtent, Deleted, Emptying, Lineage, ListRequest, Listing, Request, Restored,
    SessionFilter, SessionId, StoreError, Tag, Timestamp, Title, Titled, Trashed, change,
};
use std::collections::BTreeMap;

#[async_trait]
impl ConversationStore for ModelStore {
    async fn list(&self, request: &ListRequest) -> Result<Listing, StoreError> {
        let state = self.state();
        state.refuse_unrecorded(&request.filter)?;
        Ok(state.list(request))
    }

    async fn counts(&self, filter: &SessionFilter) -> Result<Counts, StoreError> {
        let state = self.state();
        state.refuse_unrecorded(filter)?;
        Ok(state.counts(filter))
    }

    async fn lineage(&self, id: &SessionId) -> Result<Lineage, StoreError> {
        self.state().lineage(id)
    }

    async fn titled(&self, title: &str) -> Result<Vec<Titled>, StoreError> {
        Ok(self.state().titled(title))
    }

    async fn set_title(&self, id: &SessionId, title: Option<&Title>, request: &Request) -> Result<(), StoreError> {
        self.once(request, change::set_title(id, title), id, |state| state.set_title(id, title))
    }

    async fn allocate_title(&self, id: &SessionId, base: &Title, request: &Request) -> Result<Title, StoreError> {
        self.once(request, change::allocate_title(id, base), id, |state| state.allocate_title(id, base))
    }

    async fn entitle(&self, id: &SessionId, base: &Title, request: &Request) -> Result<Option<Title>, StoreError> {
        self.once(request, change::entitle(id, base), id, |state| {
            if state.existing(id)?.title.is_some() {
                return Ok(None);
            }
            state.allocate_title(id, base).map(Some)
        })
    }

    async fn set_pinned(&self, id: &SessionId, is_pinned: bool, request: &Request) -> Result<bool, StoreError> {
        self.once(request, change::set_pinned(id, is_pinned), id, |state| state.set_pinned(id, is_pinned, request.at))
    }

    async fn set_archived(&self, id: &SessionId, is_archived: bool, request: &Request) -> Result<bool, StoreError> {
        self.once(request, change::set_archived(id, is_archived), id, |state| state.set_archived(id, is_archived))
    }

    async fn change_tags(
        &self,
        id: &SessionId,
        add: &[Tag],
        remove: &[Tag],
        request: &Request,
    ) -> Result<Vec<Tag>, StoreError> {
        self.once(request, change::change_tags(id, add, remove), id, |state| state.change_tags(id, add, remove))
    }

    async fn tags(&self) -> Result<Vec<(Tag, u64)>, StoreError> {
        let state = self.state();
        let links = state.links();
        let mut counts: BTreeMap<Tag, u64> = BTreeMap::new();
        for (id, pins_and_tags) in &state.pins_and_tags {
            if links.conversation_root(id) == *id {
                pins_and_tags.tags.iter().for_each(|tag| *counts.entry(tag.clone()).or_default() += 1);
            }
        }
        Ok(counts.into_iter().collect())
    }

    async fn delete(&self, id: &SessionId, extent: DeleteExtent, request: &Request) -> Result<Deleted, StoreError> {
        self.once(request, change::delete(id, extent), id, |state| state.delete(id, extent, request.at))
    }

    async fn trash_chain(&self, id: &SessionId, until: Timestamp, request: &Request) -> Result<Deleted, StoreError> {
        self.once(request, change::trash_chain(id), id, |state| state.trash_chain(id, until, request.at))
    }

    async fn trash(&self, older_than: Option<&Trashed>, limit: u32) -> Result<Vec<Trashed>, StoreError> {
        let state = self.state();
        let older =
            state.trash.iter().rev().filter(|kept| older_than.is_none_or(|than| kept.entry.number < than.number));
        Ok(older.take(limit as usize).map(|kept| kept.entry.clone()).collect())
    }

    async fn trashed(&self, id: &SessionId) -> Result<Option<(Trashed, Vec<SessionId>)>, StoreError> {
        let state = self.state();
        Ok(state.kept(id).map(|place| {
            let kept = &state.trash[place];
            (kept.entry.clone(), kept.sessions.iter().map(|(session, _)| session.id.clone()).collect())
        }))
    }

    async fn restore(&self, id: &SessionId, request: &Request) -> Result<Restored, StoreError> {
        self.once(request, change::restore(id), id, |state| state.restore(id))
    }

    async fn empty_trash(&self, which: &Emptying) -> Result<Vec<Trashed>, StoreError> {
        let mut state = self.state();
        if let Emptying::One(id) = which {
            let place = state.kept(id).ok_or_else(|| StoreError::no_session(id))?;
            return Ok(vec![state.trash.remove(place).entry]);
        }
        let goes = |kept: &Kept| match which {
            Emptying::Over(now) => kept.entry.until <= *now,
            Emptying::These(seen) => seen.contains(&kept.entry),
            Emptying::All | Emptying::One(_) => true,
        };
        let (gone, stays): (Vec<Kept>, Vec<Kept>) = state.trash.drain(..).partition(goes);
        state.trash = stays;
        Ok(gone.into_iter().rev().map(|kept| kept.entry).collect())
    }

    async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, StoreError> {
        Ok(self.state().search(request))
    }
}
