//! What `detach` asks and reports.

use super::checks::fact;
use hermes_sqlite::{Detached, Holdings};
use hermes_terminal::Line;
use hermes_terminal::figures::plural;
use std::path::Path;

/// Names what is about to happen, before anybody is asked.
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

/// Reports what became of the store.
pub(crate) fn detached(path: &Path, detached: Option<&Detached>) -> Vec<Line> {
    let mut facts = vec![("store", path.display().to_string())];
    let Some(detached) = detached else {
        facts.push(("removed", "nothing: nothing of ours is in it".into()));
        return facts.into_iter().map(fact).collect();
    };
    facts.push((
        "removed",
        format!("{} of ours (tables, indexes, views, triggers)", plural(detached.objects, "objects")),
    ));
    if detached.relations > 0 {
        facts.push(("relations", format!("{} noted in model_config", plural(detached.relations, "sessions"))));
    }
    match &detached.kept {
        Some(kept) => {
            facts.push(("kept", format!("{} in {}", holdings(&detached.holdings), kept.display())));
            facts.push(("take back", "hermes sessions import FILE".into()));
        }
        None if !detached.holdings.is_empty() => facts.push(("discarded", holdings(&detached.holdings))),
        None => {}
    }
    if !detached.holdings.not_kept.is_empty() {
        facts.push(("not kept", format!("{} that went to the trash", not_kept(&detached.holdings))));
    }
    for backup in &detached.backups {
        facts.push(("left", format!("{}, a copy from before; remove it if you do not need it", backup.display())));
    }
    facts.into_iter().map(fact).collect()
}

/// Returns how many rows of the agent's other tables are not kept, by table.
pub(crate) fn not_kept(held: &Holdings) -> String {
    let parts: Vec<String> =
        held.not_kept.iter().map(|(table, rows)| format!("{} of {table}", plural(*rows, "rows"))).collect();
    parts.join(", ")
}

fn holdings(held: &Holdings) -> String {
    let parts = [
        (held.trashed, format!("{} in the trash", plural(held.trashed, "conversations"))),
        (held.pins, plural(held.pins, "pins")),
        (held.tags, plural(held.tags, "tags")),
    ];
    let parts: Vec<String> = parts.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect();
    parts.join(", ")
}
