//! Chores after a command that wrote, once its output is printed: expired entries leave the trash, and old
//! conversations are deleted if `sessions.auto_prune` is on.
//!
//! They stop when their time is up; the next such command continues. Deletions are printed as a note. A failure is not
//! an error of the command. Commands that only read never run them. Neither do `import` and `restore`: the sessions
//! they bring may be old, and must exist afterwards.

use crate::context::{Context, Opened};
use crate::ui::changes;
use hermes_app::retention::{AutoPruneReport, after_writing};
use hermes_config::Sessions;

/// Runs the chores that are due on the store that the command has open.
pub(crate) async fn run(context: &Context, mut opened: Opened) {
    opened.store.report();
    let (sessions, transcripts) = (&opened.settings.sessions, opened.transcripts());
    if let Some(report) = after_writing(&*opened.store, sessions, transcripts.as_ref(), context.now.at).await {
        note(context, sessions, &report);
    }
}

/// Prints what was deleted, and the first time also that this will happen again.
fn note(context: &Context, sessions: &Sessions, report: &AutoPruneReport) {
    let days = sessions.retention_days.value;
    let more = if report.is_finished { "" } else { "; the next command continues" };
    if report.pruned.conversations > 0 {
        let taken = changes::taken_for_good(&report.pruned, report.transcripts.files);
        context.ui.note(&format!("deleted {taken}, without activity for {days} days (sessions.auto_prune){more}"));
    }
    if report.is_first {
        let text = format!(
            "sessions.auto_prune is on, set by {}: conversations that have ended are deleted {days} days after their last message; `hermes sessions prune --dry-run` shows which are next",
            sessions.auto_prune.origin
        );
        context.ui.note(&text);
    }
}
