//! Pins and tags.

use super::State;
use hermes_session::pins_and_tags::changed_tags;
use hermes_session::{PinAndTags, SessionId, SessionSummary, StoreError, Tag, Timestamp};
impl State {
    /// Returns the pins and tags that are stored with a session.
    pub(super) fn pins_and_tags_of(&self, id: &SessionId) -> PinAndTags {
        self.pins_and_tags.get(id).cloned().unwrap_or_default()
    }

    /// Returns whether the conversation that starts with `root` has all of these tags.
    pub(super) fn has_tags(&self, tags: &[Tag], root: &SessionId) -> bool {
        let has = self.pins_and_tags_of(root).tags;
        tags.iter().all(|tag| has.contains(tag))
    }

    /// Returns a row with the pins and tags of its conversation.
    pub(super) fn marked(&self, row: SessionSummary) -> SessionSummary {
        let PinAndTags { pinned_at, tags } = self.pins_and_tags_of(&row.conversation);
        SessionSummary { pinned_at, tags, ..row }
    }

    pub(super) fn set_pinned(&mut self, id: &SessionId, is_pinned: bool, at: Timestamp) -> Result<bool, StoreError> {
        self.existing(id)?;
        let root = self.links().conversation_root(id);
        let pins_and_tags = self.pins_and_tags.entry(root).or_default();
        let was_pinned = pins_and_tags.pinned_at.is_some();
        pins_and_tags.pinned_at = if is_pinned { pins_and_tags.pinned_at.or(Some(at)) } else { None };
        Ok(was_pinned != is_pinned)
    }

    pub(super) fn change_tags(&mut self, id: &SessionId, add: &[Tag], remove: &[Tag]) -> Result<Vec<Tag>, StoreError> {
        self.existing(id)?;
        let root = self.links().conversation_root(id);
        let tags = changed_tags(&self.pins_and_tags_of(&root).tags, add, remove)?;
        self.pins_and_tags.entry(root).or_default().tags = tags.clone();
        Ok(tags)
    }
}
