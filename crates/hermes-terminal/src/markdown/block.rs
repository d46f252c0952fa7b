//! Blocks that enclose text: quotes and list items.

/// A block with a bullet or bar before its first line and a margin before the others.
#[derive(Debug)]
pub(super) struct Block {
    first: String,
    margin: String,
    is_begun: bool,
}

impl Block {
    /// Returns a quote, which has a bar before each line.
    pub(super) fn quote() -> Self {
        Self { first: "│ ".into(), margin: "│ ".into(), is_begun: false }
    }

    /// Returns a list item with its bullet before the first line; the others are indented.
    pub(super) fn item(bullet: &str) -> Self {
        Self { first: bullet.into(), margin: " ".repeat(bullet.chars().count()), is_begun: false }
    }

    /// Returns the text before a line that is not the first.
    pub(super) fn margin(&self) -> &str {
        &self.margin
    }

    /// Returns whether its first line is drawn.
    pub(super) const fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// Returns the text before the next line.
    pub(super) fn next(&mut self) -> String {
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        if is_first { self.first.clone() } else { self.margin.clone() }
    }
}
