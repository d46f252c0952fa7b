//! The last line (keys, questions, what is told), and the page of keys.

use super::Painter;
use crate::commands::browse::event::Notice;
use crate::commands::browse::keys::KEYS;
use crate::commands::browse::line_editor::LineEditor;
use crate::commands::browse::state::{Mode, Question, State};
use anstyle::{AnsiColor, Style};
use hermes_terminal::Visible;
use hermes_terminal::figures::plural;
use hermes_terminal::layout::{cut, fit, tail, width, wrap};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};

/// Between two keys.
const GAP: usize = 2;
/// As wide as the longest name of a key.
const KEY: usize = 11;
/// What an answer is asked for with.
const CHOICE: &str = " [y/N] ";

impl Painter {
    /// The last line; where typing goes on, if it is there.
    pub(super) fn foot(&self, state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        match &state.mode {
            Mode::List => match &state.notice {
                Some(notice) => self.news(notice, area, buffer),
                None => self.keys(area, buffer),
            },
            Mode::Help(_) => {
                let text = cut(&"↑ ↓ show more, any other key closes this".into(), usize::from(area.width));
                self.paint.text(buffer, area, &text, Style::new().dimmed(), &[]);
            }
            Mode::Rename { line, .. } => {
                // What is wrong with a line stands above it.
                let above = Rect { y: area.y - 1, ..area };
                state.notice.iter().for_each(|notice| self.news(notice, above, buffer));
                return self.typed("Title: ", line, area, buffer);
            }
            Mode::Export { line, .. } => return self.typed("Export to: ", line, area, buffer),
            Mode::Confirm(question) => return self.question(state, question, area, buffer),
        }
        None
    }

    /// What is told, up to the last line of an area: over as many lines as it takes, but never over all of the list.
    fn news(&self, notice: &Notice, area: Rect, buffer: &mut Buffer) {
        let color = if notice.is_error { AnsiColor::Red } else { AnsiColor::Green };
        let style = Style::new().bold().fg_color(Some(color.into()));
        let mut text = wrap(&notice.text.as_str().into(), usize::from(area.width));
        let most = usize::from(area.y / 2).max(1);
        if text.len() > most {
            let rest: Vec<String> = text.split_off(most - 1).iter().map(ToString::to_string).collect();
            text.push(rest.join(" ").into());
        }
        let first = area.y + 1 - text.len() as u16;
        for (line, y) in text.iter().zip(first..) {
            let area = Rect { y, ..area };
            buffer.set_style(area, ratatui_core::style::Style::reset());
            self.paint.text(buffer, area, &fit(line, usize::from(area.width)), style, &[]);
        }
    }

    /// As many keys as fit.
    fn keys(&self, area: Rect, buffer: &mut Buffer) {
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        let mut x = 0;
        for (key, what, _) in KEYS.iter().filter(|(_, what, _)| !what.is_empty()) {
            let (key, what): (Visible, Visible) = ((*key).into(), format!(" {what}").into());
            let columns = width(&key) + width(&what);
            if x + columns > usize::from(area.width) {
                break;
            }
            let rest = Rect { x: x as u16, width: area.width - x as u16, ..area };
            let used = self.paint.text(buffer, rest, &key, bold, &[]);
            let rest = Rect { x: rest.x + used, width: rest.width - used, ..area };
            self.paint.text(buffer, rest, &what, dim, &[]);
            x = (x + columns + GAP).min(usize::from(area.width));
        }
    }

    /// A line that is typed, with the place in sight.
    fn typed(&self, label: &str, line: &LineEditor, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        let bold = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        let used = self.paint.text(buffer, area, &label.into(), bold, &[]);
        let rest = Rect { x: used, width: area.width - used, ..area };
        let before = tail(&line.before().into(), usize::from(rest.width).saturating_sub(1));
        let used = self.paint.text(buffer, rest, &before, Style::new(), &[]);
        let place = Rect { x: rest.x + used, width: rest.width - used, ..rest };
        let behind: Visible = line.text()[line.before().len()..].into();
        self.paint.text(buffer, place, &behind, Style::new(), &[]);
        Some(place.as_position())
    }

    fn question(&self, state: &State, question: &Question, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        let (before, what, behind): (&str, Visible, &str) = match question {
            Question::Delete(ids) => {
                let what = match ids.as_slice() {
                    [id] => state.known(id).map_or(id.as_str(), |row| row.name()).into(),
                    ids => plural(ids.len() as u64, "conversations").into(),
                };
                ("Delete ", what, if state.deletes_for_good { " for good?" } else { "?" })
            }
            Question::Overwrite { file, .. } => ("Overwrite ", file.display().to_string().into(), "?"),
        };
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        // Whatever the name, what is asked about it is not cut.
        let room = usize::from(area.width).saturating_sub(before.len() + behind.len() + CHOICE.len());
        // Of a path the end tells most.
        let what = if matches!(question, Question::Overwrite { .. }) { tail(&what, room) } else { cut(&what, room) };
        let text = format!("{before}{what}{behind}").into();
        let used = self.paint.text(buffer, area, &text, red, &[]);
        let rest = Rect { x: used, width: area.width - used, ..area };
        let used = self.paint.text(buffer, rest, &CHOICE.into(), Style::new().bold(), &[]);
        Some(Position { x: (rest.x + used).min(area.width - 1), y: area.y })
    }

    /// What each key does.
    pub(super) fn help(&self, top: usize, area: Rect, buffer: &mut Buffer) {
        let height = usize::from(area.height);
        let top = top.min(KEYS.len().saturating_sub(height));
        for ((key, _, what), y) in KEYS.iter().skip(top).zip(area.y..area.bottom()) {
            let line = Rect { y, height: 1, ..area };
            self.paint.text(buffer, line, &fit(&(*key).into(), KEY), Style::new().bold(), &[]);
            let rest = Rect { x: KEY as u16, width: area.width - KEY as u16, ..line };
            self.paint.text(buffer, rest, &cut(&(*what).into(), usize::from(rest.width)), Style::new(), &[]);
        }
    }
}
