//! Pins and tags.

use super::{ModelStore, State};
use async_trait::async_trait;
use hermes_session::marks::changed_tags;
use hermes_session::{MarkStore, Marks, Request, SessionId, SessionSummary, StoreError, Tag, Timestamp, change};
use std::collections::BTreeMap;

#[async_trait]
impl MarkStore for ModelStore {
    async fn set_pinned(&self, id: &SessionId, is_pinned: bool, request: &Request) -> Result<bool, StoreError> {
        self.once(request, change::set_pinned(id, is_pinned), id, |state| state.set_pinned(id, is_pinned, request.at))
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
        for (id, marks) in &state.marks {
            if links.conversation_root(id) == *id {
                marks.tags.iter().for_each(|tag| *counts.entry(tag.clone()).or_default() += 1);
            }
        }
        Ok(counts.into_iter().collect())
    }

    async fn import_marks(&self, marks: &[(SessionId, Marks)]) -> Result<u64, StoreError> {
        let mut state = self.state();
        let mut changed = 0;
        for (id, outside) in marks {
            let has = state.marks_of(id);
            let joined = has.joined(outside);
            if state.sessions.contains_key(id) && joined != has {
                state.marks.insert(id.clone(), joined);
                changed += 1;
            }
        }
        Ok(changed)
    }
}

impl State {
    /// The marks that are kept with a session.
    pub(super) fn marks_of(&self, id: &SessionId) -> Marks {
        self.marks.get(id).cloned().unwrap_or_default()
    }

    /// Returns whether the conversation that starts with `root` has all of these tags.
    pub(super) fn has_tags(&self, tags: &[Tag], root: &SessionId) -> bool {
        let has = self.marks_of(root).tags;
        tags.iter().all(|tag| has.contains(tag))
    }

    /// A row with the marks of its conversation.
    pub(super) fn marked(&self, row: SessionSummary) -> SessionSummary {
        let Marks { pinned_at, tags } = self.marks_of(&row.conversation);
        SessionSummary { pinned_at, tags, ..row }
    }

    fn set_pinned(&mut self, id: &SessionId, is_pinned: bool, at: Timestamp) -> Result<bool, StoreError> {
        self.existing(id)?;
        let root = self.links().conversation_root(id);
        let marks = self.marks.entry(root).or_default();
        let was_pinned = marks.pinned_at.is_some();
        marks.pinned_at = if is_pinned { marks.pinned_at.or(Some(at)) } else { None };
        Ok(was_pinned != is_pinned)
    }

    fn change_tags(&mut self, id: &SessionId, add: &[Tag], remove: &[Tag]) -> Result<Vec<Tag>, StoreError> {
        self.existing(id)?;
        let root = self.links().conversation_root(id);
        let tags = changed_tags(&self.marks_of(&root).tags, add, remove)?;
        self.marks.entry(root).or_default().tags = tags.clone();
        Ok(tags)
    }
}
