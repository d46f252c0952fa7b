//! A line of styled text.

use crate::Visible;
use crate::layout::width_of;
use anstyle::Style;
use std::fmt::Write as _;

/// A line of pieces, each with a style.
#[derive(Debug, Clone, Default)]
pub struct Line(Vec<(Visible, Style)>);

impl Line {
    /// Returns a line of plain text.
    pub fn plain_text(text: impl Into<Visible>) -> Self {
        Self::default().text(text)
    }

    /// Returns a line in one style.
    pub fn styled(text: impl Into<Visible>, style: Style) -> Self {
        Self::default().with(text, style)
    }

    /// Returns the line with plain text appended.
    pub fn text(self, text: impl Into<Visible>) -> Self {
        self.with(text, Style::new())
    }

    /// Returns the line with a styled piece appended.
    pub fn with(mut self, text: impl Into<Visible>, style: Style) -> Self {
        self.0.push((text.into(), style));
        self
    }

    /// Appends styled pieces.
    pub fn extend(&mut self, pieces: impl IntoIterator<Item = (Visible, Style)>) {
        self.0.extend(pieces);
    }

    /// Returns the pieces with their styles.
    pub fn pieces(&self) -> &[(Visible, Style)] {
        &self.0
    }

    /// Returns the text without styles.
    pub fn plain(&self) -> String {
        self.0.iter().map(|(text, _)| text.as_str()).collect()
    }

    /// Breaks the line at spaces into lines of at most `columns`. A longer word is left to the terminal, so that a path
    /// can be copied.
    pub fn broken(&self, columns: usize) -> Vec<Self> {
        let (mut lines, mut used) = (vec![Self::default()], 0);
        let mut space = None;
        for (text, style) in &self.0 {
            for part in text.as_str().split_inclusive(' ') {
                let word = part.trim_end_matches(' ');
                let size = width_of(word);
                // Pieces without a space between them are one word.
                if used > 0 && space.is_some() && used + 1 + size > columns {
                    lines.push(Self::default());
                    used = 0;
                } else if let Some(style) = space.filter(|_| used > 0) {
                    push(&mut lines, " ", style);
                    used += 1;
                }
                push(&mut lines, word, *style);
                used += size;
                space = (word.len() < part.len()).then_some(*style);
            }
        }
        lines
    }

    /// Appends the line to `out`, with ANSI styles and a line break.
    pub(crate) fn render(&self, out: &mut String) {
        for (text, style) in &self.0 {
            let _ = if *style == Style::new() { write!(out, "{text}") } else { write!(out, "{style}{text}{style:#}") };
        }
        out.push('\n');
    }
}

/// Appends a piece to the last line.
fn push(lines: &mut [Line], text: &str, style: Style) {
    if let Some(line) = lines.last_mut().filter(|_| !text.is_empty()) {
        line.0.push((Visible::of_parts(text.to_owned()), style));
    }
}

impl IntoIterator for Line {
    type Item = (Visible, Style);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    /// Returns the pieces with their styles.
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_at_spaces_and_keeps_its_styles() {
        let bold = Style::new().bold();
        let line = Line::plain_text("Moved ").with("大别山 tour", bold).text(" to the trash (1 session).");
        let broken = |columns| line.broken(columns).iter().map(Line::plain).collect::<Vec<_>>();
        assert_eq!(broken(80), [line.plain()]);
        assert_eq!(broken(17), ["Moved 大别山 tour", "to the trash (1", "session)."]);
        assert_eq!(broken(16), ["Moved 大别山", "tour to the", "trash (1", "session)."]);
        let of_tour = |line: Line| line.into_iter().any(|(text, style)| text.as_str() == "tour" && style == bold);
        assert!(line.broken(16).into_iter().any(of_tour));
        let joined = Line::plain_text("in ").with("/a/long/path", bold).text("; done");
        assert_eq!(joined.broken(10).iter().map(Line::plain).collect::<Vec<_>>(), ["in", "/a/long/path;", "done"]);
        assert_eq!(Line::default().broken(10).len(), 1);
    }
}
