//! The place in a text where it matches, for a person to see.

use std::ops::Range;

/// The longest text of a message beside a hit, in characters.
pub const NEIGHBOUR: usize = 200;

/// How a snippet looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// Stands before what matched.
    pub open: String,
    /// Stands behind it.
    pub close: String,
    /// Stands where text was left out.
    pub ellipsis: String,
    /// How many characters of the text are shown at most.
    pub length: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { open: ">>>".into(), close: "<<<".into(), ellipsis: "...".into(), length: 200 }
    }
}

/// A part of a text with what matched in it marked.
pub fn snippet(text: &str, marks: &[Range<usize>], style: &Style) -> String {
    let mut out = String::new();
    let mut at = 0;
    for mark in marks {
        out.push_str(&text[at..mark.start]);
        out.push_str(&style.open);
        out.push_str(&text[mark.clone()]);
        out.push_str(&style.close);
        at = mark.end;
    }
    out.push_str(&text[at..]);
    out
}

/// The first characters of a text on one line.
pub fn head(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}
