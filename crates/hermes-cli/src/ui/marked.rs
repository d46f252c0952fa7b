//! Text with what matched in it marked: read from a store's answer, laid out for the terminal.

use super::Visible;
use super::layout::{breaks, take, width_of};
use anstyle::{AnsiColor, Style};
use hermes_session::search::snippet;
use std::hash::{BuildHasher as _, Hasher as _};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// Stands where text was left out.
const ELLIPSIS: &str = "…";
/// Stand around what matched where no style can show it.
const OPEN: &str = ">>>";
const CLOSE: &str = "<<<";

/// The marks that a store is asked to put around what matched.
pub(crate) struct Marks {
    open: String,
    close: String,
}

impl Marks {
    /// Marks with a number that is drawn now. Nobody who wrote a message could know it, so no text looks marked that is not.
    pub(crate) fn new() -> Self {
        // Every hasher of this kind starts with other keys.
        let number = std::hash::RandomState::new().build_hasher().finish();
        Self { open: format!("\u{fdd0}{number:016x}\u{fdd1}"), close: format!("\u{fdd2}{number:016x}\u{fdd3}") }
    }

    /// What to ask the store for: so many characters of text, and these marks.
    pub(crate) fn style(&self, length: usize) -> snippet::Style {
        snippet::Style { open: self.open.clone(), close: self.close.clone(), ellipsis: ELLIPSIS.into(), length }
    }

    /// Takes the marks out of a snippet.
    pub(crate) fn read(&self, snippet: &str) -> Marked {
        let mut marked = Marked { text: String::with_capacity(snippet.len()), marks: Vec::new() };
        for part in snippet.split(&self.open) {
            let (inside, behind) = part.split_once(&self.close).unwrap_or(("", part));
            let start = marked.text.len();
            marked.text.push_str(inside);
            if !inside.is_empty() {
                marked.marks.push(start..marked.text.len());
            }
            marked.text.push_str(behind);
        }
        marked
    }
}

/// A text, and where it matched, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marked {
    pub(crate) text: String,
    pub(crate) marks: Vec<Range<usize>>,
}

impl Marked {
    /// Where it matched, counted in characters (code points).
    pub(crate) fn in_characters(&self) -> Vec<Range<usize>> {
        let count = |end: usize| self.text[..end].chars().count();
        self.marks.iter().map(|mark| count(mark.start)..count(mark.end)).collect()
    }

    /// The text on one line as it is shown. Where nothing can be emphasised, marks stand around what matched.
    pub(crate) fn shown(&self, is_styled: bool) -> Shown {
        let (open, close) = if is_styled { ("", "") } else { (OPEN, CLOSE) };
        let mut shown = Shown { text: String::new(), strong: Vec::new() };
        let mut at = 0;
        for mark in self.whole_marks() {
            shown.push(&self.text[at..mark.start]);
            let start = shown.text.len();
            shown.text.push_str(open);
            shown.push(&self.text[mark.clone()]);
            shown.text.push_str(close);
            shown.strong.push(start..shown.text.len());
            at = mark.end;
        }
        shown.push(&self.text[at..]);
        shown.text.truncate(shown.text.trim_end().len());
        shown
    }

    /// The marks, each around whole graphemes: nothing is told apart that a terminal draws as one.
    pub(super) fn whole_marks(&self) -> Vec<Range<usize>> {
        let borders: Vec<usize> = self.text.grapheme_indices(true).map(|(at, _)| at).chain([self.text.len()]).collect();
        let start = |at: usize| borders[borders.partition_point(|border| *border <= at) - 1];
        let end = |at: usize| borders[borders.partition_point(|border| *border < at)];
        let mut whole: Vec<Range<usize>> = Vec::with_capacity(self.marks.len());
        for mark in &self.marks {
            let mark = start(mark.start)..end(mark.end);
            match whole.last_mut() {
                Some(before) if mark.start < before.end => before.end = before.end.max(mark.end),
                _ => whole.push(mark),
            }
        }
        whole
    }
}

/// A harmless line, and what of it is strong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    text: String,
    strong: Vec<Range<usize>>,
}

impl Shown {
    /// Adds text, made harmless, with single spaces.
    fn push(&mut self, text: &str) {
        for character in Visible::line(text).as_str().chars() {
            if character != ' ' || !(self.text.is_empty() || self.text.ends_with(' ')) {
                self.text.push(character);
            }
        }
    }

    /// The part of it around the first match that takes at most `columns`.
    fn within(mut self, columns: usize) -> Self {
        if width_of(&self.text) <= columns {
            return self;
        }
        let first = self.strong.first().map_or(0, |mark| mark.start);
        let lead = (columns / 3).max(1);
        if width_of(&self.text[..first]) > lead {
            let too_much = width_of(&self.text[..first]) + 1 - lead;
            let mut gone = take(&self.text[..first], too_much).len();
            // Of a wide character that only half has to go, all goes.
            if width_of(&self.text[gone..first]) + 1 > lead {
                gone += self.text[gone..first].graphemes(true).next().map_or(0, str::len);
            }
            // A word that would be torn goes too, unless it is most of what is left.
            if let Some(space) = self.text[gone..first].find(' ').filter(|_| !self.text[..gone].ends_with(' '))
                && width_of(&self.text[gone..gone + space]) <= lead / 2
            {
                gone += space + 1;
            }
            self.text.replace_range(..gone, ELLIPSIS);
            let moved = |at: usize| (at + ELLIPSIS.len()).saturating_sub(gone);
            self.strong.iter_mut().for_each(|mark| *mark = moved(mark.start)..moved(mark.end));
        }
        if width_of(&self.text) > columns {
            let kept = take(&self.text, columns.saturating_sub(1)).trim_end().len();
            self.text.truncate(kept);
            self.text.push_str(ELLIPSIS);
            self.strong.retain_mut(|mark| {
                mark.end = mark.end.min(kept);
                mark.start < mark.end
            });
        }
        self
    }

    /// The lines of it, at most about `most` of `columns` each, in pieces with their styles.
    pub(crate) fn lines(self, columns: usize, most: usize) -> Vec<Vec<(Visible, Style)>> {
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
        for mark in &self.strong {
            let (start, end) = (mark.start.clamp(at, line.end), mark.end.clamp(at, line.end));
            push(at..start, Style::new());
            push(start..end, strong());
            at = end;
        }
        push(at..line.end, Style::new());
        pieces
    }
}

/// What matched looks so, as people know it from other programs that search.
fn strong() -> Style {
    Style::new().bold().fg_color(Some(AnsiColor::Red.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text with `[` and `]` around what matched.
    fn marked(text: &str) -> Marked {
        let marks = Marks::new();
        marks.read(&text.replace('[', &marks.open).replace(']', &marks.close))
    }

    fn lines(text: &str, is_styled: bool, columns: usize, most: usize) -> Vec<String> {
        let bracketed = |(text, style): &(Visible, Style)| match *style == Style::new() {
            true => text.to_string(),
            false => format!("[{text}]"),
        };
        let lines = marked(text).shown(is_styled).lines(columns, most);
        let width = |line: &Vec<(Visible, Style)>| line.iter().map(|(text, _)| width_of(text.as_str())).sum::<usize>();
        assert!(lines.iter().all(|line| width(line) <= columns), "{lines:?}");
        lines.iter().map(|line| line.iter().map(bracketed).collect()).collect()
    }

    #[test]
    fn marks_are_read_and_text_that_looks_like_them_is_text() {
        let found = marked("a [b] >>>c<<< [大]");
        assert_eq!((found.text.as_str(), found.marks.as_slice()), ("a b >>>c<<< 大", [2..3, 12..15].as_slice()));
        assert_eq!(found.in_characters(), [2..3, 12..13]);
        assert_ne!(Marks::new().open, Marks::new().open);
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
    fn what_is_drawn_as_one_is_marked_as_one() {
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
