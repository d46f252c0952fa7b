//! The list: a line for each conversation, in columns that no text can break.

use super::Painter;
use crate::commands::browse::areas::Areas;
use crate::commands::browse::rows::Row;
use crate::commands::browse::state::{Search, State};
use crate::ui::pins_and_tags::{SIGN, listed};
use anstyle::{AnsiColor, Style};
use hermes_terminal::Visible;
use hermes_terminal::figures::plural;
use hermes_terminal::layout::{cut, right, width};
use hermes_terminal::time::Now;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;

/// Width of the cursor, the mark and a blank.
const SIGNS: u16 = 3;
const GAP: u16 = 2;
/// Width of a date.
const ACTIVE: u16 = 10;
const SOURCE: u16 = 10;
const MESSAGES: u16 = 5;
/// Width of the ids that agents create.
const ID: u16 = 24;
const LEAST_NAME: u16 = 20;
/// Minimum width of the tags behind a name.
const LEAST_TAGS: u16 = 4;
/// Label behind the name of a conversation that matches only in its messages.
const IN_TEXT: &str = "in text";

/// The columns of a list: start and width of each.
struct Columns {
    name: (u16, u16),
    active: (u16, u16),
    source: Option<(u16, u16)>,
    messages: Option<(u16, u16)>,
    id: Option<(u16, u16)>,
}

impl Columns {
    /// Returns the columns that fit. The rest of the width belongs to the name.
    fn of(width: u16) -> Self {
        let mut name = width.saturating_sub(SIGNS + GAP + ACTIVE);
        let mut room_for = |columns: u16, least: u16| {
            let is_room = name >= least + columns + GAP;
            name -= if is_room { columns + GAP } else { 0 };
            is_room
        };
        let (has_source, has_id) = (room_for(SOURCE, LEAST_NAME), room_for(ID, LEAST_NAME + 4));
        let has_messages = room_for(MESSAGES, LEAST_NAME + 12);
        let mut x = SIGNS + name;
        let mut next = |columns: u16| {
            let start = x + GAP;
            x = start + columns;
            (start, columns)
        };
        let active = next(ACTIVE);
        let source = has_source.then(|| next(SOURCE));
        let messages = has_messages.then(|| next(MESSAGES));
        Self { name: (SIGNS, name), active, source, messages, id: has_id.then(|| next(ID)) }
    }
}

impl Painter {
    pub(super) fn list(&self, state: &State, areas: &Areas, now: &Now, buffer: &mut Buffer) {
        let columns = Columns::of(areas.list.width);
        match trouble(state).filter(|_| state.listed() > 0) {
            // Shown as long as the picker is open, so that nobody takes a partial list for a complete one.
            Some(trouble) => {
                let text = cut(&trouble.into(), usize::from(areas.heads.width));
                self.paint.text(buffer, areas.heads, &text, red(), &[]);
            }
            None => self.heads(&columns, areas.heads, buffer),
        }
        if state.len() == 0 {
            let area = Rect { x: areas.list.x + SIGNS, width: areas.list.width - SIGNS, ..areas.list };
            let (text, style) = nothing(state);
            self.say(&text, style, area, buffer);
            return;
        }
        for line in 0..areas.list.height {
            let place = state.top + usize::from(line);
            let Some((row, is_in_text)) = state.row(place) else { break };
            let area = Rect { y: areas.list.y + line, height: 1, ..areas.list };
            let (is_current, is_marked) = (place == state.cursor, state.is_marked(&row.id));
            self.row(row, Looks { is_current, is_marked, is_in_text }, &columns, area, now, buffer);
        }
    }

    fn heads(&self, columns: &Columns, area: Rect, buffer: &mut Buffer) {
        let dim = Style::new().dimmed();
        let mut put = |column: (u16, u16), text: &str| {
            self.paint.text(buffer, part(area, column), &text.into(), dim, &[]);
        };
        put(columns.name, "Title / preview");
        put(columns.active, "Active");
        columns.source.into_iter().for_each(|column| put(column, "Source"));
        columns.messages.into_iter().for_each(|column| put(column, " Msgs"));
        columns.id.into_iter().for_each(|column| put(column, "ID"));
    }

    fn row(&self, row: &Row, looks: Looks, columns: &Columns, area: Rect, now: &Now, buffer: &mut Buffer) {
        let green = Style::new().bold().fg_color(Some(AnsiColor::Green.into()));
        let (plain, dim) = (Style::new(), Style::new().dimmed());
        let of_row = |style: Style| if looks.is_current { green } else { style };
        let put = |buffer: &mut Buffer, column: (u16, u16), text: &Visible, style: Style| {
            // Only the fields that the filter searches are highlighted.
            let text = cut(text, usize::from(column.1));
            let marks = if self.matcher.0.is_empty() { Vec::new() } else { self.matcher.1.marks(text.as_str()) };
            self.paint.text(buffer, part(area, column), &text, style, &marks);
        };
        let unmarked = |painter: &Self, buffer: &mut Buffer, column: (u16, u16), text: &Visible, style: Style| {
            painter.paint.text(buffer, part(area, column), text, style, &[]);
        };
        let name_columns = match looks.is_in_text {
            true => (columns.name.0, columns.name.1.saturating_sub(IN_TEXT.len() as u16 + 1)),
            false => columns.name,
        };
        let yellow = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
        let (mut x, end) = (name_columns.0, name_columns.0 + name_columns.1);
        if row.is_pinned {
            unmarked(self, buffer, name_columns, &SIGN.into(), yellow);
            x += SIGN.len() as u16;
        }
        let is_title = row.title.is_some();
        let name: Visible = row.name().into();
        put(buffer, (x, end - x), &name, of_row(if is_title { plain } else { dim }));
        // Tags take the room that the name leaves.
        x = u16::try_from(width(&name)).unwrap_or(end).saturating_add(x + GAP);
        if !row.tags.is_empty() && x + LEAST_TAGS <= end {
            put(buffer, (x, end - x), &listed(&row.tags).into(), dim);
        }
        if let Some(column) = columns.source {
            put(
                buffer,
                column,
                &row.source.as_str().into(),
                of_row(Style::new().fg_color(Some(AnsiColor::Cyan.into()))),
            );
        }
        if let Some(column) = columns.id {
            put(buffer, column, &row.id.as_str().into(), dim);
        }
        if looks.is_current {
            unmarked(self, buffer, (0, 1), &"→".into(), green);
        }
        if looks.is_marked {
            unmarked(self, buffer, (1, 1), &"●".into(), yellow);
        }
        if looks.is_in_text {
            let (x, width) = (columns.name.0, columns.name.1);
            let start = x + width.saturating_sub(IN_TEXT.len() as u16);
            unmarked(self, buffer, (start, IN_TEXT.len() as u16), &IN_TEXT.into(), dim.italic());
        }
        unmarked(self, buffer, columns.active, &now.relative(row.last_active).into(), of_row(plain));
        if let (Some(column), Some(messages)) = (columns.messages, row.messages) {
            let text = right(&messages.to_string().into(), usize::from(column.1));
            unmarked(self, buffer, column, &text, of_row(plain));
        }
    }
}

/// Returns the error of the list as a whole.
fn trouble(state: &State) -> Option<String> {
    let unreadable = match &state.unreadable {
        (0, _) => None,
        (1, first) => Some(format!("1 row can't be read: {first}")),
        (count, first) => Some(format!("{} can't be read; the first: {first}", plural(*count, "rows"))),
    };
    let cut_short = state.cut_short.as_ref().map(|why| format!("The list is not complete: {why}"));
    let all: Vec<String> = cut_short.into_iter().chain(unreadable).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Returns the text to show instead of rows.
fn nothing(state: &State) -> (String, Style) {
    let dim = Style::new().dimmed();
    if state.is_loading {
        return ("Loading …".to_owned(), dim);
    }
    if state.listed() == 0
        && let Some(trouble) = trouble(state)
    {
        return (trouble, red());
    }
    match &state.search {
        _ if state.filter.text().is_empty() => ("No sessions found.".to_owned(), dim),
        Search::Going => ("No title matches; searching what was said …".to_owned(), dim),
        Search::Failed(why) => (format!("No title matches, and what was said could not be searched: {why}"), red()),
        Search::Idle | Search::Done { .. } => ("No sessions match the filter.".to_owned(), dim),
    }
}

fn red() -> Style {
    Style::new().bold().fg_color(Some(AnsiColor::Red.into()))
}

/// Display state of a row.
#[derive(Clone, Copy)]
struct Looks {
    is_current: bool,
    is_marked: bool,
    is_in_text: bool,
}

fn part(area: Rect, (x, width): (u16, u16)) -> Rect {
    Rect { x: area.x + x, width, ..area }.intersection(area)
}
