//! The last line (keys, questions, notices), and the page of keys.

use super::Painter;
use crate::commands::browse::event::Notice;
use crate::commands::browse::help;
use crate::commands::browse::keys::KEYS;
use crate::commands::browse::line_editor::LineEditor;
use crate::commands::browse::rows::Row;
use crate::commands::browse::state::{Mode, Question, State};
use anstyle::{AnsiColor, Style};
use hermes_terminal::Visible;
use hermes_terminal::figures::plural;
use hermes_terminal::layout::{cut, fit, tail, width, wrap};
use hermes_terminal::transcript::NO_TITLE;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::{Position, Rect};

/// Columns between two keys.
const GAP: usize = 2;
/// The choices behind a question.
const CHOICE: &str = " [y/N] ";

impl Painter {
    /// Draws the last line. Returns the position of the text cursor, if it is there.
    pub(super) fn foot(&self, state: &State, area: Rect, buffer: &mut Buffer) -> Option<Position> {
        match &state.mode {
            Mode::List => match &state.notice {
                Some(notice) => self.news(notice, area, buffer),
                None => self.keys(area, buffer),
            },
            Mode::Help(top) => {
                let text = match help::hidden(state.size()) {
                    0 => "Any key closes this".to_owned(),
                    hidden => {
                        format!("↑ ↓ scroll ({} below), other keys close", hidden.saturating_sub(*top))
                    }
                };
                self.paint.text(buffer, area, &text.into(), Style::new().dimmed(), &[]);
            }
            Mode::Rename { line, .. } => {
                // An error about the line appears above it.
                let above = Rect { y: area.y - 1, ..area };
                state.notice.iter().for_each(|notice| self.news(notice, above, buffer));
                return self.typed("Title: ", line, area, buffer);
            }
            Mode::Tag { ids, line } => {
                let above = Rect { y: area.y - 1, ..area };
                match &state.notice {
                    Some(notice) => self.news(notice, above, buffer),
                    None => self.above(&tagging(&state.tags_of(ids)), Style::new().dimmed(), above, buffer),
                }
                return self.typed("Tag: ", line, area, buffer);
            }
            Mode::Export { line, .. } => return self.typed("Export to: ", line, area, buffer),
            Mode::Confirm(question) => return self.question(state, question, area, buffer),
        }
        None
    }

    fn news(&self, notice: &Notice, area: Rect, buffer: &mut Buffer) {
        let color = if notice.is_error { AnsiColor::Red } else { AnsiColor::Green };
        self.above(&notice.text, Style::new().bold().fg_color(Some(color.into())), area, buffer);
    }

    /// Draws a text that ends in the last line of an area. It takes as many lines as it needs, but never covers the
    /// whole list.
    fn above(&self, text: &str, style: Style, area: Rect, buffer: &mut Buffer) {
        let mut text = wrap(&text.into(), usize::from(area.width));
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

    /// Draws as many keys as fit.
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

    /// Draws an edited line, scrolled so that the cursor is visible.
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
                    // A conversation is deleted by a name that identifies it.
                    [id] => match state.known(id).map(Row::name) {
                        Some(name) if name != NO_TITLE => name.into(),
                        _ => id.as_str().into(),
                    },
                    ids => plural(ids.len() as u64, "conversations").into(),
                };
                if state.deletes_for_good { ("Delete ", what, " for good?") } else { ("Move ", what, " to the trash?") }
            }
            Question::Overwrite { file, .. } => ("Overwrite ", file.display().to_string().into(), "?"),
        };
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        // The name is cut, never the question. Without room for the last space, the cursor is on the bracket.
        let room = usize::from(area.width).saturating_sub(before.len() + behind.len() + CHOICE.trim_end().len());
        // The end of a path says most.
        let what = if matches!(question, Question::Overwrite { .. }) { tail(&what, room) } else { cut(&what, room) };
        let text = format!("{before}{what}{behind}").into();
        let used = self.paint.text(buffer, area, &text, red, &[]);
        let rest = Rect { x: used, width: area.width - used, ..area };
        let used = self.paint.text(buffer, rest, &CHOICE.into(), Style::new().bold(), &[]);
        Some(Position { x: (rest.x + used).min(area.width - 1), y: area.y })
    }

    /// Draws the page of keys, from line `top` on.
    pub(super) fn help(&self, top: usize, area: Rect, buffer: &mut Buffer) {
        let lines = help::lines(area.width);
        let top = top.min(lines.len().saturating_sub(usize::from(area.height)));
        for ((key, what), y) in lines.iter().skip(top).zip(area.y..area.bottom()) {
            let line = Rect { y, height: 1, ..area };
            let used = self.paint.text(buffer, line, key, Style::new().bold(), &[]);
            let rest = Rect { x: used, width: line.width - used, ..line };
            self.paint.text(buffer, rest, what, Style::new(), &[]);
        }
    }
}

/// Returns the text above the line in which tags are typed.
fn tagging(tags: &str) -> String {
    let has = if tags.is_empty() { "No tags".to_owned() } else { format!("Tags: {tags}") };
    format!("{has}. TAG adds, -TAG removes.")
}
