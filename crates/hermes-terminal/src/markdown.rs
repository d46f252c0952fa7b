//! Markdown drawn for a terminal: headings, emphasis, lists, quotes, code and tables without their syntax.
//!
//! Nothing is dropped: HTML and the addresses of links are shown as text.

mod block;

use crate::layout::{breaks, width_of};
use crate::{Line, Visible};
use anstyle::{AnsiColor, Style};
use block::Block;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

/// The longest text that is drawn, in bytes. Longer ones are data, not prose.
const MAX_BYTES: usize = 1 << 20;
/// The least width of text in columns, however deeply it is nested.
const LEAST_ROOM: usize = 12;

/// Returns the lines of a Markdown text in at most `columns`. `None` if it is too long to be drawn.
pub fn lines(text: &str, columns: usize) -> Option<Vec<Line>> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = Page { columns, ..Page::default() };
    for event in Parser::new_ext(text, options) {
        page.take(event);
    }
    page.flush();
    Some(page.lines)
}

/// The lines drawn so far, and the state of the parser.
#[derive(Default)]
struct Page {
    columns: usize,
    lines: Vec<Line>,
    /// The quotes and list items around the text.
    blocks: Vec<Block>,
    /// The next number of each open list; `None` for an unordered list.
    lists: Vec<Option<u64>>,
    styles: Vec<Style>,
    /// The current paragraph.
    spans: Vec<(Visible, Style)>,
    /// The addresses of the open links, and the index of the span where each text begins.
    links: Vec<(String, usize)>,
    /// Whether the next block is preceded by an empty line.
    is_apart: bool,
    code: Option<String>,
    rows: Vec<Vec<String>>,
    cell: Option<String>,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.open(tag),
            Event::End(tag) => self.close(tag),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => {
                self.write(&text, self.style());
            }
            Event::Code(code) => self.write(&code, code_style()),
            Event::SoftBreak | Event::HardBreak => self.write("\n", Style::new()),
            Event::Rule => {
                self.flush();
                self.block("───", Style::new().dimmed());
                self.is_apart = true;
            }
            Event::TaskListMarker(is_done) => self.write(if is_done { "[x] " } else { "[ ] " }, Style::new()),
            Event::FootnoteReference(name) => self.write(&format!("[^{name}]"), Style::new()),
        }
    }

    fn open(&mut self, tag: Tag<'_>) {
        let style = self.style();
        match tag {
            Tag::Heading { level, .. } => {
                self.flush();
                let style = Style::new().bold();
                self.styles.push(if level <= HeadingLevel::H2 { style.underline() } else { style });
            }
            Tag::BlockQuote(_) => {
                self.flush();
                self.blocks.push(Block::quote());
            }
            Tag::CodeBlock(kind) => {
                self.flush();
                if let CodeBlockKind::Fenced(language) = &kind
                    && !language.is_empty()
                {
                    self.block(language, Style::new().dimmed().italic());
                    self.is_apart = false;
                }
                self.code = Some(String::new());
            }
            Tag::List(first) => {
                self.flush();
                // A list inside an item follows without an empty line.
                self.is_apart &= self.lists.is_empty();
                self.lists.push(first);
            }
            Tag::Item => {
                self.flush();
                let bullet = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
                self.blocks.push(Block::item(&bullet));
            }
            Tag::Emphasis => self.styles.push(style.italic()),
            Tag::Strong => self.styles.push(style.bold()),
            Tag::Strikethrough => self.styles.push(style.strikethrough()),
            Tag::Link { dest_url, .. } => {
                self.links.push((dest_url.into_string(), self.spans.len()));
                self.styles.push(style.underline());
            }
            Tag::Image { dest_url, .. } => {
                self.write("[image: ", style);
                self.links.push((dest_url.into_string(), self.spans.len()));
            }
            Tag::Table(_) => self.flush(),
            Tag::TableCell => self.cell = Some(String::new()),
            Tag::TableHead | Tag::TableRow => self.rows.push(Vec::new()),
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block(),
            TagEnd::Heading(_) => {
                self.end_block();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) | TagEnd::Item => {
                // An empty item still has its bullet.
                if self.spans.is_empty() && self.blocks.last().is_some_and(|block| !block.is_begun()) {
                    self.block("", Style::new());
                }
                self.flush();
                self.blocks.pop();
                if matches!(tag, TagEnd::BlockQuote(_)) {
                    self.is_apart = true;
                }
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.is_apart = self.lists.is_empty();
            }
            TagEnd::CodeBlock => {
                let code = self.code.take().unwrap_or_default();
                self.code_block(&code);
                self.is_apart = true;
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link => {
                self.styles.pop();
                self.address();
            }
            TagEnd::Image => {
                self.write("]", self.style());
                self.address();
            }
            TagEnd::TableCell => {
                let cell = self.cell.take().unwrap_or_default();
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => self.table(),
            _ => {}
        }
    }

    /// Appends the address of a link, unless its text contains it.
    fn address(&mut self) {
        let Some((address, start)) = self.links.pop() else { return };
        let said: String = self.spans.get(start..).unwrap_or_default().iter().map(|(text, _)| text.as_str()).collect();
        let bare = address.trim_start_matches("mailto:");
        if !address.is_empty() && !said.contains(bare) {
            self.write(&format!(" ({address})"), Style::new().dimmed());
        }
    }

    fn style(&self) -> Style {
        self.styles.last().copied().unwrap_or_default()
    }

    fn write(&mut self, text: &str, style: Style) {
        if let Some(code) = &mut self.code {
            code.push_str(text);
        } else if let Some(cell) = &mut self.cell {
            cell.push_str(&text.replace('\n', " "));
        } else {
            for (number, line) in Visible::lines(text).into_iter().enumerate() {
                if number > 0 {
                    self.flush();
                }
                if !line.as_str().is_empty() {
                    self.spans.push((line, style));
                }
            }
        }
    }

    fn end_block(&mut self) {
        self.flush();
        self.is_apart = true;
    }

    /// Wraps the paragraph and puts its lines on the page.
    fn flush(&mut self) {
        if self.spans.is_empty() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        let text = Visible::of_parts(spans.iter().map(|(text, _)| text.as_str()).collect::<String>());
        for line in breaks(&text, self.room()) {
            let mut pieces = Vec::new();
            let mut at = 0;
            for (span, style) in &spans {
                let (start, end) =
                    (line.start.clamp(at, at + span.as_str().len()), line.end.clamp(at, at + span.as_str().len()));
                if start < end {
                    pieces.push((Visible::of_parts(&text.as_str()[start..end]), *style));
                }
                at += span.as_str().len();
            }
            self.put(pieces);
        }
    }

    /// Puts a line of one style on the page.
    fn block(&mut self, text: &str, style: Style) {
        self.put(vec![(Visible::line(text), style)]);
    }

    /// Puts code on the page. It keeps its lines; one that is too long continues on the next.
    fn code_block(&mut self, code: &str) {
        let room = self.room().saturating_sub(2).max(LEAST_ROOM);
        for line in Visible::lines(code.strip_suffix('\n').unwrap_or(code)) {
            let mut rest = line.as_str();
            loop {
                let taken = crate::layout::take(rest, room);
                let taken = if taken.is_empty() { rest } else { taken };
                self.put(vec![("  ".into(), Style::new()), (Visible::of_parts(taken), code_style())]);
                rest = &rest[taken.len()..];
                if rest.is_empty() {
                    break;
                }
            }
        }
    }

    /// Puts a table on the page: in aligned columns if there is room, otherwise as wrapped rows.
    fn table(&mut self) {
        let rows: Vec<Vec<Visible>> = std::mem::take(&mut self.rows)
            .iter()
            .map(|row| row.iter().map(|cell| Visible::line(cell)).collect())
            .collect();
        let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell_width =
            |column: usize| rows.iter().filter_map(|row| row.get(column)).map(crate::layout::width).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(cell_width).collect();
        let is_grid = widths.iter().sum::<usize>() + 3 * columns.saturating_sub(1) <= self.room();
        for (number, row) in rows.iter().enumerate() {
            let style = if number == 0 { Style::new().bold() } else { Style::new() };
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    self.spans.push((" │ ".into(), Style::new().dimmed()));
                }
                let cell = if is_grid && column + 1 < columns {
                    crate::layout::fit(cell, widths[column])
                } else {
                    cell.clone()
                };
                self.spans.push((cell, style));
            }
            self.flush();
        }
        self.is_apart = true;
    }

    /// Returns the columns between the enclosing blocks and the right edge.
    fn room(&self) -> usize {
        let margin: usize = self.blocks.iter().map(|block| width_of(block.margin())).sum();
        self.columns.saturating_sub(margin).max(LEAST_ROOM)
    }

    /// Puts a line on the page, behind the bars and bullets of the enclosing blocks.
    fn put(&mut self, pieces: Vec<(Visible, Style)>) {
        if std::mem::take(&mut self.is_apart) && !self.lines.is_empty() {
            let quotes: String = self.blocks.iter().filter(|block| block.is_begun()).map(Block::margin).collect();
            self.lines.push(Line::styled(Visible::of_parts(quotes.trim_end()), Style::new().dimmed()));
        }
        let mut line = Line::default();
        for block in &mut self.blocks {
            line = line.with(block.next(), Style::new().dimmed());
        }
        line.extend(pieces);
        self.lines.push(line);
    }
}

fn code_style() -> Style {
    Style::new().fg_color(Some(AnsiColor::Cyan.into()))
}

#[cfg(test)]
mod tests;
