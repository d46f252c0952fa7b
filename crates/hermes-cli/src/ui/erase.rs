//! Confirmation prompt and result of erasing.

use super::checks::fact;
use super::{changes, trash};
use crate::reports::EraseOutcome;
use anstyle::Style;
use hermes_app::trash::DeletePreview;
use hermes_session::versions::Versions;
use hermes_terminal::Line;
use hermes_terminal::figures::{plural, size};
use hermes_terminal::time::Now;

/// Returns lines that list the data to be erased: in the store, and in the trash.
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

/// Returns lines with the erased data and the proof.
pub(crate) fn erased(outcome: &EraseOutcome) -> Vec<Line> {
    let name = outcome.title.as_deref().unwrap_or(outcome.id.as_str());
    let parts = [plural(outcome.deleted.sessions, "sessions"), plural(outcome.deleted.messages, "messages")];
    let parts = parts.into_iter().chain((outcome.files > 0).then(|| plural(outcome.files, "transcripts")));
    let what = parts.collect::<Vec<_>>().join(", ");
    let line = Line::plain_text("Erased ").with(name, Style::new().bold()).text(format!(" ({what})."));
    let proof = outcome.erased.as_ref().filter(|erased| erased.is_clean()).map(|erased| {
        let words = match erased.words {
            0 => String::new(),
            words => format!(", none of {} in the indexes", plural(words, "rare words")),
        };
        let passages = plural(erased.needles, "passages");
        Line::plain_text(format!("Verified: none of {passages} is left in {}{words}.", size(erased.scanned)))
    });
    [line].into_iter().chain(proof).collect()
}

/// Returns lines about a rewritten file, and about the leftover transcripts that were removed.
pub(crate) fn finished(files: u64) -> Vec<Line> {
    let removed = (files > 0)
        .then(|| Line::plain_text(format!("Removed {} left over from before.", plural(files, "transcripts"))));
    let rewritten = Line::plain_text("The file was rewritten; it has no free pages and no WAL.");
    removed.into_iter().chain([rewritten]).collect()
}
