//! Documents about pins and tags.

use crate::ui::pins_and_tags::{Pinned, Tagged};
use hermes_session::Tag;
use hermes_wire::{document, pins as wire};

/// Returns conversations that were pinned or unpinned.
pub(crate) fn pinned(done: &[Pinned]) -> String {
    let sessions = done.iter().map(|one| wire::Pin {
        id: one.id.as_str(),
        title: one.title.as_deref(),
        pinned: one.is_pinned,
        changed: one.is_changed,
    });
    document(&wire::Pins { sessions: sessions.collect() })
}

/// Returns conversations with their tags.
pub(crate) fn tagged(done: &[Tagged]) -> String {
    let sessions = done.iter().map(|one| wire::TaggedSession::new(&one.id, &one.tags));
    document(&wire::Tagged { sessions: sessions.collect() })
}

/// Returns every tag, and how many conversations have it.
pub(crate) fn tags(tags: &[(Tag, u64)]) -> String {
    document(&wire::Tags::from(tags))
}
