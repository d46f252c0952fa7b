//! The trash, as a person sees it.

use anstyle::{AnsiColor, Style};
use hermes_session::{Restored, Trashed};
use hermes_terminal::figures::plural;
use hermes_terminal::table::{Column, Table};
use hermes_terminal::time::Now;
use hermes_terminal::{Line, Visible};

/// How narrow a title may become in a table.
const LEAST_TITLE: usize = 12;

/// What is in the trash.
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
    table.lines(columns)
}

fn cells(entry: &Trashed, now: &Now) -> Vec<Visible> {
    vec![
        entry.title.as_deref().unwrap_or("—").into(),
        now.relative(entry.deleted_at).into(),
        now.date(entry.until).into(),
        entry.source.as_str().into(),
        entry.messages.to_string().into(),
        entry.id.as_str().into(),
    ]
}

/// One of several that could be meant.
pub(crate) fn candidate(entry: &Trashed, now: &Now) -> Line {
    let title = entry.title.as_deref().unwrap_or("(no title)");
    let line = Line::plain_text("  ").with(entry.id.as_str(), Style::new().bold()).text("  ");
    line.with(now.relative(entry.deleted_at), Style::new().dimmed()).text("  ").text(title)
}

/// What came back.
pub(crate) fn restored(entry: &Trashed, restored: &Restored, files: u64) -> Vec<Line> {
    let name = entry.title.as_deref().unwrap_or(entry.id.as_str());
    let parts = [plural(restored.sessions, "sessions"), plural(restored.messages, "messages")];
    let parts = parts.into_iter().chain((files > 0).then(|| plural(files, "transcripts")));
    let what = parts.collect::<Vec<_>>().join(", ");
    let line = Line::plain_text("Restored ").with(name, Style::new().bold()).text(format!(" ({what})."));
    let retitled = restored.retitled.iter().map(|one| {
        let text = format!("Another session is called {} by now: {}", one.had, one.id);
        Line::plain_text(match &one.has {
            Some(has) => format!("{text} is called {has}."),
            None => format!("{text} has no title any more."),
        })
    });
    [line].into_iter().chain(retitled).collect()
}

/// What went for good.
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
