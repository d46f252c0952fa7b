//! What a search found: conversations in the order of their first hits, and under each its hits.

use anstyle::{AnsiColor, Style};
use hermes_session::SessionId;
use hermes_session::search::{Hit, Neighbour};
use hermes_terminal::highlight::Delimiters;
use hermes_terminal::layout::{cut, fit, width};
use hermes_terminal::time::Now;
use hermes_terminal::transcript::speaker;
use hermes_terminal::{Line, Visible};

const INDENT: usize = 2;
const GAP: usize = 2;
/// A title that has to be cut further than this gets a line of its own.
const LEAST_TITLE: usize = 16;
/// The longest name of a tool beside its result, and where there is room.
const MAX_LABEL: usize = 14;
const MAX_LABEL_IF_WIDE: usize = 30;
/// Text beside its label has at least this room; else it goes under it.
const LEAST_ROOM: usize = 32;
/// Wider lines are hard to read.
const MAX_ROOM: usize = 120;
/// How many lines of a message are shown, or about so many.
const MAX_LINES: usize = 3;

/// How hits are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// With the messages beside each.
    pub(crate) with_context: bool,
    /// Whether matches have a style; otherwise `>>>` and `<<<` surround them.
    pub(crate) is_styled: bool,
    /// The width of the terminal.
    pub(crate) columns: usize,
}

/// How many characters of a message are worth asking for, to be shown in so many columns.
pub(crate) fn snippet_length(columns: usize) -> usize {
    columns.saturating_sub(20).clamp(LEAST_ROOM, MAX_ROOM / 2) * MAX_LINES
}

/// The lines of an answer.
pub(crate) fn list(hits: &[Hit], delimiters: &Delimiters, look: Look, now: &Now) -> Vec<Line> {
    let grid = Grid::of(hits, look, now);
    let mut lines = Vec::new();
    for (number, conversation) in conversations(hits).into_iter().enumerate() {
        if number > 0 {
            lines.push(Line::default());
        }
        lines.extend(head(number + 1, conversation[0], look, now));
        lines.extend(conversation.into_iter().flat_map(|hit| grid.hit(hit, delimiters, now)));
    }
    lines
}

/// The conversations of an answer, in the order in which they are numbered.
pub(crate) fn ids(hits: &[Hit]) -> Vec<SessionId> {
    conversations(hits).into_iter().map(|group| group[0].conversation.clone()).collect()
}

/// The hits of each conversation together, in the order of the first of each.
fn conversations(hits: &[Hit]) -> Vec<Vec<&Hit>> {
    let mut groups: Vec<Vec<&Hit>> = Vec::new();
    for hit in hits {
        match groups.iter_mut().find(|group| group[0].conversation == hit.conversation) {
            Some(group) => group.push(hit),
            None => groups.push(vec![hit]),
        }
    }
    groups
}

/// Number, title, start, source and id of a conversation: on one line if there is room. The id is never cut.
fn head(number: usize, hit: &Hit, look: Look, now: &Now) -> Vec<Line> {
    let number = format!("{number} ");
    let columns = look.columns.saturating_sub(number.len());
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let title: Visible = hit.title.as_deref().unwrap_or("(no title)").into();
    let started: Visible = now.relative(hit.started_at).into();
    let (source, id): (Visible, Visible) = (hit.source.as_str().into(), hit.conversation.as_str().into());
    let cyan = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
    let facts = |line: Line, source: Visible| line.with(started.clone(), dim).with(" · ", dim).with(source, cyan);
    let width_of_facts = width(&started) + 3 + width(&source) + 3 + width(&id);
    let room = columns.saturating_sub(GAP + width_of_facts);
    if room >= width(&title).min(LEAST_TITLE) {
        let line = Line::styled(number, dim).with(cut(&title, room), bold).text(" ".repeat(GAP));
        return vec![facts(line, source).with(" · ", dim).with(id, dim)];
    }
    let indent = || Line::plain_text(" ".repeat(INDENT));
    let source = cut(&source, look.columns.saturating_sub(INDENT + width(&started) + 3));
    vec![Line::styled(number, dim).with(cut(&title, columns), bold), facts(indent(), source), indent().with(id, dim)]
}

/// Where the parts of a hit stand, the same for all of an answer.
struct Grid {
    look: Look,
    label: usize,
    time: usize,
    /// Columns before the text.
    margin: usize,
    /// Whether the text stands beside who said it.
    is_beside: bool,
}

impl Grid {
    fn of(hits: &[Hit], look: Look, now: &Now) -> Self {
        let neighbours = |hit: &Hit| [&hit.before, &hit.after].into_iter().flatten().map(label_of).collect::<Vec<_>>();
        let labels = hits.iter().flat_map(|hit| {
            let beside = if look.with_context { neighbours(hit) } else { Vec::new() };
            beside.into_iter().chain([label(hit).0])
        });
        let most = if look.columns >= MAX_ROOM { MAX_LABEL_IF_WIDE } else { MAX_LABEL };
        let label = labels.map(|label| width(&label).min(most)).max().unwrap_or(0);
        let time = hits.iter().map(|hit| width(&now.relative(hit.said_at).into())).max().unwrap_or(0);
        let beside = INDENT + label + GAP + time + GAP;
        let is_beside = look.columns >= beside + LEAST_ROOM;
        Self { look, label, time, margin: if is_beside { beside } else { 2 * INDENT }, is_beside }
    }

    fn room(&self) -> usize {
        self.look.columns.saturating_sub(self.margin).min(MAX_ROOM)
    }

    /// A hit, between its neighbours if they are asked for.
    fn hit(&self, hit: &Hit, delimiters: &Delimiters, now: &Now) -> Vec<Line> {
        let (label, style) = label(hit);
        let time = now.relative(hit.said_at);
        let text = delimiters.read(&hit.snippet).shown(self.look.is_styled).lines(self.room(), MAX_LINES);
        let found = self.entry((label, style), &time, text);
        let beside = |neighbour: &Option<Neighbour>| {
            let neighbour = neighbour.as_ref().filter(|_| self.look.with_context);
            neighbour.map(|neighbour| self.neighbour(neighbour)).unwrap_or_default()
        };
        beside(&hit.before).into_iter().chain(found).chain(beside(&hit.after)).collect()
    }

    fn neighbour(&self, neighbour: &Neighbour) -> Vec<Line> {
        let dim = Style::new().dimmed();
        let flat = neighbour.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = cut(&Visible::line(&flat), self.room());
        self.entry((label_of(neighbour), dim), "", vec![vec![(text, dim)]])
    }

    /// Who said it and when, and what was said beside or under that.
    fn entry(&self, (label, style): (Visible, Style), time: &str, text: Vec<Vec<(Visible, Style)>>) -> Vec<Line> {
        let (dim, indent) = (Style::new().dimmed(), Line::plain_text(" ".repeat(INDENT)));
        let start = if self.is_beside {
            indent
                .with(fit(&label, self.label), style)
                .text(" ".repeat(GAP))
                .with(fit(&time.into(), self.time), dim)
                .text(" ".repeat(GAP))
        } else {
            let room = self.look.columns.saturating_sub(INDENT + 3 + self.time);
            let line = indent.with(cut(&label, room), style);
            if time.is_empty() { line } else { line.with(format!(" · {time}"), dim) }
        };
        let mut lines = vec![start];
        for (number, pieces) in text.into_iter().enumerate() {
            if number > 0 || !self.is_beside {
                lines.push(Line::plain_text(" ".repeat(self.margin)));
            }
            if let Some(line) = lines.last_mut() {
                line.extend(pieces);
            }
        }
        lines
    }
}

fn label(hit: &Hit) -> (Visible, Style) {
    speaker(&hit.role, hit.tool_name.as_deref())
}

fn label_of(neighbour: &Neighbour) -> Visible {
    speaker(&neighbour.role, None).0
}

#[cfg(test)]
mod tests;
