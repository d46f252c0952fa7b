//! Warnings and findings that several commands print.

use crate::context::Context;
use crate::ui::checks;
use hermes_app::transcripts::Removed;
use hermes_session::Unreadable;
use hermes_session::transfer::{MAX_FINDINGS, TransferReport};

/// Maximum number of findings printed.
const SHOWN: usize = 20;

/// Warns about rows that are missing from a list because they can't be read.
pub(crate) fn unreadable(context: &Context, rows: &[Unreadable]) {
    for row in rows {
        let text = format!("{} {:?} can't be read: {}", row.table, row.id, row.why);
        context.ui.warn(&text, "the other rows are complete; the row is left as it is");
    }
}

/// Warns about transcripts of deleted sessions that could not be removed.
pub(crate) fn left_behind(context: &Context, removed: &Removed) {
    for (file, error) in &removed.left {
        let text = format!("could not remove {}: {error}", file.display());
        context.ui.warn(&text, "it contains messages of a deleted session; remove it by hand");
    }
}

/// Prints the first findings of a transfer, and how many more there are.
pub(crate) fn findings(context: &Context, report: &TransferReport) {
    for finding in report.findings.iter().take(SHOWN) {
        let whose = finding.session.as_ref().map_or_else(|| "store".to_owned(), |id| format!("session {id}"));
        context.ui.finding(&whose, &finding.what);
    }
    let hidden = report.found.saturating_sub(SHOWN as u64);
    if hidden > 0 {
        let more = format!("{} more were found (--json lists the first {MAX_FINDINGS})", checks::number(hidden));
        context.ui.note(&more);
    }
}
