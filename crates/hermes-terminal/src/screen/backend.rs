//! Sends frames to a terminal.
//!
//! The cursor is positioned after every character whose width terminals may disagree about: a terminal that draws an emoji in one column
//! instead of two misplaces nothing else.

use ratatui_core::backend::{Backend, ClearType, WindowSize};
use ratatui_core::buffer::Cell;
use ratatui_core::layout::{Position, Size};
use ratatui_core::style::{Color, Modifier};
use std::io::{self, Write};

/// A terminal behind a writer.
pub(super) struct Ansi<W> {
    pub(super) out: W,
    /// The size of a terminal that does not know its own, such as a serial line.
    pub(super) unknown: Size,
}

impl<W: Write> Ansi<W> {
    fn flushed(&mut self, text: std::fmt::Arguments<'_>) -> io::Result<()> {
        self.out.write_fmt(text)?;
        self.out.flush()
    }
}

impl<W: Write> Backend for Ansi<W> {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, cells: I) -> io::Result<()> {
        let (mut next, mut style) = (None, None);
        for (x, y, cell) in cells {
            if next != Some((x, y)) {
                write!(self.out, "\x1b[{};{}H", u32::from(y) + 1, u32::from(x) + 1)?;
            }
            let wanted = (cell.fg, cell.bg, cell.modifier);
            if style != Some(wanted) {
                self.out.write_all(sequence(cell).as_bytes())?;
                style = Some(wanted);
            }
            self.out.write_all(cell.symbol().as_bytes())?;
            next = cell.symbol().is_ascii().then_some((x + 1, y));
        }
        self.out.write_all(b"\x1b[0m")
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.flushed(format_args!("\x1b[?25l"))
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.flushed(format_args!("\x1b[?25h"))
    }

    /// Is never called; a real answer would arrive among the keys.
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
        let sequence = match region {
            ClearType::All => "\x1b[2J",
            ClearType::AfterCursor => "\x1b[J",
            ClearType::BeforeCursor => "\x1b[1J",
            ClearType::CurrentLine => "\x1b[2K",
            ClearType::UntilNewLine => "\x1b[K",
        };
        self.flushed(format_args!("{sequence}"))
    }

    /// The terminal that stdout is; that of the process may be another.
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

/// Returns the sequence that sets the style of a cell. It starts with a reset, so that nothing is left of the style before.
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
        let (empty, mut buffer) = (Buffer::empty(Rect::new(0, 0, 9, 2)), Buffer::empty(Rect::new(0, 0, 9, 2)));
        draw(&mut buffer);
        let mut terminal = Ansi { out: Vec::new(), unknown: Size::ZERO };
        terminal.draw(empty.diff(&buffer).into_iter()).unwrap();
        String::from_utf8(terminal.out).unwrap()
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
        assert_eq!(seen, "\x1b[1;1H\x1b[0ma👨\u{200d}👩\u{200d}👧\x1b[1;4Hb\x1b[0m");
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
