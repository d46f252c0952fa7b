//! A list of sessions: a table where there is room for one, a few short lines per session where there is not.

use super::layout::cut;
use super::table::{Column, Table};
use super::time::Now;
use super::{Line, Visible};
use anstyle::{AnsiColor, Style};
use hermes_session::SessionSummary;

/// What stands where a session has no title.
const NOTHING: &str = "—";
const LEAST_TITLE: usize = 16;
const LEAST_PREVIEW: usize = 20;
/// As wide as the longest of the agent's own sources that people see every day.
const LEAST_SOURCE: usize = 10;
/// A title is at most this wide, so that one long title does not push out every preview.
const MOST_TITLE: usize = 32;

/// The lines of a list in at most `columns`. Ids are never cut.
pub(crate) fn list(rows: &[SessionSummary], now: &Now, columns: usize) -> Vec<Line> {
    let full = table(rows, now, true);
    if full.least_width() <= columns {
        return full.lines(columns);
    }
    let narrow = table(rows, now, false);
    if narrow.least_width() <= columns {
        return narrow.lines(columns);
    }
    rows.iter().flat_map(|row| stacked(row, now, columns)).collect()
}

fn table(rows: &[SessionSummary], now: &Now, with_preview: bool) -> Table {
    let dim = Style::new().dimmed();
    let column = |head, style, least, is_number| Column { head, style, least, is_number };
    // A title tells more than a preview: as long as there is a preview to give way, no title is cut.
    let least_title = if with_preview { None } else { Some(LEAST_TITLE) };
    let mut columns = vec![
        column("Title", Style::new(), least_title, false),
        column("Preview", dim, Some(LEAST_PREVIEW), false),
        column("Last active", Style::new(), None, false),
        column("Source", Style::new().fg_color(Some(AnsiColor::Cyan.into())), Some(LEAST_SOURCE), false),
        column("Msgs", Style::new(), None, true),
        column("ID", dim, None, false),
    ];
    if !with_preview {
        columns.remove(1);
    }
    let cells = |row: &SessionSummary| {
        let mut cells = Vec::with_capacity(columns.len());
        if with_preview {
            cells.push(row.title.as_deref().map_or(NOTHING.into(), |title| cut(&title.into(), MOST_TITLE)));
            cells.push(Visible::line(&row.preview));
        } else {
            cells.push(name(row));
        }
        cells.push(now.relative(row.last_active).into());
        cells.push(row.source.as_str().into());
        cells.push(row.message_count.to_string().into());
        cells.push(row.id.as_str().into());
        cells
    };
    Table { rows: rows.iter().map(cells).collect(), columns }
}

/// What a session is called where there is one column for it: its title, or what it starts with.
fn name(row: &SessionSummary) -> Visible {
    match &row.title {
        Some(title) => title.as_str().into(),
        None if row.preview.is_empty() => NOTHING.into(),
        None => row.preview.as_str().into(),
    }
}

fn stacked(row: &SessionSummary, now: &Now, columns: usize) -> [Line; 3] {
    let count = row.message_count;
    let messages = if count == 1 { "message" } else { "messages" };
    let facts = format!("  {} · {} · {count} {messages}", now.relative(row.last_active), row.source);
    [
        Line::styled(cut(&name(row), columns), Style::new().bold()),
        Line::plain_text(cut(&facts.into(), columns)),
        Line::plain_text("  ").with(row.id.as_str(), Style::new().dimmed()),
    ]
}
