//! Puts harmless text on a screen: whatever its width, it stays where it belongs.

use super::layout::take;
use super::marked::Marked;
use super::{Line, Visible};
use anstyle::{AnsiColor, Style};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use std::ops::Range;

/// How text is put on a screen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    /// Colours are wanted; else there is only bold and dim.
    pub(crate) has_color: bool,
}

impl Paint {
    /// Puts a text on the first line of an area, with what is marked standing out; the columns it takes. What does not fit is not shown.
    pub(crate) fn text(
        self,
        buffer: &mut Buffer,
        area: Rect,
        text: &Visible,
        style: Style,
        marks: &[Range<usize>],
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
        for mark in whole(text, marks) {
            put(&text[at..mark.start], style);
            put(&text[mark.clone()], strong());
            at = mark.end;
        }
        put(&text[at..], style);
        x - area.x
    }

    /// Puts a line on the first line of an area, with what `mark` finds in it standing out.
    pub(crate) fn line(
        self,
        buffer: &mut Buffer,
        area: Rect,
        line: &Line,
        mark: &dyn Fn(&str) -> Vec<Range<usize>>,
    ) -> u16 {
        let mut used = 0;
        for (text, style) in &line.0 {
            let rest = Rect { x: area.x + used, width: area.width.saturating_sub(used), ..area };
            used += self.text(buffer, rest, text, *style, &mark(text.as_str()));
        }
        used
    }

    fn style(self, style: Style) -> ratatui_core::style::Style {
        let plain = |style: Style| style.fg_color(None).bg_color(None).underline_color(None);
        if self.has_color { style.into() } else { plain(style).into() }
    }
}

/// What matched looks as it does in an answer to a search, whatever is around it; where there are no colours, it is underlined.
fn strong() -> Style {
    Style::new().bold().underline().fg_color(Some(AnsiColor::Red.into()))
}

/// The marks within a text, each around whole graphemes.
fn whole(text: &str, marks: &[Range<usize>]) -> Vec<Range<usize>> {
    if marks.is_empty() {
        return Vec::new();
    }
    let within = |mark: &Range<usize>| mark.start < mark.end.min(text.len());
    let marks = marks.iter().filter(|mark| within(mark)).map(|mark| mark.start..mark.end.min(text.len())).collect();
    Marked { text: text.to_owned(), marks }.whole_marks()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui_core::style::{Color, Modifier};

    fn painted(columns: u16, text: &str, mark: Range<usize>, has_color: bool) -> (Buffer, u16) {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 20, 1));
        let area = Rect::new(1, 0, columns, 1);
        let used = Paint { has_color }.text(&mut buffer, area, &text.into(), Style::new(), &[mark]);
        (buffer, used)
    }

    fn shown(buffer: &Buffer) -> String {
        buffer.content().iter().map(|cell| cell.symbol()).collect()
    }

    #[test]
    fn nothing_is_put_beside_its_area() {
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
    fn marks_are_whole_characters_in_their_style() {
        let (buffer, used) = painted(19, "xe\u{301}y", 1..2, true);
        assert_eq!((used, buffer[(2, 0)].symbol(), buffer[(2, 0)].fg), (3, "e\u{301}", Color::Red));
        assert_eq!(buffer[(3, 0)].fg, Color::Reset);
        let (plain, _) = painted(19, "xey", 1..2, false);
        assert_eq!((plain[(2, 0)].fg, plain[(2, 0)].modifier.contains(Modifier::UNDERLINED)), (Color::Reset, true));
    }
}
