//! A text as shown on one line: grapheme by grapheme, consecutive blanks as one.

use std::ops::Range;
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

/// Content of one position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell<'t> {
    /// One grapheme cluster, or a space.
    pub(super) text: &'t str,
    /// Its range in the text.
    pub(super) range: Range<usize>,
}

impl<'t> Cell<'t> {
    fn new(start: usize, text: &'t str) -> Self {
        let is_shown = match text.as_bytes() {
            [byte] => byte.is_ascii_graphic(),
            _ => text.contains(|part| !is_blank(part)),
        };
        Self { range: start..start + text.len(), text: if is_shown { text } else { " " } }
    }
}

/// Returns whether a character is shown as a space.
pub(super) fn is_blank(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

/// Returns the first cells of a part of a text, which has to begin at the start of a grapheme.
pub(super) fn forward(text: &str, part: Range<usize>, most: usize) -> Vec<Cell<'_>> {
    let cells = characters(&text[part.clone()]).map(|(at, text)| Cell::new(part.start + at, text));
    let mut cells = gather(cells, most, |before, cell| before.range.end = cell.range.end);
    // The last grapheme of the part may continue after it.
    if part.end < text.len() && cells.len() > 1 {
        _ = cells.pop_if(|cell| cell.range.end == part.end);
    }
    cells
}

/// Returns the graphemes of a text. Between two ASCII characters there is always a boundary, except in CR LF.
pub(super) fn characters(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let length = match text.as_bytes().get(at..)? {
            [] => return None,
            [b'\r', ..] => text[at..].graphemes(true).next()?.len(),
            [first] if first.is_ascii() => 1,
            [first, second, ..] if first.is_ascii() && second.is_ascii() => 1,
            _ => text[at..].graphemes(true).next()?.len(),
        };
        at += length;
        Some((at - length, &text[at - length..at]))
    })
}

/// Returns the last cells of a part of a text, the last first. The part has to end at the end of a grapheme.
pub(super) fn backward(text: &str, part: Range<usize>, most: usize) -> Vec<Cell<'_>> {
    let cells = text[part.clone()].grapheme_indices(true).rev().map(|(at, text)| Cell::new(part.start + at, text));
    let mut cells = gather(cells, most, |before, cell| before.range.start = cell.range.start);
    if part.start > 0 {
        _ = cells.pop_if(|cell| cell.range.start == part.start);
    }
    cells
}

fn gather<'t>(
    cells: impl Iterator<Item = Cell<'t>>,
    most: usize,
    widen: impl Fn(&mut Cell<'t>, &Cell<'t>),
) -> Vec<Cell<'t>> {
    let mut gathered: Vec<Cell<'t>> = Vec::new();
    for cell in cells {
        let is_full = gathered.len() == most;
        match gathered.last_mut() {
            Some(before) if before.text == " " && cell.text == " " => widen(before, &cell),
            _ if is_full => break,
            _ => gathered.push(cell),
        }
    }
    gathered
}

/// Returns the start of the grapheme that contains a position. `near` limits how far to look.
pub(super) fn start_of_character(text: &str, near: &Range<usize>, at: usize) -> usize {
    let part = &text[near.clone()];
    let mut cursor = GraphemeCursor::new(at - near.start, part.len(), true);
    match cursor.is_boundary(part, 0) {
        Ok(false) => cursor.prev_boundary(part, 0).ok().flatten().map_or(at, |before| near.start + before),
        _ => at,
    }
}

/// Returns the start of the cell that contains a position.
pub(super) fn start_of_cell(text: &str, near: &Range<usize>, at: usize) -> usize {
    let start = start_of_character(text, near, at);
    let is_blank_cell = forward(text, start..near.end, 1).first().is_some_and(|cell| cell.text == " ");
    if is_blank_cell { near.start + text[near.start..start].trim_end_matches(is_blank).len() } else { start }
}
