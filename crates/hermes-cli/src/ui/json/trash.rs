//! Documents about the trash.

use hermes_session::{Restored, Trashed};
use hermes_wire::{document, trash as wire};

/// Returns the content of the trash.
pub(crate) fn list(entries: &[Trashed]) -> String {
    document(&wire::Trash::from(entries))
}

/// Returns what was restored.
pub(crate) fn restored(entry: &Trashed, restored: &Restored, files: u64) -> String {
    document(&wire::Restored::new(entry, restored, files))
}

/// Returns what was deleted for good.
pub(crate) fn emptied(gone: &[Trashed], files: u64) -> String {
    document(&wire::Emptied { deleted: gone.iter().map(wire::TrashEntry::from).collect(), files })
}
