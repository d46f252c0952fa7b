//! Views of the trash.

use super::stacked::{Entry, table_or_entries};
use anstyle::{AnsiColor, Style};
use hermes_session::{Restored, Trashed};
use hermes_terminal::figures::plural;
use hermes_terminal::table::{Column, Table};
use hermes_terminal::time::Now;
use hermes_terminal::transcript::NO_TITLE;
use hermes_terminal::{Line, Visible};

/// Minimum width of a title in a table, in columns.
const LEAST_TITLE: usize = 12;

/// Returns the entries of the trash.
pub(crate) fn list(entries: &[Trashed], now: &Now, columns: usize) -> Vec<Line> {
    if entries.is_empty() {
        return vec![Line::plain_text("The trash is empty.")];
    }
    let column = |head, style, least, is_number| Column { head, style, least, is_number };
    let table = Table {
        columns: vec![
            column("Title", Style::new(), Some(LEAST_TITLE), false),
            column("Deleted", Style::new(), None, false),
            column("Until", Style::new(), None, false),
            column("Source", Style::new().fg_color(Some(AnsiColor::Cyan.into())), Some(LEAST_TITLE), false),
            column("Msgs", Style::new(), None, true),
            column("ID", Style::new().dimmed(), None, false),
        ],
        rows: entries.iter().map(|entry| cells(entry, now)).collect(),
    };
    table_or_entries(&table, entries.iter().map(|entry| narrow(entry, now)), columns)
}

/// Returns an entry for the narrow layout.
fn narrow<'a>(entry: &'a Trashed, now: &Now) -> Entry<'a> {
    let (deleted, until) = (now.relative(entry.deleted_at), now.date(entry.until));
    let messages = plural(entry.messages, "messages");
    Entry {
        head: Visible::default(),
        name: entry.title.as_deref().unwrap_or(NO_TITLE).into(),
        facts: vec![format!("deleted {deleted}"), format!("until {until}"), entry.source.to_string(), messages],
        id: entry.id.as_str(),
    }
}

fn cells(entry: &Trashed, now: &Now) -> Vec<Visible> {
    vec![
        entry.title.as_deref().unwrap_or(NO_TITLE).into(),
        now.relative(entry.deleted_at).into(),
        now.date(entry.until).into(),
        entry.source.as_str().into(),
        entry.messages.to_string().into(),
        entry.id.as_str().into(),
    ]
}

/// Returns a line for one of several matching entries.
pub(crate) fn candidate(entry: &Trashed, now: &Now) -> Line {
    let title = entry.title.as_deref().unwrap_or(NO_TITLE);
    let line = Line::plain_text("  ").with(entry.id.as_str(), Style::new().bold()).text("  ");
    line.with(now.relative(entry.deleted_at), Style::new().dimmed()).text("  ").text(title)
}

/// Returns lines with the restored entry.
pub(crate) fn restored(entry: &Trashed, restored: &Restored, files: u64) -> Vec<Line> {
    let name = entry.title.as_deref().unwrap_or(entry.id.as_str());
    let parts = [plural(restored.sessions, "sessions"), plural(restored.messages, "messages")];
    let parts = parts.into_iter().chain((files > 0).then(|| plural(files, "transcripts")));
    let what = parts.collect::<Vec<_>>().join(", ");
    let line = Line::plain_text("Restored ").with(name, Style::new().bold()).text(format!(" ({what})."));
    let retitled = restored.retitled.iter().map(|one| {
        let text = format!("The title {} is now in use by another session: {}", one.had, one.id);
        Line::plain_text(match &one.has {
            Some(has) => format!("{text} is called {has}."),
            None => format!("{text} has no title any more."),
        })
    });
    [line].into_iter().chain(retitled).collect()
}

/// Returns lines with the entries deleted for good.
pub(crate) fn emptied(gone: &[Trashed], files: u64) -> Vec<Line> {
    if gone.is_empty() {
        return vec![Line::plain_text("The trash is empty.")];
    }
    let sum = |of: fn(&Trashed) -> u64| gone.iter().map(of).sum();
    let parts = [plural(sum(|entry| entry.sessions), "sessions"), plural(sum(|entry| entry.messages), "messages")];
    let parts = parts.into_iter().chain((files > 0).then(|| plural(files, "transcripts")));
    let what = parts.collect::<Vec<_>>().join(", ");
    vec![Line::plain_text(format!("Deleted {} for good ({what}).", plural(gone.len() as u64, "conversations")))]
}
