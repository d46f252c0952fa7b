//! Effects of keys and of the mouse.

use super::{Mode, Question, State};
use crate::commands::browse::event::{Effect, Input, Notice};
use crate::commands::browse::help;
use crate::commands::browse::line_editor::LineEditor;
use hermes_session::{SessionId, Title};
use std::path::PathBuf;
use std::time::Duration;

/// Maximum time between two clicks on a row that count as a double click.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

impl State {
    pub(super) fn input(&mut self, input: Input) -> Vec<Effect> {
        self.notice = None;
        match input {
            Input::Quit => vec![Effect::Leave(None)],
            Input::Suspend => vec![Effect::Suspend],
            // The screen is too small to show what a key does.
            input if self.areas().is_none() => match input {
                Input::Escape => vec![Effect::Leave(None)],
                _ => Vec::new(),
            },
            input => match std::mem::replace(&mut self.mode, Mode::List) {
                Mode::List => self.in_list(input),
                Mode::Help(top) => self.in_help(top, &input),
                Mode::Rename { id, line } => self.in_rename(id, line, input),
                Mode::Tag { ids, line } => self.in_tag(ids, line, input),
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
            Input::Escape | Input::EndOfFile if is_blank => return vec![Effect::Leave(None)],
            Input::Text(text) if is_blank && text == "q" => return vec![Effect::Leave(None)],
            Input::Text(text) if is_blank && text == "?" => self.mode = Mode::Help(0),
            // Leading blanks filter nothing.
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
            Input::Pin => return self.begin_pin(),
            Input::Tag => self.begin_tag(),
            Input::Delete => self.begin_delete(),
            Input::Export => self.begin_export(),
            Input::Wheel { lines, column, row } => self.wheel(lines, column, row),
            Input::Click { column, row, at } => return self.click(column, row, at),
            _ => {}
        }
        Vec::new()
    }

    /// Toggles the mark of the row, and moves the cursor by `step`.
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

    /// Returns the conversations that a command applies to: the marked ones, else the one under the cursor.
    pub(super) fn chosen(&self) -> Vec<SessionId> {
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
        let (last, page) = (help::hidden(self.size), usize::from(self.size.1 / 2));
        let top = top.min(last);
        let top = match input {
            Input::Up => top.saturating_sub(1),
            Input::Down => top + 1,
            Input::Wheel { lines, .. } => top.saturating_add_signed(*lines as isize),
            Input::PageUp => top.saturating_sub(page),
            Input::PageDown => top + page,
            Input::Home => 0,
            Input::End => last,
            _ => return Vec::new(),
        };
        self.mode = Mode::Help(top.min(last));
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

    /// Handles the answer to a question. Only `y` confirms; anything else changes nothing.
    fn answered(&mut self, question: Question, input: &Input) -> Vec<Effect> {
        let is_yes = matches!(input, Input::Text(text) if text == "y" || text == "Y");
        match question {
            // The mouse does not answer a question.
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
        // The cursor moves along, so that it stays visible.
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

/// Edits a line.
pub(super) fn type_into(line: &mut LineEditor, input: Input) {
    match input {
        Input::Text(text) => line.insert(&text),
        Input::Backspace => _ = line.backspace(),
        Input::Delete | Input::EndOfFile => line.delete(),
        Input::Clear => _ = line.clear(),
        Input::ClearWord => _ = line.clear_word(),
        Input::Left => line.left(),
        Input::Right => line.right(),
        Input::Home => line.home(),
        Input::End => line.end(),
        _ => {}
    }
}
