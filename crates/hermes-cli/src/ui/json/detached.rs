//! What became of a store that was detached, for programs.

use super::{SCHEMA, array, boolean};
use hermes_session::Json;
use hermes_session::json::ObjectWriter;
use hermes_sqlite::Detached;
use std::path::Path;

/// What was removed from a store, and what was kept of it.
pub(crate) fn detached(path: &Path, detached: Option<&Detached>) -> String {
    let text = |text: &str| Json::string(text).to_string();
    let nothing = Detached::default();
    let found = detached.unwrap_or(&nothing);
    let kept = found.kept.as_ref().map(|kept| kept.display().to_string());
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .text("store", Some(&path.display().to_string()))
        .raw("was_ours", boolean(detached.is_some()))
        .raw("objects", &found.objects.to_string())
        .raw("trashed", &found.holdings.trashed.to_string())
        .raw("pins", &found.holdings.pins.to_string())
        .raw("tags", &found.holdings.tags.to_string())
        .raw("not_kept", &array(found.holdings.not_kept.iter().map(|(table, rows)| lost(table, *rows))))
        .text("kept", kept.as_deref())
        .raw("relations", &found.relations.to_string())
        .raw("relations_left", &array(found.relations_left.iter().map(|id| text(id))))
        .raw("backups", &array(found.backups.iter().map(|path| text(&path.display().to_string()))));
    object.finish()
}

/// A table of the agent's, and how many of its rows in the trash are not kept.
fn lost(table: &str, rows: u64) -> String {
    let mut object = ObjectWriter::new();
    object.text("table", Some(table)).raw("rows", &rows.to_string());
    object.finish()
}
