//! The document of `detach`.

use hermes_sqlite::Detached;
use hermes_wire::{document, transfer as wire};
use std::path::Path;

/// Returns what was removed from a store, and what was kept of it. `None` if nothing of hermes was in it.
pub(crate) fn detached(path: &Path, detached: Option<&Detached>) -> String {
    let nothing = Detached::default();
    let found = detached.unwrap_or(&nothing);
    let rows = found.holdings.rows.iter();
    document(&wire::Detached {
        store: path.display().to_string(),
        was_ours: detached.is_some(),
        objects: found.objects,
        trashed: found.holdings.trashed,
        pins: found.holdings.pins,
        tags: found.holdings.tags,
        archived: found.holdings.archived,
        routes: found.holdings.routes,
        cursors: found.holdings.cursors,
        undone: found.holdings.undone,
        rows: rows.map(|(table, rows)| wire::TableRows { table, rows: *rows }).collect(),
        kept: found.kept.as_ref().map(|kept| kept.display().to_string()),
        relations: found.relations,
        relations_left: found.relations_left.iter().map(AsRef::as_ref).collect(),
        backups: found.backups.iter().map(|path| path.display().to_string()).collect(),
    })
}
