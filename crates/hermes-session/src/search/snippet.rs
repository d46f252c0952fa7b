//! Snippets: the part of a text around a match.
//!
//! A snippet is one line: line breaks, control characters and runs of white space become one space. A character is a
//! grapheme cluster: an emoji with all its parts, a letter with all its accents. None is split. The time depends on the
//! length of the snippet, not on that of the text.

use super::tokens::is_border;
use cells::{Cell, backward, characters, forward, is_blank, start_of_cell, start_of_character};
use std::ops::Range;

mod cells;

/// Maximum length of the text of a message next to a hit, in characters.
pub const NEIGHBOUR: usize = 200;

/// Maximum number of bytes examined for each character shown. It bounds characters with many marks and long white
/// space.
const BYTES: usize = 64;

/// Maximum number of characters dropped to avoid splitting a word.
const WORD: usize = 24;

/// Format of a snippet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Style {
    /// Text before a match.
    pub open: String,
    /// Text after a match.
    pub close: String,
    /// Text in place of omitted text.
    pub ellipsis: String,
    /// Maximum number of characters shown.
    pub length: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { open: ">>>".into(), close: "<<<".into(), ellipsis: "...".into(), length: 200 }
    }
}

/// Returns a part of a text with its matches highlighted.
///
/// It shows the first of the places with the most matches close together. Of a match longer than the snippet it shows
/// the beginning, and without matches the beginning of the text. `marks` are as returned by
/// [`super::matching::Matcher::marks`]; one that splits a character is extended to the whole character. Where text is
/// omitted, words are not split unless they are long.
pub fn snippet(text: &str, marks: &[Range<usize>], style: &Style) -> String {
    // A text has no more characters than bytes.
    let length = style.length.min(text.len());
    let group = densest(text, marks, length);
    let first = group.first().map_or_else(|| beginning(text), |mark| text.floor_char_boundary(mark.start));
    let last = group.last().map_or(first, |mark| mark.end);
    let reach = length.saturating_mul(BYTES);
    let near =
        text.floor_char_boundary(first.saturating_sub(reach))..text.ceil_char_boundary(first.saturating_add(reach));
    let first = start_of_cell(text, &near, first);

    let after = forward(text, first..near.end, length);
    let core = after.iter().take_while(|cell| cell.range.start < last).count();
    let spare = length - core;
    let mut before = backward(text, near.start..first, spare);
    _ = before.pop_if(|cell| cell.text == " " && cell.range.start == 0);
    // Half of the spare length goes before the matches, and more if there is less text after them.
    let lead = before.len().min((spare / 2).max(spare - (after.len() - core)));
    let tail = after.len().min(length - lead);
    let cells: Vec<Cell<'_>> = before.into_iter().take(lead).rev().chain(after.into_iter().take(tail)).collect();
    show(text, whole_words(text, &cells, lead..lead + core), marks, style)
}

/// Returns the first characters of a text on one line.
pub fn head(text: &str, length: usize) -> String {
    let first = beginning(text);
    let reach = length.min(text.len()).saturating_mul(BYTES);
    let part = &text[first..text.ceil_char_boundary(first.saturating_add(reach))];
    let (mut line, mut count) = (String::with_capacity(length.min(part.len())), 0);
    for (at, character) in characters(part) {
        // The last character of the part may continue after it.
        let is_torn = at > 0 && at + character.len() == part.len() && first + part.len() < text.len();
        if count == length || is_torn {
            break;
        }
        if character.contains(|part| !is_blank(part)) {
            line.push_str(character);
            count += 1;
        } else if !line.ends_with(' ') {
            line.push(' ');
            count += 1;
        }
    }
    line.truncate(line.trim_end_matches(' ').len());
    line
}

/// Returns the position of the first character that is not blank.
fn beginning(text: &str) -> usize {
    let first = text.len() - text.trim_start_matches(is_blank).len();
    // A combining mark may follow a blank.
    start_of_character(text, &(text.floor_char_boundary(first.saturating_sub(BYTES))..text.len()), first)
}

/// Returns the largest group of marks that fits into a length; the first of equals.
fn densest<'m>(text: &str, marks: &'m [Range<usize>], length: usize) -> &'m [Range<usize>] {
    // A character has at most four bytes, so a longer part needs no counting.
    let width = |from: usize, to: usize| match text.get(from..to) {
        Some(part) if part.len() <= length.saturating_mul(4) => part.chars().count(),
        _ => length + 1,
    };
    let step = |mark: usize| width(marks[mark].start, marks[mark + 1].start);
    let (mut start, mut wide, mut best) = (0, 0, 0..0);
    for (end, mark) in marks.iter().enumerate() {
        wide += if end > 0 { step(end - 1) } else { 0 };
        while start < end && wide + width(mark.start, mark.end) > length {
            wide -= step(start);
            start += 1;
        }
        if end + 1 - start > best.len() {
            best = start..end + 1;
        }
    }
    &marks[best]
}

/// Returns the cells without split words and blanks at either end; those of the core stay.
fn whole_words<'c, 't>(text: &str, cells: &'c [Cell<'t>], core: Range<usize>) -> &'c [Cell<'t>] {
    let is_torn = |at: usize| !is_border(text[..at].chars().next_back(), text[at..].chars().next());
    let mut left = (0..core.start.min(WORD)).find(|cell| !is_torn(cells[*cell].range.start)).unwrap_or(0);
    let most = core.end.max(cells.len().saturating_sub(WORD));
    let is_whole = |end: &usize| *end > 0 && !is_torn(cells[*end - 1].range.end);
    let mut right = (most..=cells.len()).rev().find(is_whole).unwrap_or(cells.len());
    while left < core.start && cells[left].text == " " {
        left += 1;
    }
    while right > core.end.max(left) && cells[right - 1].text == " " {
        right -= 1;
    }
    &cells[left..right]
}

fn show(text: &str, cells: &[Cell<'_>], marks: &[Range<usize>], style: &Style) -> String {
    let ([first, ..], [.., last]) = (cells, cells) else { return String::new() };
    let mut out = String::new();
    if text[..first.range.start].chars().rev().any(|character| !is_blank(character)) {
        out.push_str(&style.ellipsis);
    }
    let mut is_open = false;
    for cell in cells {
        let next = marks.partition_point(|mark| mark.end <= cell.range.start);
        let is_marked = marks.get(next).is_some_and(|mark| mark.start < cell.range.end);
        if is_marked != is_open {
            out.push_str(if is_marked { &style.open } else { &style.close });
            is_open = is_marked;
        }
        out.push_str(cell.text);
    }
    if is_open {
        out.push_str(&style.close);
    }
    if text[last.range.end..].contains(|character| !is_blank(character)) {
        out.push_str(&style.ellipsis);
    }
    out
}

#[cfg(test)]
mod tests;
