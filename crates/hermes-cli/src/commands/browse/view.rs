//! Draws the picker. Stored and typed text reaches the screen only as visible text.

mod foot;
mod list;
mod preview;
#[cfg(test)]
mod tests;

use super::areas::LEAST;
use super::state::{Mode, Search, State};
use anstyle::{AnsiColor, Style};
use hermes_session::search::Query;
use hermes_session::search::matching::Matcher;
use hermes_terminal::Visible;
use hermes_terminal::figures::{number, plural};
use hermes_terminal::layout::{cut, tail, width};
use hermes_terminal::paint::Paint;
use hermes_terminal::time::Now;
use preview::Laid;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};
use ratatui_core::terminal::Frame;

/// Width in columns below which the title line is abbreviated.
const NARROW: u16 = 64;

/// Draws the picker, and caches layouts that are expensive.
pub(super) struct Painter {
    paint: Paint,
    /// The filter, and its matcher.
    matcher: (String, Matcher),
    laid: Option<Laid>,
}

impl Painter {
    pub(super) fn new(has_color: bool) -> Self {
        let matcher = (String::new(), Matcher::new(&Query::parse("")));
        Self { paint: Paint { has_color }, matcher, laid: None }
    }

    /// Draws the whole picker.
    pub(super) fn draw(&mut self, state: &State, now: &Now, frame: &mut Frame<'_>) {
        if let Some(cursor) = self.put(state, now, frame.buffer_mut()) {
            frame.set_cursor_position(cursor);
        }
    }

    /// Draws into a buffer. Returns the position of the text cursor, if there is one.
    fn put(&mut self, state: &State, now: &Now, buffer: &mut Buffer) -> Option<Position> {
        let Some(areas) = state.areas() else {
            self.too_small(state, buffer);
            return None;
        };
        if self.matcher.0 != state.filter.text() {
            let text = state.filter.text().to_owned();
            self.matcher = (text.clone(), Matcher::new(&Query::parse(&text)));
        }
        let cursor = self.title(state, areas.title, buffer);
        match state.mode {
            Mode::Help(top) => self.help(top, Rect { height: state.size().1 - 2, y: 1, ..areas.title }, buffer),
            _ => {
                self.list(state, &areas, now, buffer);
                if let Some(pane) = areas.preview {
                    self.preview(state, &pane, now, buffer);
                }
            }
        }
        self.foot(state, areas.keys, buffer).or(cursor.filter(|_| state.mode == Mode::List))
    }

    fn too_small(&self, state: &State, buffer: &mut Buffer) {
        let (columns, lines) = state.size();
        let text = format!("This window has {columns}×{lines}; browsing needs {}×{}. Esc quits.", LEAST.0, LEAST.1);
        let text = hermes_terminal::layout::wrap(&text.into(), usize::from(columns));
        for (line, y) in text.iter().zip(0..lines) {
            self.paint.text(buffer, Rect::new(0, y, columns, 1), line, Style::new(), &[]);
        }
    }

    /// Draws the filter on the left and the counts on the right.
    fn title(&self, state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        let columns = usize::from(area.width);
        let status = cut(&status(state, area.width < NARROW).into(), columns * 3 / 5);
        let start = columns - width(&status).min(columns);
        let dim = Style::new().dimmed();
        let at = |x: usize, room: usize| Rect { x: x as u16, width: room as u16, ..area };
        self.paint.text(buffer, at(start, columns - start), &status, dim, &[]);
        let room = start.saturating_sub(1);
        let typed: Visible = state.filter.text().into();
        if typed.as_str().is_empty() {
            let bold = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
            let used = self.paint.text(buffer, at(0, room), &"Browse sessions".into(), bold, &[]);
            let hint = if area.width < NARROW { "" } else { "  type to filter" };
            self.paint.text(buffer, at(usize::from(used), room - usize::from(used)), &hint.into(), dim, &[]);
            return None;
        }
        let bold = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        let sign = usize::from(self.paint.text(buffer, at(0, room), &"› ".into(), bold, &[]));
        let typed = tail(&typed, room.saturating_sub(sign + 1));
        let used = self.paint.text(buffer, at(sign, room - sign), &typed, bold, &[]);
        Some(Position { x: sign as u16 + used, y: area.y })
    }
}

/// Returns the number of conversations and the current activity.
fn status(state: &State, is_short: bool) -> String {
    let listed = state.listed() as u64;
    let mut text = match state.filter.text().is_empty() {
        true if is_short => number(listed),
        true => plural(listed, "conversations"),
        false => format!("{} of {}", number((state.len() - state.found_in_text()) as u64), number(listed)),
    };
    if state.is_loading {
        text.push_str(if is_short { " …" } else { ", loading …" });
    }
    if state.cut_short.is_some() {
        text.push_str(if is_short { ", cut short" } else { ", not complete" });
    }
    if state.unreadable.0 > 0 {
        text.push_str(&format!(", {} unreadable", number(state.unreadable.0)));
    }
    if state.found_in_text() > 0 {
        text.push_str(&format!(" + {} in text", number(state.found_in_text() as u64)));
    }
    let search = match &state.search {
        Search::Going if is_short => " · searching …",
        Search::Going => " · searching what was said …",
        Search::Failed(_) => " · could not search what was said",
        Search::Done { is_partial: true } => " · stopped early",
        Search::Idle | Search::Done { .. } => "",
    };
    text.push_str(search);
    if state.marked() > 0 {
        text.push_str(&format!(" · {} marked", number(state.marked() as u64)));
    }
    text
}
