//! What text can be enclosed by: a quote, the item of a list.

/// A block with a mark on its first line and a margin before the others.
#[derive(Debug)]
pub(super) struct Block {
    first: String,
    margin: String,
    is_begun: bool,
}

impl Block {
    /// A quote has a bar before each line.
    pub(super) fn quote() -> Self {
        Self { first: "│ ".into(), margin: "│ ".into(), is_begun: false }
    }

    /// An item has its mark before the first line; the others stand under its text.
    pub(super) fn item(mark: &str) -> Self {
        Self { first: mark.into(), margin: " ".repeat(mark.chars().count()), is_begun: false }
    }

    /// What stands before a line that is not the first.
    pub(super) fn margin(&self) -> &str {
        &self.margin
    }

    /// Whether its first line is drawn.
    pub(super) const fn is_begun(&self) -> bool {
        self.is_begun
    }

    /// What stands before the next line.
    pub(super) fn next(&mut self) -> String {
        let is_first = !std::mem::replace(&mut self.is_begun, true);
        if is_first { self.first.clone() } else { self.margin.clone() }
    }
}
