//! State of the picker, and how events change it. It reads no clock and no store, and draws nothing.

mod input;
mod pins_and_tags;
#[cfg(test)]
mod tests;

use super::areas::{Areas, areas};
use super::event::{Effect, Event, Hit, Notice, Preview, Wanted};
use super::line_editor::LineEditor;
use super::rows::{Row, Rows, Words};
use hermes_session::search::Query;
use hermes_session::{MessageId, SessionId};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum number of previews kept.
const KEPT: usize = 32;

/// The picker.
#[derive(Debug)]
pub(super) struct State {
    rows: Rows,
    /// Whether more rows will arrive.
    pub(super) is_loading: bool,
    /// The error that ended the list early.
    pub(super) cut_short: Option<String>,
    /// The number of unreadable rows, and the error of the first.
    pub(super) unreadable: (u64, String),
    pub(super) filter: LineEditor,
    words: Words,
    /// The positions of the rows that match the filter, in the order of the list.
    direct: Vec<usize>,
    /// The hits of the last search.
    hits: Vec<Hit>,
    /// The positions of the hits that no row of the list shows already.
    in_text: Vec<usize>,
    pub(super) search: Search,
    /// The number of the last search. Answers to earlier ones are ignored.
    question: u64,
    /// The position of the current row among those shown.
    pub(super) cursor: usize,
    /// The position of the first row on the screen.
    pub(super) top: usize,
    marked: Vec<SessionId>,
    /// Whether deleted conversations can't be restored.
    pub(super) deletes_for_good: bool,
    pub(super) mode: Mode,
    pub(super) notice: Option<Notice>,
    /// Notices and questions held back until the user is back in the list.
    waiting: Waiting,
    previews: VecDeque<(Wanted, Preview)>,
    /// The preview that is shown or awaited.
    wanted: Option<Wanted>,
    /// Lines that the preview was scrolled down.
    pub(super) preview_scroll: i32,
    wants_preview: Option<bool>,
    size: (u16, u16),
    last_click: Option<(usize, Duration)>,
}

/// State of the text search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Search {
    /// No search is wanted.
    Idle,
    Going,
    Done {
        is_partial: bool,
    },
    Failed(String),
}

/// The mode, which determines the meaning of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    /// Text filters the list.
    List,
    /// The keys are listed, starting with this one.
    Help(usize),
    /// A new title is edited.
    Rename { id: SessionId, line: LineEditor },
    /// Tags to add and to remove are edited.
    Tag { ids: Vec<SessionId>, line: LineEditor },
    /// A file name is edited.
    Export { ids: Vec<SessionId>, line: LineEditor },
    /// A question awaits confirmation.
    Confirm(Question),
}

/// Notices and questions that arrived in another mode than the list. Shown at once, they would hide the line being
/// edited.
#[derive(Debug, Default)]
struct Waiting {
    notice: Option<Notice>,
    questions: VecDeque<Question>,
}

/// A question to confirm before something irreversible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Question {
    Delete(Vec<SessionId>),
    Overwrite { ids: Vec<SessionId>, file: PathBuf },
}

impl State {
    /// Returns an empty picker for a screen of this size, in columns and lines.
    pub(super) fn new(size: (u16, u16)) -> Self {
        Self {
            rows: Rows::default(),
            is_loading: true,
            cut_short: None,
            unreadable: (0, String::new()),
            filter: LineEditor::default(),
            words: Words::default(),
            direct: Vec::new(),
            hits: Vec::new(),
            in_text: Vec::new(),
            search: Search::Idle,
            question: 0,
            cursor: 0,
            top: 0,
            marked: Vec::new(),
            deletes_for_good: false,
            mode: Mode::List,
            notice: None,
            waiting: Waiting::default(),
            previews: VecDeque::new(),
            wanted: None,
            preview_scroll: 0,
            wants_preview: None,
            size,
            last_click: None,
        }
    }

    /// Applies an event. Returns the effects to carry out.
    pub(super) fn update(&mut self, event: Event) -> Vec<Effect> {
        let mut effects = Vec::new();
        match event {
            Event::Input(input) => effects = self.input(input),
            Event::Resized(width, height) => self.size = (width, height),
            Event::Rows { rows, is_last } => {
                self.is_loading = !is_last;
                self.keeping_the_cursor(|state| state.add(rows));
            }
            Event::ListFailed(why) => {
                self.is_loading = false;
                self.cut_short = Some(why);
            }
            Event::Unreadable { count, first } => match &mut self.unreadable {
                (0, _) => self.unreadable = (count, first),
                (before, _) => *before += count,
            },
            Event::Found { question, hits, is_partial } if question == self.question => {
                self.search = Search::Done { is_partial };
                self.hits = hits;
                self.keeping_the_cursor(Self::merge);
            }
            Event::SearchFailed { question, why } if question == self.question => self.search = Search::Failed(why),
            // Answers to an outdated search.
            Event::Found { .. } | Event::SearchFailed { .. } => {}
            Event::Previewed { wanted, preview } => self.keep(wanted, preview),
            Event::Renamed { id, title } => {
                self.tell(Notice::of(format!("The title is {title} now")));
                self.keeping_the_cursor(|state| state.rename(&id, title.as_str()));
            }
            Event::Deleted { ids, told } => {
                self.tell(told);
                self.keeping_the_cursor(|state| state.remove(&ids));
            }
            Event::Pinned { ids, is_pinned, failed } => self.pinned(&ids, is_pinned, failed),
            Event::Tagged { tags, failed } => self.tagged(&tags, failed),
            Event::Exists { ids, file } => self.waiting.questions.push_back(Question::Overwrite { ids, file }),
            Event::Told(notice) => self.tell(notice),
        }
        self.take_waiting();
        effects.extend(self.settle());
        effects
    }

    /// Returns whether a question appeared that is not the immediate answer to a key.
    pub(super) const fn asks_by_itself(&self) -> bool {
        matches!(self.mode, Mode::Confirm(Question::Overwrite { .. }))
    }

    /// Returns to the list and shows `notice`. Returns the pending notices and questions, which nobody saw, as events.
    pub(super) fn leave(&mut self, notice: Notice) -> impl Iterator<Item = Event> + use<> {
        let Waiting { notice: told, questions } = std::mem::take(&mut self.waiting);
        (self.mode, self.notice) = (Mode::List, Some(notice));
        let asked = questions.into_iter().filter_map(|question| match question {
            Question::Overwrite { ids, file } => Some(Event::Exists { ids, file }),
            Question::Delete(_) => None,
        });
        told.map(Event::Told).into_iter().chain(asked)
    }

    /// Shows a notice as soon as possible. A success does not replace a pending error.
    fn tell(&mut self, notice: Notice) {
        let is_worse = |waiting: &Notice| waiting.is_error && !notice.is_error;
        if !self.waiting.notice.as_ref().is_some_and(is_worse) {
            self.waiting.notice = Some(notice);
        }
    }

    /// Asks the next pending question, else shows the pending notice, if the list is the current mode.
    fn take_waiting(&mut self) {
        if self.mode != Mode::List {
            return;
        }
        if let Some(question) = self.waiting.questions.pop_front() {
            self.mode = Mode::Confirm(question);
        } else if let Some(notice) = self.waiting.notice.take() {
            self.notice = Some(notice);
        }
    }

    /// Returns the number of rows that match.
    pub(super) fn len(&self) -> usize {
        self.direct.len() + self.in_text.len()
    }

    /// Returns the number of rows of the list received so far.
    pub(super) fn listed(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of rows shown only because of their messages.
    pub(super) fn found_in_text(&self) -> usize {
        self.in_text.len()
    }

    pub(super) fn marked(&self) -> usize {
        self.marked.len()
    }

    pub(super) fn is_marked(&self, id: &SessionId) -> bool {
        self.marked.contains(id)
    }

    /// Returns the row at a position among those shown, and whether it is shown only because of its messages.
    pub(super) fn row(&self, place: usize) -> Option<(&Row, bool)> {
        if let Some(listed) = self.direct.get(place) {
            return self.rows.get(*listed).map(|row| (row, false));
        }
        let hit = self.hits.get(*self.in_text.get(place - self.direct.len())?)?;
        // The list has more details than the search hit.
        let listed = self.rows.place(&hit.row.id).and_then(|place| self.rows.get(place));
        Some((listed.unwrap_or(&hit.row), true))
    }

    /// Returns the row under the cursor.
    pub(super) fn current(&self) -> Option<&Row> {
        self.row(self.cursor).map(|(row, _)| row)
    }

    /// Returns a conversation by its id, from the list or from the hits.
    pub(super) fn known(&self, id: &SessionId) -> Option<&Row> {
        let listed = self.rows.place(id).and_then(|place| self.rows.get(place));
        listed.or_else(|| self.hits.iter().map(|hit| &hit.row).find(|row| row.id == *id))
    }

    /// Returns the layout, or `None` if the screen is too small.
    pub(super) fn areas(&self) -> Option<Areas> {
        areas(self.size, self.wants_preview)
    }

    pub(super) const fn size(&self) -> (u16, u16) {
        self.size
    }

    /// Returns the wanted preview, and its content once it has arrived.
    pub(super) fn preview(&self) -> Option<(&Wanted, Option<&Preview>)> {
        let wanted = self.wanted.as_ref()?;
        Some((wanted, self.previews.iter().find(|(kept, _)| kept == wanted).map(|(_, preview)| preview)))
    }

    fn add(&mut self, rows: Vec<Row>) {
        let first = self.rows.len();
        rows.into_iter().for_each(|row| self.rows.push(row));
        self.direct.extend(self.rows.with(&self.words, first));
        self.merge();
    }

    /// Determines the hits to show in addition to the rows of the list.
    fn merge(&mut self) {
        let is_shown =
            |id: &SessionId| self.rows.place(id).is_some_and(|place| self.direct.binary_search(&place).is_ok());
        self.in_text = (0..self.hits.len()).filter(|hit| !is_shown(&self.hits[*hit].row.id)).collect();
    }

    fn rename(&mut self, id: &SessionId, title: &str) {
        self.rows.rename(id, title);
        self.hits.iter_mut().filter(|hit| hit.row.id == *id).for_each(|hit| hit.row.title = Some(title.to_owned()));
        self.filter_again();
    }

    fn remove(&mut self, ids: &[SessionId]) {
        self.rows.remove(ids);
        self.hits.retain(|hit| !ids.contains(&hit.row.id));
        self.marked.retain(|id| !ids.contains(id));
        self.previews.retain(|(wanted, _)| !ids.contains(&wanted.id));
        self.filter_again();
    }

    fn filter_again(&mut self) {
        self.direct = self.rows.with(&self.words, 0);
        self.merge();
    }

    /// Applies a change of the filter.
    fn filter_changed(&mut self) -> Vec<Effect> {
        let words = Words::of(self.filter.text());
        let is_narrower = !self.words.is_empty() && words.is_within(&self.words);
        self.direct = match is_narrower {
            true => self.rows.of_these_with(&self.direct, &words),
            false => self.rows.with(&words, 0),
        };
        self.words = words;
        self.hits.clear();
        self.in_text.clear();
        (self.cursor, self.top) = (0, 0);
        self.question += 1;
        let text = self.filter.text().trim();
        if is_worth_searching(text) {
            self.search = Search::Going;
            return vec![Effect::Search { question: self.question, text: text.to_owned() }];
        }
        self.search = Search::Idle;
        vec![Effect::StopSearch]
    }

    /// Changes rows and keeps the cursor on its row, at the same line of the screen, if the row still exists.
    fn keeping_the_cursor(&mut self, change: impl FnOnce(&mut Self)) {
        let (id, before) = (self.current().map(|row| row.id.clone()), self.cursor);
        change(self);
        let after = id.and_then(|id| {
            let listed = self.rows.place(&id).and_then(|place| self.direct.binary_search(&place).ok());
            let found = || self.in_text.iter().position(|hit| self.hits[*hit].row.id == id);
            listed.or_else(|| Some(self.direct.len() + found()?))
        });
        if let Some(after) = after {
            self.cursor = after;
            self.top =
                if after >= before { self.top + (after - before) } else { self.top.saturating_sub(before - after) };
        }
    }

    fn keep(&mut self, wanted: Wanted, preview: Preview) {
        self.previews.retain(|(kept, _)| *kept != wanted);
        self.previews.push_back((wanted, preview));
        if self.previews.len() > KEPT {
            self.previews.pop_front();
        }
    }

    /// Returns the best match in a conversation, if the search found one.
    fn place_in_text(&self, id: &SessionId) -> Option<(SessionId, MessageId)> {
        self.hits.iter().find(|hit| hit.row.id == *id).map(|hit| hit.place.clone())
    }

    /// Clamps the cursor and the scroll position, and requests the preview of the current row.
    fn settle(&mut self) -> Option<Effect> {
        let areas = self.areas();
        let height = areas.map_or(1, |areas| usize::from(areas.list.height).max(1));
        self.cursor = self.cursor.min(self.len().saturating_sub(1));
        self.top = self.top.min(self.len().saturating_sub(height)).min(self.cursor);
        self.top = self.top.max((self.cursor + 1).saturating_sub(height));
        let has_preview = areas.is_some_and(|areas| areas.preview.is_some());
        let id = self.current().map(|row| row.id.clone()).filter(|_| has_preview);
        let wanted = id.map(|id| Wanted { place: self.place_in_text(&id), id });
        if wanted == self.wanted {
            return None;
        }
        self.preview_scroll = 0;
        self.wanted = wanted;
        let is_new = self.preview().is_some_and(|(_, preview)| preview.is_none());
        self.wanted.clone().filter(|_| is_new).map(Effect::Preview)
    }
}

/// Returns whether a text is worth a search. A single letter is in every message.
fn is_worth_searching(text: &str) -> bool {
    let is_letter = text.len() <= 1;
    !is_letter && !Query::parse(text).is_empty()
}
