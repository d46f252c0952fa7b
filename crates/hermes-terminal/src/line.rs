//! A line of styled text.

use crate::Visible;
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

    /// Appends the line to `out`, with ANSI styles and a line break.
    pub(crate) fn render(&self, out: &mut String) {
        for (text, style) in &self.0 {
            let _ = if *style == Style::new() { write!(out, "{text}") } else { write!(out, "{style}{text}{style:#}") };
        }
        out.push('\n');
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
