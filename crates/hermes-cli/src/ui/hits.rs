//! Hits of a search, grouped by conversation, in the order of each conversation's first hit.

mod page;

pub(crate) use page::{PER_CONVERSATION, Page};

use super::archive;
use anstyle::{AnsiColor, Style};
use hermes_session::SessionId;
use hermes_session::search::{Hit, Neighbour};
use hermes_terminal::figures::number as number_of;
use hermes_terminal::highlight::Delimiters;
use hermes_terminal::layout::{cut, fit, width};
use hermes_terminal::time::Now;
use hermes_terminal::transcript::{NO_TITLE, speaker};
use hermes_terminal::{Line, Visible};

const INDENT: usize = 2;
const GAP: usize = 2;
/// Minimum width of a title, in columns. A title that would be narrower gets its own line.
const LEAST_TITLE: usize = 16;
/// Maximum width of a tool's name beside its result, in columns; the second is for wide terminals.
const MAX_LABEL: usize = 14;
const MAX_LABEL_IF_WIDE: usize = 30;
/// Minimum width of text beside its label, in columns. With less room the text goes under the label.
const LEAST_ROOM: usize = 32;
/// Maximum width of text, in columns. Wider lines are hard to read.
const MAX_ROOM: usize = 120;
/// Approximate maximum number of lines shown of a message.
const MAX_LINES: usize = 3;

/// How hits are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Look {
    /// Whether the neighbouring messages are shown.
    pub(crate) with_context: bool,
    /// Whether matches have a style; otherwise `>>>` and `<<<` surround them.
    pub(crate) is_styled: bool,
    /// The width of the terminal.
    pub(crate) columns: usize,
    /// The width for titles: that of the terminal, or no limit.
    pub(crate) title_columns: usize,
}

/// Returns the length of the snippets to request, in characters, for a terminal with `columns`.
pub(crate) fn snippet_length(columns: usize) -> usize {
    columns.saturating_sub(20).clamp(LEAST_ROOM, MAX_ROOM / 2) * MAX_LINES
}

/// Returns the lines of a page, without its totals. `rest` returns the command that shows all hits of a conversation.
pub(crate) fn list(
    page: &Page<'_>,
    delimiters: &Delimiters,
    look: Look,
    rest: impl Fn(&SessionId) -> String,
    now: &Now,
) -> Vec<Line> {
    let grid = Grid::of(page, look, now);
    let mut lines = Vec::new();
    for (number, group) in page.groups.iter().enumerate() {
        if number > 0 {
            lines.push(Line::default());
        }
        lines.extend(head(number + 1, group.shown[0], look, now));
        lines.extend(group.shown.iter().flat_map(|hit| grid.hit(hit, delimiters, now)));
        if group.folded > 0 {
            lines.extend(folded(group.folded, &rest(&group.shown[0].conversation), look.columns));
        }
    }
    lines
}

/// Returns how many hits of a conversation are not shown, and the command that shows them. The command is never cut; it
/// has its own line if there is no room beside the number.
fn folded(count: u64, command: &str, columns: usize) -> Vec<Line> {
    let dim = Style::new().dimmed();
    let indent = |by: usize| Line::plain_text(" ".repeat(by));
    let (count, command): (Visible, Visible) = (format!("+{} more:", number_of(count)).into(), command.into());
    if INDENT + width(&count) + 1 + width(&command) <= columns {
        return vec![indent(INDENT).with(count, dim).with(" ", dim).with(command, dim)];
    }
    vec![indent(INDENT).with(count, dim), indent(2 * INDENT).with(command, dim)]
}

/// Returns number, title, start, source and id of a conversation, on one line if there is room. The id is never cut.
fn head(number: usize, hit: &Hit, look: Look, now: &Now) -> Vec<Line> {
    let number = format!("{number} ");
    let columns = look.title_columns.saturating_sub(number.len());
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let title: Visible = hit.title.as_deref().unwrap_or(NO_TITLE).into();
    let started: Visible = now.relative(hit.started_at).into();
    let source = if hit.is_archived { format!("{} · {}", hit.source, archive::MARK) } else { hit.source.to_string() };
    let (source, id): (Visible, Visible) = (source.as_str().into(), hit.conversation.as_str().into());
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

/// The columns of a hit's parts, shared by all hits of an answer.
struct Grid {
    look: Look,
    label: usize,
    time: usize,
    id: usize,
    /// Columns before the text.
    margin: usize,
    /// Whether the text is beside its label, not under it.
    is_beside: bool,
}

impl Grid {
    fn of(page: &Page<'_>, look: Look, now: &Now) -> Self {
        let neighbours = |hit: &Hit| [&hit.before, &hit.after].into_iter().flatten().map(label_of).collect::<Vec<_>>();
        let labels = page.shown().flat_map(|hit| {
            let beside = if look.with_context { neighbours(hit) } else { Vec::new() };
            beside.into_iter().chain([label(hit).0])
        });
        let most = if look.columns >= MAX_ROOM { MAX_LABEL_IF_WIDE } else { MAX_LABEL };
        let label = labels.map(|label| width(&label).min(most)).max().unwrap_or(0);
        let time = page.shown().map(|hit| width(&now.relative(hit.said_at).into())).max().unwrap_or(0);
        let id = page.shown().map(|hit| id_of(hit).len()).max().unwrap_or(0);
        let beside = INDENT + label + GAP + time + GAP + id + GAP;
        let is_beside = look.columns >= beside + LEAST_ROOM;
        Self { look, label, time, id, margin: if is_beside { beside } else { 2 * INDENT }, is_beside }
    }

    fn room(&self) -> usize {
        self.look.columns.saturating_sub(self.margin).min(MAX_ROOM)
    }

    /// Returns the lines of a hit, between its neighbours if they were requested.
    fn hit(&self, hit: &Hit, delimiters: &Delimiters, now: &Now) -> Vec<Line> {
        let (label, style) = label(hit);
        let time = now.relative(hit.said_at);
        let text = delimiters.read(&hit.snippet).shown(self.look.is_styled).lines(self.room(), MAX_LINES);
        let found = self.entry((label, style), Some((&time, &id_of(hit))), text);
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
        self.entry((label_of(neighbour), dim), None, vec![vec![(text, dim)]])
    }

    /// Returns speaker, time and message id, with the text beside or under them. Neighbours have only the speaker.
    fn entry(
        &self,
        (label, style): (Visible, Style),
        facts: Option<(&str, &str)>,
        text: Vec<Vec<(Visible, Style)>>,
    ) -> Vec<Line> {
        let (dim, indent) = (Style::new().dimmed(), Line::plain_text(" ".repeat(INDENT)));
        let start = if self.is_beside {
            let (time, id) = facts.unwrap_or_default();
            let facts = format!("{}  {}  ", fit(&time.into(), self.time), fit(&id.into(), self.id));
            indent.with(fit(&label, self.label), style).text(" ".repeat(GAP)).with(facts, dim)
        } else {
            let facts = facts.map(|(time, id)| format!(" · {time} · {id}")).unwrap_or_default();
            let room = self.look.columns.saturating_sub(INDENT + width(&facts.as_str().into()));
            let line = indent.with(cut(&label, room), style);
            if facts.is_empty() { line } else { line.with(facts, dim) }
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

/// Returns the id of a message as it is shown; `show --around` takes it.
fn id_of(hit: &Hit) -> String {
    format!("#{}", hit.message)
}

fn label(hit: &Hit) -> (Visible, Style) {
    speaker(&hit.role, hit.tool_name.as_deref())
}

fn label_of(neighbour: &Neighbour) -> Visible {
    speaker(&neighbour.role, None).0
}

#[cfg(test)]
mod tests;
