//! The document of `archive` and `unarchive`.

use crate::ui::archive::Archived;
use hermes_wire::{archive as wire, document};

/// Returns conversations that were archived or unarchived.
pub(crate) fn archived(done: &[Archived]) -> String {
    let sessions = done.iter().map(|one| wire::Archived {
        id: one.id.as_str(),
        title: one.title.as_deref(),
        archived: one.is_archived,
        changed: one.is_changed,
    });
    document(&wire::Archiving { sessions: sessions.collect() })
}
