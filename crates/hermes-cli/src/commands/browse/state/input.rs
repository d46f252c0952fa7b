//! What keys and the mouse do.

use super::{Mode, Question, State};
use crate::commands::browse::event::{Effect, Input, Notice};
use crate::commands::browse::line_editor::LineEditor;
use hermes_session::{SessionId, Title};
use std::path::PathBuf;
use std::time::Duration;

/// Two clicks on one row within this time are one choice.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

impl State {
    pub(super) fn input(&mut self, input: Input) -> Vec<Effect> {
        self.notice = None;
        match input {
            Input::Quit => vec![Effect::Leave(None)],
            Input::Suspend => vec![Effect::Suspend],
            // Nothing is seen of what keys would do.
            input if self.areas().is_none() => match input {
                Input::Escape => vec![Effect::Leave(None)],
                _ => Vec::new(),
            },
            input => match std::mem::replace(&mut self.mode, Mode::List) {
                Mode::List => self.in_list(input),
                Mode::Help(top) => self.in_help(top, &input),
                Mode::Rename { id, line } => self.in_rename(id, line, input),
                Mode::Export { ids, line } => self.in_export(ids, line, input),
                Mode::Confirm(question) => self.answered(question, &input),
            },
        }
    }

    fn in_list(&mut self, input: Input) -> Vec<Effect> {
        let is_blank = self.filter.text().is_empty();
        let page = self.areas().map_or(1, |areas| usize::from(areas.list.height).max(1));
        let last = self.len().saturating_sub(1);
        match input {
            Input::Up => self.cursor = self.cursor.checked_sub(1).unwrap_or(last),
            Input::Down => self.cursor = if self.cursor >= last { 0 } else { self.cursor + 1 },
            Input::PageUp => self.cursor = self.cursor.saturating_sub(page),
            Input::PageDown => self.cursor = (self.cursor + page).min(last),
            Input::Home => self.cursor = 0,
            Input::End => self.cursor = last,
            Input::ScrollPreview(lines) => self.preview_scroll = self.preview_scroll.saturating_add(lines),
            Input::Enter => return self.current().map(|row| Effect::Leave(Some(row.id.clone()))).into_iter().collect(),
            Input::Escape if is_blank => return vec![Effect::Leave(None)],
            Input::Text(text) if is_blank && text == "q" => return vec![Effect::Leave(None)],
            Input::Text(text) if is_blank && text == "?" => self.mode = Mode::Help(0),
            // Blanks before a word filter nothing.
            Input::Text(text) if is_blank && text.trim().is_empty() => {}
            Input::Text(text) => {
                self.filter.insert(&text);
                return self.filter_changed();
            }
            Input::Escape => {
                self.filter = LineEditor::default();
                return self.filter_changed();
            }
            Input::Backspace if self.filter.backspace() => return self.filter_changed(),
            Input::Clear if self.filter.clear() => return self.filter_changed(),
            Input::ClearWord if self.filter.clear_word() => return self.filter_changed(),
            Input::Mark => self.mark(1),
            Input::MarkUp => self.mark(-1),
            Input::Preview => self.toggle_preview(),
            Input::Help => self.mode = Mode::Help(0),
            Input::Rename => self.begin_rename(),
            Input::Delete => self.begin_delete(),
            Input::Export => self.begin_export(),
            Input::Wheel { lines, column, row } => self.wheel(lines, column, row),
            Input::Click { column, row, at } => return self.click(column, row, at),
            _ => {}
        }
        Vec::new()
    }

    /// Marks the row, or takes its mark away, and goes on to the next.
    fn mark(&mut self, step: isize) {
        let Some(id) = self.current().map(|row| row.id.clone()) else { return };
        match self.marked.iter().position(|marked| *marked == id) {
            Some(place) => _ = self.marked.remove(place),
            None => self.marked.push(id),
        }
        self.cursor = self.cursor.saturating_add_signed(step);
    }

    fn toggle_preview(&mut self) {
        let is_shown = self.areas().is_some_and(|areas| areas.preview.is_some());
        self.wants_preview = Some(!is_shown);
    }

    /// The conversations that a command is about: those that are marked, else the one under the cursor.
    fn chosen(&self) -> Vec<SessionId> {
        if !self.marked.is_empty() {
            return self.marked.clone();
        }
        self.current().map(|row| row.id.clone()).into_iter().collect()
    }

    fn begin_rename(&mut self) {
        if let Some(row) = self.current() {
            let line = LineEditor::new(row.title.clone().unwrap_or_default());
            self.mode = Mode::Rename { id: row.id.clone(), line };
        }
    }

    fn begin_delete(&mut self) {
        let chosen = self.chosen();
        if !chosen.is_empty() {
            self.mode = Mode::Confirm(Question::Delete(chosen));
        }
    }

    fn begin_export(&mut self) {
        let ids = self.chosen();
        let name = match ids.as_slice() {
            [] => return,
            [id] if id.is_file_safe() => format!("{id}.jsonl"),
            _ => "conversations.jsonl".to_owned(),
        };
        self.mode = Mode::Export { ids, line: LineEditor::new(name) };
    }

    fn in_help(&mut self, top: usize, input: &Input) -> Vec<Effect> {
        self.mode = match input {
            Input::Up | Input::Wheel { lines: ..=0, .. } => Mode::Help(top.saturating_sub(1)),
            Input::Down | Input::Wheel { lines: 1.., .. } => Mode::Help((top + 1).min(64)),
            Input::PageUp | Input::Home => Mode::Help(0),
            Input::PageDown => Mode::Help((top + 5).min(64)),
            _ => Mode::List,
        };
        Vec::new()
    }

    fn in_rename(&mut self, id: SessionId, mut line: LineEditor, input: Input) -> Vec<Effect> {
        match input {
            Input::Escape => return Vec::new(),
            Input::Enter => match Title::parse(line.text()) {
                Ok(title) => return vec![Effect::Rename { id, title }],
                Err(invalid) => self.notice = Some(Notice::error(format!("{invalid}: {}", invalid.hint))),
            },
            input => type_into(&mut line, input),
        }
        self.mode = Mode::Rename { id, line };
        Vec::new()
    }

    fn in_export(&mut self, ids: Vec<SessionId>, mut line: LineEditor, input: Input) -> Vec<Effect> {
        match input {
            Input::Escape => return Vec::new(),
            Input::Enter if !line.text().trim().is_empty() => {
                let file = PathBuf::from(line.text().trim());
                return vec![Effect::Export { ids, file, is_overwriting: false }];
            }
            input => type_into(&mut line, input),
        }
        self.mode = Mode::Export { ids, line };
        Vec::new()
    }

    /// A clear yes is one. Whatever else is typed leaves everything as it is.
    fn answered(&mut self, question: Question, input: &Input) -> Vec<Effect> {
        let is_yes = matches!(input, Input::Text(text) if text == "y" || text == "Y");
        match question {
            // A move of the mouse is no answer.
            question if matches!(input, Input::Wheel { .. } | Input::Click { .. }) => {
                self.mode = Mode::Confirm(question);
                Vec::new()
            }
            Question::Delete(ids) if is_yes => vec![Effect::Delete(ids)],
            Question::Overwrite { ids, file } if is_yes => vec![Effect::Export { ids, file, is_overwriting: true }],
            _ => {
                self.notice = Some(Notice::of("Nothing was changed"));
                Vec::new()
            }
        }
    }

    fn wheel(&mut self, lines: i32, column: u16, row: u16) {
        let Some(areas) = self.areas() else { return };
        let is_over_preview = areas.preview.is_some_and(|pane| pane.text.contains((column, row).into()));
        if is_over_preview {
            self.preview_scroll = self.preview_scroll.saturating_add(lines);
            return;
        }
        let height = usize::from(areas.list.height).max(1);
        let most = self.len().saturating_sub(height);
        self.top = self.top.saturating_add_signed(lines as isize).min(most);
        // The cursor goes along, so that it stays in sight.
        self.cursor = self.cursor.clamp(self.top, (self.top + height - 1).max(self.top));
    }

    fn click(&mut self, column: u16, row: u16, at: Duration) -> Vec<Effect> {
        let Some(list) = self.areas().map(|areas| areas.list).filter(|list| list.contains((column, row).into())) else {
            return Vec::new();
        };
        let place = self.top + usize::from(row - list.y);
        if place >= self.len() {
            return Vec::new();
        }
        let before = self.last_click.replace((place, at));
        self.cursor = place;
        let is_double = before.is_some_and(|(same, then)| same == place && at.saturating_sub(then) <= DOUBLE_CLICK);
        if is_double { self.in_list(Input::Enter) } else { Vec::new() }
    }
}

fn type_into(line: &mut LineEditor, input: Input) {
    match input {
        Input::Text(text) => line.insert(&text),
        Input::Backspace => _ = line.backspace(),
        Input::Delete => line.delete(),
        Input::Clear => _ = line.clear(),
        Input::ClearWord => _ = line.clear_word(),
        Input::Left => line.left(),
        Input::Right => line.right(),
        Input::Home => line.home(),
        Input::End => line.end(),
        _ => {}
    }
}
