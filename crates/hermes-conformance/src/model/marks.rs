//! Pins and tags.

use super::State;
use hermes_session::marks::changed_tags;
use hermes_session::{Marks, SessionId, SessionSummary, StoreError, Tag, Timestamp};
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

    pub(super) fn set_pinned(&mut self, id: &SessionId, is_pinned: bool, at: Timestamp) -> Result<bool, StoreError> {
        self.existing(id)?;
        let root = self.links().conversation_root(id);
        let marks = self.marks.entry(root).or_default();
        let was_pinned = marks.pinned_at.is_some();
        marks.pinned_at = if is_pinned { marks.pinned_at.or(Some(at)) } else { None };
        Ok(was_pinned != is_pinned)
    }

    pub(super) fn change_tags(&mut self, id: &SessionId, add: &[Tag], remove: &[Tag]) -> Result<Vec<Tag>, StoreError> {
        self.existing(id)?;
        let root = self.links().conversation_root(id);
        let tags = changed_tags(&self.marks_of(&root).tags, add, remove)?;
        self.marks.entry(root).or_default().tags = tags.clone();
        Ok(tags)
    }
}
