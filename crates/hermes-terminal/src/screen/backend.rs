//! Sends frames to a terminal.
//!
//! The cursor is positioned after every character whose width terminals may disagree about. A terminal that draws an
//! emoji in one column instead of two then misplaces nothing else. A line that has or had such a character is erased
//! and sent as a whole when it changes: a terminal that draws a flag as two letters would keep the second one.

use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};
use std::io::{self, Write};
use unicode_width::UnicodeWidthStr as _;

/// A terminal behind a writer.
pub(super) struct Ansi<W> {
    out: W,
    /// The size of a terminal that does not know its own, such as a serial line.
    unknown: Size,
    /// The cells that were sent since the screen was cleared, by line.
    lines: Vec<Vec<Cell>>,
}

impl<W: Write> Ansi<W> {
    pub(super) const fn new(out: W, unknown: Size) -> Self {
        Self { out, unknown, lines: Vec::new() }
    }

    /// Sends cells of one line, with `style` as the last style sent.
    fn send<'a>(
        &mut self,
        y: u16,
        cells: impl Iterator<Item = (u16, &'a Cell)>,
        style: &mut Option<Rendition>,
    ) -> io::Result<()> {
        let mut next = None;
        for (x, cell) in cells {
            if next != Some(x) {
                write!(self.out, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1)?;
            }
            let wanted = (cell.fg, cell.bg, cell.modifier);
            if *style != Some(wanted) {
                self.out.write_all(sequence(cell).as_bytes())?;
                *style = Some(wanted);
            }
            self.out.write_all(cell.symbol().as_bytes())?;
            next = cell.symbol().is_ascii().then_some(x + 1);
        }
        Ok(())
    }

    fn flushed(&mut self, text: std::fmt::Arguments<'_>) -> io::Result<()> {
        self.out.write_fmt(text)?;
        self.out.flush()
    }
}

impl<W: Write> Backend for Ansi<W> {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, cells: I) -> io::Result<()> {
        let cells: Vec<(u16, u16, &Cell)> = cells.collect();
        let mut style = None;
        for changed in cells.chunk_by(|(_, one, _), (_, other, _)| one == other) {
            let Some((_, y, _)) = changed.first() else { continue };
            let changed = changed.iter().map(|(x, _, cell)| (*x, *cell));
            if self.lines.len() <= usize::from(*y) {
                self.lines.resize_with(usize::from(*y) + 1, Vec::new);
            }
            let mut line = std::mem::take(&mut self.lines[usize::from(*y)]);
            let was_doubtful = line.iter().any(is_doubtful);
            changed.clone().for_each(|(x, cell)| put(&mut line, usize::from(x), cell));
            if was_doubtful || line.iter().any(is_doubtful) {
                write!(self.out, "\x1b[{};1H\x1b[0m\x1b[K", u32::from(*y) + 1)?;
                style = None;
                let seen = (0..).zip(&line).filter(|(_, cell)| **cell != Cell::EMPTY);
                self.send(*y, seen, &mut style)?;
            } else {
                self.send(*y, changed, &mut style)?;
            }
            self.lines[usize::from(*y)] = line;
        }
        self.out.write_all(b"\x1b[0m")
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.flushed(format_args!("\x1b[?25l"))
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.flushed(format_args!("\x1b[?25h"))
    }

    /// Returns the origin. It is never called; a real answer would arrive among the keys.
    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        let Position { x, y } = position.into();
        self.flushed(format_args!("\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1))
    }

    fn clear(&mut self) -> io::Result<()> {
        self.clear_region(ClearType::All)
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        // Only the whole screen is ever cleared.
        self.lines.clear();
        let sequence = match region {
            ClearType::All => "\x1b[2J",
            ClearType::AfterCursor => "\x1b[J",
            ClearType::BeforeCursor => "\x1b[1J",
            ClearType::CurrentLine => "\x1b[2K",
            ClearType::UntilNewLine => "\x1b[K",
        };
        self.flushed(format_args!("{sequence}"))
    }

    /// Returns the size of the terminal behind stdout; the controlling terminal of the process may be another one.
    fn size(&self) -> io::Result<Size> {
        let known = terminal_size::terminal_size_of(io::stdout());
        Ok(known.map_or(self.unknown, |(width, height)| Size { width: width.0, height: height.0 }))
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: self.size()?, pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Foreground, background and modifiers.
type Rendition = (Color, Color, Modifier);

/// Puts a cell into a line. The columns that it covers beside its own become blank.
fn put(line: &mut Vec<Cell>, x: usize, cell: &Cell) {
    let end = x + cell.symbol().width().max(1);
    if line.len() < end {
        line.resize(end, Cell::EMPTY);
    }
    line[x..end].fill(Cell::EMPTY);
    line[x] = cell.clone();
}

/// Returns whether terminals may disagree about the width of a cell: several code points in one cell (flags, families,
/// combining marks), and emoji. Wide letters such as CJK are drawn alike everywhere.
fn is_doubtful(cell: &Cell) -> bool {
    let mut characters = cell.symbol().chars();
    match (characters.next(), characters.next()) {
        (Some('\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1fbff}'), None) | (Some(_), Some(_)) => true,
        (_, None) | (None, _) => false,
    }
}

/// Returns the sequence that sets the style of a cell. It starts with a reset, so that nothing of the previous style
/// remains.
fn sequence(cell: &Cell) -> String {
    let modifiers = [(Modifier::BOLD, "1"), (Modifier::DIM, "2"), (Modifier::ITALIC, "3"), (Modifier::UNDERLINED, "4")];
    let set = modifiers.iter().filter(|(modifier, _)| cell.modifier.contains(*modifier));
    let codes = set.map(|(_, code)| (*code).to_owned());
    let colors = [(cell.fg, 30), (cell.bg, 40)].into_iter().filter_map(|(color, base)| {
        number(color).map(|number| (base + number + if number >= 8 { 52 } else { 0 }).to_string())
    });
    let codes: Vec<String> = codes.chain(colors).collect();
    if codes.is_empty() { "\x1b[0m".to_owned() } else { format!("\x1b[0;{}m", codes.join(";")) }
}

/// Returns the number of a named colour; 8 and above are the bright ones. Other colours are not used.
const fn number(color: Color) -> Option<u8> {
    Some(match color {
        Color::Black => 0,
        Color::Red => 1,
        Color::Green => 2,
        Color::Yellow => 3,
        Color::Blue => 4,
        Color::Magenta => 5,
        Color::Cyan => 6,
        Color::Gray => 7,
        Color::DarkGray => 8,
        Color::LightRed => 9,
        Color::LightGreen => 10,
        Color::LightYellow => 11,
        Color::LightBlue => 12,
        Color::LightMagenta => 13,
        Color::LightCyan => 14,
        Color::White => 15,
        Color::Reset | Color::Rgb(..) | Color::Indexed(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::buffer::Buffer;
    use ratatui_core::layout::Rect;
    use ratatui_core::style::Style;

    fn sent(draw: impl FnOnce(&mut Buffer)) -> String {
        let mut terminal = Shown::new();
        terminal.sent(draw)
    }

    /// A terminal, and the frame that it shows.
    struct Shown(Ansi<Vec<u8>>, Buffer);

    impl Shown {
        fn new() -> Self {
            Self(Ansi::new(Vec::new(), Size::ZERO), Buffer::empty(Rect::new(0, 0, 9, 2)))
        }

        /// Draws the next frame. Returns the output.
        fn sent(&mut self, draw: impl FnOnce(&mut Buffer)) -> String {
            let mut next = Buffer::empty(self.1.area);
            draw(&mut next);
            self.0.draw(self.1.diff(&next).into_iter()).unwrap();
            self.1 = next;
            String::from_utf8(std::mem::take(&mut self.0.out)).unwrap()
        }
    }

    #[test]
    fn what_stands_together_is_sent_together() {
        assert_eq!(sent(|buffer| buffer.set_string(2, 1, "abc", Style::new())), "\x1b[2;3H\x1b[0mabc\x1b[0m");
    }

    #[test]
    fn the_place_is_said_after_whatever_terminals_do_not_agree_about() {
        let seen = sent(|buffer| buffer.set_string(0, 0, "a→b", Style::new()));
        assert_eq!(seen, "\x1b[1;1H\x1b[0ma→\x1b[1;3Hb\x1b[0m");
        let seen = sent(|buffer| buffer.set_string(0, 0, "a👨\u{200d}👩\u{200d}👧b", Style::new()));
        let erase = "\x1b[1;1H\x1b[0m\x1b[K";
        assert_eq!(seen, format!("{erase}\x1b[1;1H\x1b[0ma👨\u{200d}👩\u{200d}👧\x1b[1;4Hb\x1b[0m"));
    }

    #[test]
    fn a_line_with_a_flag_is_erased_before_it_changes() {
        let put = |text: &'static str| move |buffer: &mut Buffer| buffer.set_string(0, 0, text, Style::new());
        for doubtful in ["🇩🇪 ab", "👍🏽 ab", "❤\u{fe0f} ab", "e\u{301}  ab", "🦀 ab", "⚙  ab"] {
            let mut terminal = Shown::new();
            terminal.sent(put(doubtful));
            // The unchanged end of the line is sent again too.
            assert_eq!(terminal.sent(put("x  ab")), "\x1b[1;1H\x1b[0m\x1b[K\x1b[1;1H\x1b[0mx\x1b[1;4Hab\x1b[0m");
            assert_eq!(terminal.sent(put("y  ab")), "\x1b[1;1H\x1b[0my\x1b[0m", "nothing is left of {doubtful}");
            terminal.sent(put(doubtful));
            terminal.0.clear().unwrap();
            terminal.1.reset();
            terminal.0.out.clear();
            assert!(!terminal.sent(put("y  ab")).contains("\x1b[K"), "the screen was cleared");
        }
        let mut terminal = Shown::new();
        terminal.sent(put("大 ab"));
        assert_eq!(terminal.sent(put("x  ab")), "\x1b[1;1H\x1b[0mx\x1b[0m");
    }

    #[test]
    fn styles_do_not_run_into_each_other() {
        let style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
        let seen = sent(|buffer| {
            buffer.set_string(0, 0, "a", style);
            buffer.set_string(1, 0, "b", Style::new().fg(Color::LightBlue));
            buffer.set_string(2, 0, "c", Style::new());
        });
        assert_eq!(seen, "\x1b[1;1H\x1b[0;1;31ma\x1b[0;94mb\x1b[0mc\x1b[0m");
    }
}
