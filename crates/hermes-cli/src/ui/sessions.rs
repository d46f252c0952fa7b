//! A list of sessions: a table where there is room for one, a few short lines per session where there is not.

use super::pins_and_tags;
use anstyle::{AnsiColor, Style};
use hermes_session::SessionSummary;
use hermes_terminal::figures::dollars;
use hermes_terminal::layout::{cut, fit};
use hermes_terminal::table::{Column, Table};
use hermes_terminal::time::Now;
use hermes_terminal::{Line, Visible};

/// What stands where a session has no title.
const NOTHING: &str = "—";
const LEAST_TITLE: usize = 16;
const LEAST_PREVIEW: usize = 20;
/// As wide as the longest of the agent's own sources that people see every day.
const LEAST_SOURCE: usize = 10;
/// A title is at most this wide, so that one long title does not push out every preview.
const MAX_TITLE: usize = 32;

/// Tags give way to all else, and never take more than this.
const LEAST_TAGS: usize = 8;
const MAX_TAGS: usize = 24;

/// How a list is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// The number of the first row.
    pub(crate) first: u64,
    /// With what each cost.
    pub(crate) with_cost: bool,
    /// The width of the terminal.
    pub(crate) columns: usize,
}

/// The lines of a list, numbered. Ids are never cut.
pub(crate) fn list(rows: &[SessionSummary], now: &Now, look: Look) -> Vec<Line> {
    let Look { first, columns, .. } = look;
    let has_tags = rows.iter().any(|row| !row.tags.is_empty());
    for (with_preview, with_tags) in [(true, true), (false, true), (false, false)] {
        let table = table(rows, now, look, with_preview, with_tags && has_tags);
        if table.least_width() <= columns {
            return table.lines(columns);
        }
    }
    let margin = (first + rows.len() as u64).saturating_sub(1).to_string().len() + 1;
    let numbered = (first..).zip(rows);
    numbered.flat_map(|(number, row)| stacked(number, row, now, margin, look)).collect()
}

fn table(rows: &[SessionSummary], now: &Now, look: Look, with_preview: bool, with_tags: bool) -> Table {
    let dim = Style::new().dimmed();
    let column = |head, style, least, is_number| Column { head, style, least, is_number };
    // A title tells more than a preview: as long as there is a preview to give way, no title is cut.
    let least_title = if with_preview { None } else { Some(LEAST_TITLE) };
    let mut columns = vec![
        column("#", dim, None, true),
        column("Title", Style::new(), least_title, false),
        column("Preview", dim, Some(LEAST_PREVIEW), false),
        column("Last active", Style::new(), None, false),
        column("Source", Style::new().fg_color(Some(AnsiColor::Cyan.into())), Some(LEAST_SOURCE), false),
        column("Msgs", Style::new(), None, true),
        column("ID", dim, None, false),
    ];
    if look.with_cost {
        columns.insert(6, column("Cost", Style::new(), None, true));
    }
    if with_tags {
        columns.insert(3, column("Tags", Style::new(), Some(LEAST_TAGS), false));
    }
    if !with_preview {
        columns.remove(2);
    }
    let cells = |(number, row): (u64, &SessionSummary)| {
        let mut cells = Vec::with_capacity(columns.len());
        cells.push(number.to_string().into());
        if with_preview {
            cells.push(cut(&starred(row, row.title.as_deref().unwrap_or(NOTHING)), MAX_TITLE));
            cells.push(Visible::line(&row.preview));
        } else {
            cells.push(name(row));
        }
        if with_tags {
            cells.push(cut(&pins_and_tags::listed(&row.tags).into(), MAX_TAGS));
        }
        cells.push(now.relative(row.last_active).into());
        cells.push(row.source.as_str().into());
        cells.push(row.messages.to_string().into());
        if look.with_cost {
            cells.push(cost(row).into());
        }
        cells.push(row.id.as_str().into());
        cells
    };
    Table { rows: (look.first..).zip(rows).map(cells).collect(), columns }
}

/// What a session is called where there is one column for it: its title, or what it starts with.
fn name(row: &SessionSummary) -> Visible {
    match &row.title {
        Some(title) => starred(row, title),
        None if row.preview.is_empty() => starred(row, NOTHING),
        None => starred(row, &row.preview),
    }
}

/// A text with a star before it if the row is pinned.
fn starred(row: &SessionSummary, text: &str) -> Visible {
    match row.pinned_at {
        Some(_) => format!("{}{text}", pins_and_tags::SIGN).as_str().into(),
        None => text.into(),
    }
}

fn cost(row: &SessionSummary) -> String {
    row.usage.cost().map_or_else(|| NOTHING.to_owned(), dollars)
}

fn stacked(number: u64, row: &SessionSummary, now: &Now, margin: usize, look: Look) -> [Line; 3] {
    let count = row.messages;
    let messages = if count == 1 { "message" } else { "messages" };
    let mut facts = format!("{} · {} · {count} {messages}", now.relative(row.last_active), row.source);
    if look.with_cost {
        facts = format!("{} · {facts}", cost(row));
    }
    if !row.tags.is_empty() {
        facts = format!("{facts} · {}", pins_and_tags::listed(&row.tags));
    }
    let (dim, room) = (Style::new().dimmed(), look.columns.saturating_sub(margin));
    let indent = || Line::plain_text(" ".repeat(margin));
    [
        Line::styled(fit(&number.to_string().into(), margin), dim).with(cut(&name(row), room), Style::new().bold()),
        indent().text(cut(&facts.into(), room)),
        indent().with(row.id.as_str(), dim),
    ]
}
