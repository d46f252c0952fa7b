//! What erasing is about and came to, for a person.

use super::checks::fact;
use super::{changes, trash};
use crate::reports::EraseOutcome;
use anstyle::Style;
use hermes_app::trash::DeletePreview;
use hermes_session::versions::Versions;
use hermes_terminal::Line;
use hermes_terminal::figures::{number, plural, size};
use hermes_terminal::time::Now;

/// What would go: what the store has of it, and what the trash has.
pub(crate) fn question(
    doomed: &[DeletePreview],
    versions: &Versions,
    files: u64,
    now: &Now,
    columns: usize,
) -> Vec<Line> {
    let mut lines: Vec<Line> = doomed.iter().flat_map(|doomed| changes::preview(doomed, now)).collect();
    if !versions.trashed.is_empty() {
        lines.push(Line::styled("In the trash", Style::new().bold()));
        lines.extend(trash::list(&versions.trashed, now, columns));
    }
    if files > 0 {
        lines.push(fact(("files", plural(files, "transcripts"))));
    }
    lines
}

/// What was erased, and what was proven.
pub(crate) fn erased(outcome: &EraseOutcome) -> Vec<Line> {
    let name = outcome.title.as_deref().unwrap_or(outcome.id.as_str());
    let parts = [plural(outcome.deleted.sessions, "sessions"), plural(outcome.deleted.messages, "messages")];
    let parts = parts.into_iter().chain((outcome.files > 0).then(|| plural(outcome.files, "transcripts")));
    let what = parts.collect::<Vec<_>>().join(", ");
    let line = Line::plain_text("Erased ").with(name, Style::new().bold()).text(format!(" ({what})."));
    let proof = outcome.erased.as_ref().filter(|erased| erased.is_clean()).map(|erased| {
        Line::plain_text(format!(
            "Nothing is left: {} of it are nowhere in {}, and {} in no index.",
            plural(erased.needles, "signs"),
            size(erased.scanned),
            format_args!("{} words", number(erased.words))
        ))
    });
    [line].into_iter().chain(proof).collect()
}

/// A file that was rewritten, and how many transcripts went that somebody had left behind.
pub(crate) fn finished(files: u64) -> Vec<Line> {
    let removed =
        (files > 0).then(|| Line::plain_text(format!("Removed {} that had been left.", plural(files, "transcripts"))));
    let rewritten = Line::plain_text("The file was rewritten: it has neither free room nor a log.");
    removed.into_iter().chain([rewritten]).collect()
}
