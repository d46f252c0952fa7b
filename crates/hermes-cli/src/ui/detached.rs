//! Confirmation prompt and result of `detach`.

use super::checks::fact;
use crate::program;
use hermes_sqlite::{Detached, Holdings};
use hermes_terminal::Line;
use hermes_terminal::figures::plural;
use std::path::Path;

/// Returns lines that describe the store and the data that only our tables hold, for the prompt.
pub(crate) fn question(path: &Path, held: &Holdings, kept: Option<&Path>) -> Vec<Line> {
    let mut facts = vec![("store", path.display().to_string())];
    if !held.is_empty() {
        facts.push(("only here", holdings(held)));
        facts.push((
            "kept in",
            kept.map_or_else(|| "nothing: it is discarded".into(), |kept| kept.display().to_string()),
        ));
    }
    facts.into_iter().map(fact).collect()
}

/// Returns lines with the result.
pub(crate) fn detached(path: &Path, detached: Option<&Detached>) -> Vec<Line> {
    let mut facts = vec![("store", path.display().to_string())];
    let Some(detached) = detached else {
        facts.push(("removed", "nothing: the file has no tables of hermes".into()));
        return facts.into_iter().map(fact).collect();
    };
    facts.push((
        "removed",
        format!("{} of ours (tables, indexes, views, triggers)", plural(detached.objects, "objects")),
    ));
    if detached.relations > 0 {
        facts.push(("relations", format!("{} saved in model_config", plural(detached.relations, "sessions"))));
    }
    match &detached.kept {
        Some(kept) => {
            facts.push(("kept", format!("{} in {}", holdings(&detached.holdings), kept.display())));
            facts.push(("import with", format!("{} sessions import FILE", program::name())));
        }
        None if !detached.holdings.is_empty() => facts.push(("discarded", holdings(&detached.holdings))),
        None => {}
    }
    for backup in &detached.backups {
        facts.push(("left", format!("{}, an older copy; remove it if you do not need it", backup.display())));
    }
    facts.into_iter().map(fact).collect()
}

fn holdings(held: &Holdings) -> String {
    let parts = [
        (held.trashed, format!("{} in the trash", plural(held.trashed, "conversations"))),
        (held.pins, plural(held.pins, "pins")),
        (held.tags, plural(held.tags, "tags")),
        (held.archived, format!("{} archived", plural(held.archived, "sessions"))),
        (held.routes, plural(held.routes, "routes")),
        (held.cursors, plural(held.cursors, "cursors")),
        (held.undone, plural(held.undone, "undone messages")),
    ];
    let rows = held.rows.iter().map(|(table, rows)| format!("{} of {table}", plural(*rows, "rows")));
    let parts: Vec<String> =
        parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).chain(rows).collect();
    parts.join(", ")
}
