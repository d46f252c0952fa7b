//! A text as a person sees it on one line: character by character, blanks in a row as one.

use std::ops::Range;
use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation as _};

/// What is shown in one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell<'t> {
    /// One character with all its parts, or a blank.
    pub(super) text: &'t str,
    /// What it stands for in the text.
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

/// Whether a character is shown as a blank.
pub(super) fn is_blank(character: char) -> bool {
    character.is_whitespace() || character.is_control()
}

/// The first cells of a part of a text, which has to begin where a character does.
pub(super) fn forward(text: &str, part: Range<usize>, most: usize) -> Vec<Cell<'_>> {
    let cells = characters(&text[part.clone()]).map(|(at, text)| Cell::new(part.start + at, text));
    let mut cells = gather(cells, most, |before, cell| before.range.end = cell.range.end);
    // What the part ends with may go on behind it.
    if part.end < text.len() && cells.len() > 1 {
        _ = cells.pop_if(|cell| cell.range.end == part.end);
    }
    cells
}

/// The characters of a text. Between two of ASCII there is nothing to look up, but in the two that make a line break.
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

/// The last cells of a part of a text, the last first. It has to end where a character does.
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

/// Where the character begins that a place is in. The part around it says how far to look.
pub(super) fn start_of_character(text: &str, near: &Range<usize>, at: usize) -> usize {
    let part = &text[near.clone()];
    let mut cursor = GraphemeCursor::new(at - near.start, part.len(), true);
    match cursor.is_boundary(part, 0) {
        Ok(false) => cursor.prev_boundary(part, 0).ok().flatten().map_or(at, |before| near.start + before),
        _ => at,
    }
}

/// Where the cell begins that a place is in.
pub(super) fn start_of_cell(text: &str, near: &Range<usize>, at: usize) -> usize {
    let start = start_of_character(text, near, at);
    let is_blank_cell = forward(text, start..near.end, 1).first().is_some_and(|cell| cell.text == " ");
    if is_blank_cell { near.start + text[near.start..start].trim_end_matches(is_blank).len() } else { start }
}
