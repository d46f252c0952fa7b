//! A list of sessions: a table if there is room, otherwise a few short lines per session.

use super::pins_and_tags;
use super::stacked::Entry;
use anstyle::{AnsiColor, Style};
use hermes_session::SessionSummary;
use hermes_terminal::figures::dollars;
use hermes_terminal::layout::{cut, fit};
use hermes_terminal::table::{Column, Table};
use hermes_terminal::time::Now;
use hermes_terminal::transcript::NO_TITLE;
use hermes_terminal::{Line, UNLIMITED, Visible};

/// Placeholder for an unknown cost.
const NOTHING: &str = "—";
const LEAST_TITLE: usize = 16;
const LEAST_PREVIEW: usize = 20;
/// Minimum width of a source in columns: that of the agent's longest common source.
const LEAST_SOURCE: usize = 10;
/// Maximum width of a title in columns, so that one long title does not push out every preview.
const MAX_TITLE: usize = 32;

/// Minimum and maximum width of tags in columns. All other columns take precedence.
const LEAST_TAGS: usize = 8;
const MAX_TAGS: usize = 24;

/// How a list is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// The number of the first row.
    pub(crate) first: u64,
    /// Whether costs are shown.
    pub(crate) with_cost: bool,
    /// The width of the terminal, or [`UNLIMITED`].
    pub(crate) columns: usize,
}

impl Look {
    /// Returns the maximum width of a cell: `most`, or no limit if the table has none.
    const fn most(self, most: usize) -> usize {
        if self.columns == UNLIMITED { UNLIMITED } else { most }
    }
}

/// Returns the lines of a list, numbered. Ids are never cut.
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
    // A title says more than a preview. As long as a preview can be cut, no title is.
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
            cells.push(cut(&starred(row, row.title.as_deref().unwrap_or(NO_TITLE)), look.most(MAX_TITLE)));
            cells.push(Visible::line(&row.preview));
        } else {
            cells.push(name(row));
        }
        if with_tags {
            cells.push(cut(&pins_and_tags::listed(&row.tags).into(), look.most(MAX_TAGS)));
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

/// Returns the name of a session for lists with one column for it: its title, or its preview.
fn name(row: &SessionSummary) -> Visible {
    match &row.title {
        Some(title) => starred(row, title),
        None if row.preview.is_empty() => starred(row, NO_TITLE),
        None => starred(row, &row.preview),
    }
}

/// Returns a text with a star before it if the row is pinned.
fn starred(row: &SessionSummary, text: &str) -> Visible {
    match row.pinned_at {
        Some(_) => format!("{}{text}", pins_and_tags::SIGN).as_str().into(),
        None => text.into(),
    }
}

fn cost(row: &SessionSummary) -> String {
    row.usage.cost().map_or_else(|| NOTHING.to_owned(), dollars)
}

fn stacked(number: u64, row: &SessionSummary, now: &Now, margin: usize, look: Look) -> Vec<Line> {
    let count = row.messages;
    let messages = if count == 1 { "message" } else { "messages" };
    let known = [now.relative(row.last_active), row.source.to_string(), format!("{count} {messages}")];
    let tags = (!row.tags.is_empty()).then(|| pins_and_tags::listed(&row.tags));
    let facts = look.with_cost.then(|| cost(row)).into_iter().chain(known).chain(tags).collect();
    let head = fit(&number.to_string().into(), margin);
    Entry { head, name: name(row), facts, id: row.id.as_str() }.lines(look.columns)
}
