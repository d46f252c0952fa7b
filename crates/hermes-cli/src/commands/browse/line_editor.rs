//! Edits one line of input, by grapheme clusters.

use unicode_segmentation::UnicodeSegmentation as _;

/// The longest line, in bytes, so that typing stays quick after a large paste.
const MAX_LINE_BYTES: usize = 4096;

/// A line of input and its cursor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct LineEditor {
    text: String,
    /// The cursor as a byte offset, between two characters.
    at: usize,
}

impl LineEditor {
    /// Returns an editor for `text` with the cursor at its end.
    pub(super) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { at: text.len(), text }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the text before the cursor.
    pub(super) fn before(&self) -> &str {
        &self.text[..self.at]
    }

    /// Inserts the first line of a text without control characters.
    pub(super) fn insert(&mut self, text: &str) {
        let line = text.lines().next().unwrap_or_default();
        for character in line.chars().filter(|character| !character.is_control()) {
            if self.text.len() + character.len_utf8() <= MAX_LINE_BYTES {
                self.text.insert(self.at, character);
                self.at += character.len_utf8();
            }
        }
    }

    /// Deletes the character before the cursor. Returns whether there was one.
    pub(super) fn backspace(&mut self) -> bool {
        let from = self.left_of(self.at);
        self.take(from)
    }

    /// Deletes the character after the cursor.
    pub(super) fn delete(&mut self) {
        self.text.replace_range(self.at..self.right_of(self.at), "");
    }

    /// Deletes all before the cursor.
    pub(super) fn clear(&mut self) -> bool {
        self.take(0)
    }

    /// Deletes the word before the cursor and the blanks after it.
    pub(super) fn clear_word(&mut self) -> bool {
        let words = self.before().trim_end();
        let from = words.char_indices().rev().find(|(_, character)| character.is_whitespace());
        self.take(from.map_or(0, |(at, blank)| at + blank.len_utf8()))
    }

    pub(super) fn left(&mut self) {
        self.at = self.left_of(self.at);
    }

    pub(super) fn right(&mut self) {
        self.at = self.right_of(self.at);
    }

    pub(super) fn home(&mut self) {
        self.at = 0;
    }

    pub(super) fn end(&mut self) {
        self.at = self.text.len();
    }

    fn take(&mut self, from: usize) -> bool {
        let is_some = from < self.at;
        self.text.replace_range(from..self.at, "");
        self.at = from;
        is_some
    }

    fn left_of(&self, at: usize) -> usize {
        self.text[..at].grapheme_indices(true).next_back().map_or(0, |(start, _)| start)
    }

    fn right_of(&self, at: usize) -> usize {
        self.text[at..].graphemes(true).next().map_or(at, |character| at + character.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_what_a_person_takes_for_one() {
        let mut line = LineEditor::new("a大👨\u{200d}👩\u{200d}👧");
        assert!(line.backspace());
        assert_eq!(line.text(), "a大");
        line.left();
        line.insert("e\u{301}");
        assert_eq!((line.text(), line.before()), ("ae\u{301}大", "ae\u{301}"));
        line.left();
        line.delete();
        assert_eq!(line.text(), "a大");
        line.home();
        assert!(!line.backspace() && !line.clear());
        line.end();
        line.delete();
        line.right();
        assert_eq!(line.before(), "a大");
    }

    #[test]
    fn words_go_one_by_one() {
        let mut line = LineEditor::new("one  zwei 三 ");
        let mut seen = Vec::new();
        while line.clear_word() {
            seen.push(line.text().to_owned());
        }
        assert_eq!(seen, ["one  zwei ", "one  ", ""]);
    }

    #[test]
    fn what_is_pasted_is_one_line_without_controls() {
        let mut line = LineEditor::default();
        line.insert("a\u{1b}[31m\tb\r\nsecond");
        assert_eq!(line.text(), "a[31mb");
        line.insert(&"大".repeat(9999));
        assert!(line.text().len() <= MAX_LINE_BYTES);
        line.insert("\n");
        assert!(line.clear() && line.text().is_empty());
    }
}
