//! Text with highlighted matches: read from a store's answer, laid out for the terminal.

use crate::Visible;
use crate::layout::{breaks, take, width_of};
use anstyle::{AnsiColor, Style};
use hermes_session::search::snippet;
use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// Replaces text that is left out.
const ELLIPSIS: &str = "…";
/// Surround matches where styles are not shown.
const OPEN: &str = ">>>";
const CLOSE: &str = "<<<";

/// The delimiters that a store is asked to put around matches.
pub struct Delimiters {
    open: String,
    close: String,
}

impl Delimiters {
    /// Returns delimiters with a random number, so that no stored text can contain them.
    pub fn random() -> Self {
        // Each `RandomState` has different keys, so even the hash of empty input is random.
        let number = std::hash::RandomState::new().build_hasher().finish();
        Self { open: format!("\u{fdd0}{number:016x}\u{fdd1}"), close: format!("\u{fdd2}{number:016x}\u{fdd3}") }
    }

    /// Returns the snippet style to ask the store for: `length` characters of text, and these delimiters.
    pub fn style(&self, length: usize) -> snippet::Style {
        snippet::Style { open: self.open.clone(), close: self.close.clone(), ellipsis: ELLIPSIS.into(), length }
    }

    /// Takes the delimiters out of a snippet.
    pub fn read(&self, snippet: &str) -> Highlighted {
        let mut read = Highlighted { text: String::with_capacity(snippet.len()), highlights: Vec::new() };
        for part in snippet.split(&self.open) {
            let (inside, behind) = part.split_once(&self.close).unwrap_or(("", part));
            let start = read.text.len();
            read.text.push_str(inside);
            if !inside.is_empty() {
                read.highlights.push(start..read.text.len());
            }
            read.text.push_str(behind);
        }
        read
    }
}

/// A text and its matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highlighted {
    /// The text.
    pub text: String,
    /// The matches, in bytes.
    pub highlights: Vec<Range<usize>>,
}

impl Highlighted {
    /// Returns the matches, in characters (code points).
    pub fn in_characters(&self) -> Vec<Range<usize>> {
        let count = |end: usize| self.text[..end].chars().count();
        self.highlights.iter().map(|highlight| count(highlight.start)..count(highlight.end)).collect()
    }

    /// Returns the text on one line. Without styles, matches are surrounded by `>>>` and `<<<`.
    pub fn shown(&self, is_styled: bool) -> HighlightedLine {
        let (open, close) = if is_styled { ("", "") } else { (OPEN, CLOSE) };
        let mut shown = HighlightedLine { text: String::new(), highlights: Vec::new() };
        let mut at = 0;
        for highlight in self.whole_highlights() {
            shown.push(&self.text[at..highlight.start]);
            let start = shown.text.len();
            shown.text.push_str(open);
            shown.push(&self.text[highlight.clone()]);
            shown.text.push_str(close);
            shown.highlights.push(start..shown.text.len());
            at = highlight.end;
        }
        shown.push(&self.text[at..]);
        shown.text.truncate(shown.text.trim_end().len());
        shown
    }

    /// Returns the matches, each extended to whole graphemes, because a terminal draws a grapheme in one style.
    pub(crate) fn whole_highlights(&self) -> Vec<Range<usize>> {
        let borders: Vec<usize> = self.text.grapheme_indices(true).map(|(at, _)| at).chain([self.text.len()]).collect();
        let start = |at: usize| borders[borders.partition_point(|border| *border <= at) - 1];
        let end = |at: usize| borders[borders.partition_point(|border| *border < at)];
        let mut whole: Vec<Range<usize>> = Vec::with_capacity(self.highlights.len());
        for highlight in &self.highlights {
            let highlight = start(highlight.start)..end(highlight.end);
            match whole.last_mut() {
                Some(before) if highlight.start < before.end => before.end = before.end.max(highlight.end),
                _ => whole.push(highlight),
            }
        }
        whole
    }
}

/// A harmless line with highlighted parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HighlightedLine {
    text: String,
    highlights: Vec<Range<usize>>,
}

impl HighlightedLine {
    /// Appends sanitised text, with single spaces.
    fn push(&mut self, text: &str) {
        for character in Visible::line(text).as_str().chars() {
            if character != ' ' || !(self.text.is_empty() || self.text.ends_with(' ')) {
                self.text.push(character);
            }
        }
    }

    /// Returns the part around the first match that takes at most `columns`.
    fn within(mut self, columns: usize) -> Self {
        if width_of(&self.text) <= columns {
            return self;
        }
        let first = self.highlights.first().map_or(0, |highlight| highlight.start);
        let lead = (columns / 3).max(1);
        if width_of(&self.text[..first]) > lead {
            let too_much = width_of(&self.text[..first]) + 1 - lead;
            let mut gone = take(&self.text[..first], too_much).len();
            // A wide character that has to be cut in half is cut completely.
            if width_of(&self.text[gone..first]) + 1 > lead {
                gone += self.text[gone..first].graphemes(true).next().map_or(0, str::len);
            }
            // A word that would be cut is dropped, unless it is most of the rest.
            if let Some(space) = self.text[gone..first].find(' ').filter(|_| !self.text[..gone].ends_with(' '))
                && width_of(&self.text[gone..gone + space]) <= lead / 2
            {
                gone += space + 1;
            }
            self.text.replace_range(..gone, ELLIPSIS);
            let moved = |at: usize| (at + ELLIPSIS.len()).saturating_sub(gone);
            self.highlights.iter_mut().for_each(|range| *range = moved(range.start)..moved(range.end));
        }
        if width_of(&self.text) > columns {
            let kept = take(&self.text, columns.saturating_sub(1)).trim_end().len();
            self.text.truncate(kept);
            self.text.push_str(ELLIPSIS);
            self.highlights.retain_mut(|range| {
                range.end = range.end.min(kept);
                range.start < range.end
            });
        }
        self
    }

    /// Returns at most about `most` lines of `columns` each, as pieces with their styles.
    pub fn lines(self, columns: usize, most: usize) -> Vec<Vec<(Visible, Style)>> {
        let shown = self.within(columns.saturating_mul(most));
        let text = Visible::of_parts(shown.text.as_str());
        breaks(&text, columns).into_iter().map(|line| shown.pieces(line)).collect()
    }

    fn pieces(&self, line: Range<usize>) -> Vec<(Visible, Style)> {
        let mut pieces = Vec::new();
        let mut push = |range: Range<usize>, style: Style| {
            if !range.is_empty() {
                pieces.push((Visible::of_parts(&self.text[range]), style));
            }
        };
        let mut at = line.start;
        for range in &self.highlights {
            let (start, end) = (range.start.clamp(at, line.end), range.end.clamp(at, line.end));
            push(at..start, Style::new());
            push(start..end, strong());
            at = end;
        }
        push(at..line.end, Style::new());
        pieces
    }
}

/// Returns the style of a match, the one that other search programs use.
fn strong() -> Style {
    Style::new().bold().fg_color(Some(AnsiColor::Red.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text with `[` and `]` around matches.
    fn highlighted(text: &str) -> Highlighted {
        let delimiters = Delimiters::random();
        delimiters.read(&text.replace('[', &delimiters.open).replace(']', &delimiters.close))
    }

    fn lines(text: &str, is_styled: bool, columns: usize, most: usize) -> Vec<String> {
        let bracketed = |(text, style): &(Visible, Style)| match *style == Style::new() {
            true => text.to_string(),
            false => format!("[{text}]"),
        };
        let lines = highlighted(text).shown(is_styled).lines(columns, most);
        let width = |line: &Vec<(Visible, Style)>| line.iter().map(|(text, _)| width_of(text.as_str())).sum::<usize>();
        assert!(lines.iter().all(|line| width(line) <= columns), "{lines:?}");
        lines.iter().map(|line| line.iter().map(bracketed).collect()).collect()
    }

    #[test]
    fn delimiters_are_read_and_text_that_looks_like_them_is_text() {
        let found = highlighted("a [b] >>>c<<< [大]");
        assert_eq!((found.text.as_str(), found.highlights.as_slice()), ("a b >>>c<<< 大", [2..3, 12..15].as_slice()));
        assert_eq!(found.in_characters(), [2..3, 12..13]);
        assert_ne!(Delimiters::random().open, Delimiters::random().open);
    }

    #[test]
    fn emphasis_survives_wrapping_and_spaces() {
        assert_eq!(lines("the  [quick\n brown] fox", true, 10, 9), ["the [quick]", "[brown] fox"]);
        assert_eq!(lines("the [quick] fox", false, 12, 9), ["the", "[>>>quick<<<]", "fox"]);
        assert_eq!(lines("周末[大别山]徒步", true, 6, 9), ["周末[大]", "[别山]徒", "步"]);
        assert_eq!(lines("周末[大]徒步", false, 10, 9), ["周末", "[>>>大<<<]徒", "步"]);
        assert_eq!(lines("", true, 10, 1), [""]);
    }

    #[test]
    fn graphemes_are_highlighted_as_a_whole() {
        assert_eq!(lines("x[e]\u{301}y", true, 10, 1), ["x[e\u{301}]y"]);
        assert_eq!(lines("👨\u{200d}[👩]\u{200d}👧!", true, 10, 1), ["[👨\u{200d}👩\u{200d}👧]!"]);
    }

    #[test]
    fn a_long_text_is_cut_around_the_first_match() {
        assert_eq!(lines("one two three four [five] six seven eight", true, 20, 1), ["…four [five] six seve…"]);
        assert_eq!(lines("one two three four five [six] seven eight", true, 33, 1), ["…four five [six] seven eight"]);
        assert_eq!(lines("one two three four five [six] seven", true, 30, 1), ["…five [six] seven"]);
        assert_eq!(lines("one two supercalifragilistic [six] seven", true, 24, 1), ["…listic [six] seven"]);
        assert_eq!(lines("[one] two three four", true, 10, 1), ["[one] two t…"]);
        assert_eq!(lines("一二三四五六七八[九]十一二三四五六", true, 15, 1), ["…七八[九]十一二…"]);
        assert_eq!(lines("x [abcdefghijklmno]", true, 9, 1), ["x [abcdef]…"]);
    }

    #[test]
    fn every_width_holds_for_every_text() {
        let texts =
            ["a[b]c 大[别]山 👨\u{200d}👩\u{200d}👧[x] كيف [أحضّر] كبسة\u{1b}[2J]", "[大别山徒步计划]", "[]", "x"];
        for text in texts {
            for columns in 2..40 {
                for most in 1..4 {
                    lines(text, columns % 2 == 0, columns, most);
                }
            }
        }
    }

    #[test]
    fn nothing_hostile_is_shown_as_it_is() {
        assert_eq!(lines("a\u{1b}[red\u{9b}] \u{202e}", true, 80, 1), ["a␛[red<U+009B>] <U+202E>"]);
    }
}
