//! Draws harmless text into areas of a screen. Text never leaves its area, whatever its width.

use crate::highlight::Highlighted;
use crate::layout::take;
use crate::{Line, Visible};
use anstyle::{AnsiColor, Style};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use std::ops::Range;

/// How text is drawn on a screen.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    /// Whether colours are used; without them there are only bold, dim and underline.
    pub has_color: bool,
}

impl Paint {
    /// Draws a text on the first line of an area, with `highlights` (byte ranges) standing out. Text that does not fit
    /// is cut.
    ///
    /// Returns the columns that it takes.
    pub fn text(
        self,
        buffer: &mut Buffer,
        area: Rect,
        text: &Visible,
        style: Style,
        highlights: &[Range<usize>],
    ) -> u16 {
        let area = area.intersection(*buffer.area());
        if area.is_empty() {
            return 0;
        }
        let text = take(text.as_str(), usize::from(area.width));
        let mut x = area.x;
        let mut put = |part: &str, style: Style| {
            let room = usize::from(area.right().saturating_sub(x));
            if !part.is_empty() && room > 0 {
                (x, _) = buffer.set_stringn(x, area.y, part, room, self.style(style));
            }
        };
        let mut at = 0;
        for highlight in whole(text, highlights) {
            put(&text[at..highlight.start], style);
            put(&text[highlight.clone()], strong());
            at = highlight.end;
        }
        put(&text[at..], style);
        x - area.x
    }

    /// Draws a line on the first line of an area, with the byte ranges that `highlight` finds in each piece standing
    /// out.
    ///
    /// Returns the columns that it takes.
    pub fn line(
        self,
        buffer: &mut Buffer,
        area: Rect,
        line: &Line,
        highlight: &dyn Fn(&str) -> Vec<Range<usize>>,
    ) -> u16 {
        let mut used = 0;
        for (text, style) in line.pieces() {
            let rest = Rect { x: area.x + used, width: area.width.saturating_sub(used), ..area };
            used += self.text(buffer, rest, text, *style, &highlight(text.as_str()));
        }
        used
    }

    fn style(self, style: Style) -> ratatui_core::style::Style {
        let plain = |style: Style| style.fg_color(None).bg_color(None).underline_color(None);
        if self.has_color { style.into() } else { plain(style).into() }
    }
}

/// Returns the style of a highlight: as in the answer to a search, and underlined for screens without colours.
fn strong() -> Style {
    Style::new().bold().underline().fg_color(Some(AnsiColor::Red.into()))
}

/// Returns the highlights within a text, each around whole graphemes.
fn whole(text: &str, highlights: &[Range<usize>]) -> Vec<Range<usize>> {
    if highlights.is_empty() {
        return Vec::new();
    }
    let clipped = highlights.iter().map(|highlight| highlight.start..highlight.end.min(text.len()));
    let highlights = clipped.filter(|highlight| highlight.start < highlight.end).collect();
    Highlighted { text: text.to_owned(), highlights }.whole_highlights()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::style::{Color, Modifier};

    fn painted(columns: u16, text: &str, highlight: Range<usize>, has_color: bool) -> (Buffer, u16) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 1));
        let area = Rect::new(1, 0, columns, 1);
        let used = Paint { has_color }.text(&mut buffer, area, &text.into(), Style::new(), &[highlight]);
        (buffer, used)
    }

    fn shown(buffer: &Buffer) -> String {
        buffer.content().iter().map(|cell| cell.symbol()).collect()
    }

    #[test]
    fn nothing_is_drawn_outside_its_area() {
        for columns in 0..30 {
            let (buffer, used) = painted(columns, "a大别👨\u{200d}👩\u{200d}👧مرحبا\u{1b}[2J", 1..7, true);
            assert!(used <= columns.min(19), "{columns}: {used}");
            let behind = usize::from((1 + columns).min(20));
            assert!(
                buffer.content()[behind..].iter().all(|cell| cell.symbol() == " "),
                "{columns}: {}",
                shown(&buffer)
            );
        }
    }

    #[test]
    fn highlights_are_whole_characters_in_their_style() {
        let (buffer, used) = painted(19, "xe\u{301}y", 1..2, true);
        assert_eq!((used, buffer[(2, 0)].symbol(), buffer[(2, 0)].fg), (3, "e\u{301}", Color::Red));
        assert_eq!(buffer[(3, 0)].fg, Color::Reset);
        let (plain, _) = painted(19, "xey", 1..2, false);
        assert_eq!((plain[(2, 0)].fg, plain[(2, 0)].modifier.contains(Modifier::UNDERLINED)), (Color::Reset, true));
    }
}
