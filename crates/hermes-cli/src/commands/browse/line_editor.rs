//! A line that somebody types. What a person takes for one character is one.

use unicode_segmentation::UnicodeSegmentation as _;

/// The longest line, in bytes: whatever is pasted, typing stays quick.
const MOST: usize = 4096;

/// A line and the place where typing goes on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Line {
    text: String,
    /// In bytes, between two characters.
    at: usize,
}

impl Line {
    /// A line to be changed, with the place at its end.
    pub(super) fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { at: text.len(), text }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// What stands before the place.
    pub(super) fn before(&self) -> &str {
        &self.text[..self.at]
    }

    /// Puts in the first line of a text, without what no key types.
    pub(super) fn insert(&mut self, text: &str) {
        let line = text.lines().next().unwrap_or_default();
        for character in line.chars().filter(|character| !character.is_control()) {
            if self.text.len() + character.len_utf8() <= MOST {
                self.text.insert(self.at, character);
                self.at += character.len_utf8();
            }
        }
    }

    /// Takes away the character before the place; whether there was one.
    pub(super) fn backspace(&mut self) -> bool {
        let from = self.left_of(self.at);
        self.take(from)
    }

    /// Takes away the character behind the place.
    pub(super) fn delete(&mut self) {
        self.text.replace_range(self.at..self.right_of(self.at), "");
    }

    /// Takes away all before the place.
    pub(super) fn clear(&mut self) -> bool {
        self.take(0)
    }

    /// Takes away the word before the place, and the blanks behind it.
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
        let mut line = Line::new("a大👨\u{200d}👩\u{200d}👧");
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
        let mut line = Line::new("one  zwei 三 ");
        let mut seen = Vec::new();
        while line.clear_word() {
            seen.push(line.text().to_owned());
        }
        assert_eq!(seen, ["one  zwei ", "one  ", ""]);
    }

    #[test]
    fn what_is_pasted_is_one_line_without_controls() {
        let mut line = Line::default();
        line.insert("a\u{1b}[31m\tb\r\nsecond");
        assert_eq!(line.text(), "a[31mb");
        line.insert(&"大".repeat(9999));
        assert!(line.text().len() <= MOST);
        line.insert("\n");
        assert!(line.clear() && line.text().is_empty());
    }
}
