//! Widths in columns of the terminal: measuring, cutting, padding, wrapping. Graphemes are never split.

use crate::Visible;
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Characters that must not start a line in Chinese or Japanese, and the end of a highlight (`<<<`).
const NEVER_FIRST: &str = "<、。，．・：；？！）］｝」』】》〉〕”’…ー々ゝゞぁぃぅぇぉっゃゅょァィゥェォッャュョ";
/// Characters that must not end a line, and the start of a highlight (`>>>`).
const NEVER_LAST: &str = ">（［｛「『【《〈〔“‘";

/// Returns the width of a text in columns.
pub fn width(text: &Visible) -> usize {
    width_of(text.as_str())
}

/// Returns the width of a raw text in columns.
///
/// It is the sum over graphemes: a terminal draws each in its own cells, even where a font would join two letters.
pub(crate) fn width_of(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(|grapheme| grapheme.width()).sum() }
}

/// Returns the text in at most `columns`. A cut text ends in `…`.
pub fn cut(text: &Visible, columns: usize) -> Visible {
    if width(text) <= columns {
        return text.clone();
    }
    if columns == 0 {
        return Visible::default();
    }
    let mut out = take(text.as_str(), columns - 1).trim_end().to_owned();
    out.push('…');
    Visible::of_parts(out)
}

/// Returns the end of a text in at most `columns`. A cut text begins with `…`.
pub fn tail(text: &Visible, columns: usize) -> Visible {
    if width(text) <= columns {
        return text.clone();
    }
    let mut used = 1;
    let start = text.as_str().grapheme_indices(true).rev().take_while(|(_, grapheme)| {
        used += grapheme.width();
        used <= columns
    });
    let start = start.last().map_or(text.as_str().len(), |(start, _)| start);
    Visible::of_parts(if columns == 0 { String::new() } else { format!("…{}", &text.as_str()[start..]) })
}

/// Returns the text in exactly `columns`, cut or padded with spaces on the right.
pub fn fit(text: &Visible, columns: usize) -> Visible {
    let text = cut(text, columns);
    let missing = columns.saturating_sub(width(&text));
    Visible::of_parts(format!("{text}{:missing$}", ""))
}

/// Returns the text in at least `columns`, padded with spaces on the left.
pub fn right(text: &Visible, columns: usize) -> Visible {
    let missing = columns.saturating_sub(width(text));
    Visible::of_parts(format!("{:missing$}{text}", ""))
}

/// Breaks a line into lines of at most `columns`, between words or wide characters, and inside a word that is longer
/// than that.
///
/// Spaces at a break are dropped; leading spaces of the line stay.
pub fn wrap(line: &Visible, columns: usize) -> Vec<Visible> {
    breaks(line, columns).into_iter().map(|range| Visible::of_parts(&line.as_str()[range])).collect()
}

/// Returns the byte ranges that [`wrap`] turns into lines.
pub(crate) fn breaks(line: &Visible, columns: usize) -> Vec<Range<usize>> {
    let (text, columns) = (line.as_str(), columns.max(2));
    let mut lines = Vec::new();
    let mut current = 0..0;
    let mut used = 0;
    for chunk in chunks(text) {
        let size = width_of(&text[chunk.clone()]);
        if used + size <= columns {
            current.end = chunk.end;
            used += size;
            continue;
        }
        if text[chunk.clone()].trim().is_empty() {
            // The break replaces these spaces.
            used = columns;
            continue;
        }
        if !text[current.clone()].trim().is_empty() {
            lines.push(current);
        }
        let mut rest = chunk;
        while width_of(&text[rest.clone()]) > columns {
            let head = take(&text[rest.clone()], columns).len();
            // A grapheme wider than the line is taken anyway; otherwise the loop would not end.
            let first = text[rest.clone()].graphemes(true).next().map_or(rest.len(), str::len);
            let cut = rest.start + head.max(first);
            lines.push(rest.start..cut);
            rest.start = cut;
        }
        used = width_of(&text[rest.clone()]);
        current = rest;
    }
    if !text[current.clone()].trim().is_empty() || lines.is_empty() {
        lines.push(current);
    }
    lines.into_iter().map(|range| range.start..range.start + text[range].trim_end().len()).collect()
}

/// Wraps like [`wrap`], with further lines indented under the text of the first: behind its spaces and list bullet.
pub fn wrap_hanging(line: &Visible, columns: usize) -> Vec<Visible> {
    let margin = margin(line.as_str());
    if width(line) <= columns || margin == 0 || margin + 10 > columns {
        return wrap(line, columns);
    }
    let (head, text) = line.as_str().split_at(margin);
    let wrapped = wrap(&Visible::of_parts(text), columns - margin);
    let line = |(index, text): (usize, Visible)| match index {
        0 => Visible::of_parts(format!("{head}{text}")),
        _ => Visible::of_parts(format!("{:margin$}{text}", "")),
    };
    wrapped.into_iter().enumerate().map(line).collect()
}

/// Returns how far the text of a line is indented, in ASCII characters.
fn margin(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let spaces = line.len() - text.len();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let bullet = match text.as_bytes() {
        [b'-' | b'*' | b'+' | b'>', b' ', ..] => 2,
        bytes if (1..=3).contains(&digits) && matches!(bytes.get(digits..digits + 2), Some(b". " | b") ")) => {
            digits + 2
        }
        _ => 0,
    };
    spaces + bullet
}

/// Returns the start of a text that fits into `columns`.
pub(crate) fn take(text: &str, columns: usize) -> &str {
    let mut used = 0;
    let end = text.grapheme_indices(true).find(|(_, grapheme)| {
        used += grapheme.width();
        used > columns
    });
    end.map_or(text, |(end, _)| &text[..end])
}

/// Returns the pieces of a line between which it may be broken.
fn chunks(line: &str) -> Vec<Range<usize>> {
    let mut starts = vec![0];
    let mut before: Option<&str> = None;
    for (at, grapheme) in line.grapheme_indices(true) {
        if before.is_some_and(|before| may_break(before, grapheme)) {
            starts.push(at);
        }
        before = Some(grapheme);
    }
    let ends = starts.iter().skip(1).copied().chain([line.len()]).collect::<Vec<_>>();
    starts.into_iter().zip(ends).map(|(start, end)| start..end).collect()
}

fn may_break(before: &str, after: &str) -> bool {
    let space = |grapheme: &str| grapheme.chars().all(|character| character == ' ');
    if space(before) != space(after) {
        return true;
    }
    let is_wide = before.width() > 1 || after.width() > 1;
    !space(before) && is_wide && !NEVER_FIRST.contains(after) && !NEVER_LAST.contains(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Visible {
        Visible::line(text)
    }

    #[track_caller]
    fn check_wrap(line: &str, columns: usize, expect: &[&str]) {
        let lines = wrap(&text(line), columns);
        assert_eq!(lines.iter().map(Visible::as_str).collect::<Vec<_>>(), expect);
        assert!(lines.iter().all(|line| width(line) <= columns.max(2)));
    }

    #[test]
    fn widths_are_columns() {
        for (string, columns) in [
            ("abc", 3),
            ("大别山", 6),
            ("👨\u{200d}👩\u{200d}👧", 2),
            ("e\u{301}", 1),
            ("مرحبا", 5),
            ("سلام", 4),
            ("❤\u{fe0f}", 2),
        ] {
            assert_eq!(width(&text(string)), columns, "{string}");
        }
    }

    #[test]
    fn a_cut_is_visible_and_splits_no_grapheme() {
        assert_eq!(cut(&text("大别山"), 6).as_str(), "大别山");
        assert_eq!(cut(&text("大别山"), 5).as_str(), "大别…");
        assert_eq!(cut(&text("大别山"), 4).as_str(), "大…");
        assert_eq!(cut(&text("a👨\u{200d}👩\u{200d}👧b"), 3).as_str(), "a…");
        assert_eq!(cut(&text("word next"), 6).as_str(), "word…");
        assert_eq!(cut(&text("abc"), 0).as_str(), "");
        assert_eq!(tail(&text("大别山"), 6).as_str(), "大别山");
        assert_eq!(tail(&text("大别山"), 4).as_str(), "…山");
        assert_eq!(tail(&text("a👨\u{200d}👩\u{200d}👧b"), 2).as_str(), "…b");
        assert_eq!((tail(&text("abc"), 1).as_str(), tail(&text("abc"), 0).as_str()), ("…", ""));
        assert_eq!(fit(&text("大别山"), 6), fit(&text("大别山"), 6));
        assert_eq!(fit(&text("大别山"), 4).as_str(), "大… ");
        assert_eq!(right(&text("7"), 3).as_str(), "  7");
    }

    #[test]
    fn lines_break_between_words_and_wide_characters() {
        check_wrap("the quick brown fox", 10, &["the quick", "brown fox"]);
        check_wrap("  two  spaces", 40, &["  two  spaces"]);
        check_wrap("一二三四五六", 5, &["一二", "三四", "五六"]);
        check_wrap("一二。三", 4, &["一", "二。", "三"]);
        check_wrap("一「二」三", 5, &["一", "「二", "」三"]);
        check_wrap("一>>>二<<<三", 8, &["一", ">>>二<<<", "三"]);
        check_wrap("supercalifragilistic x", 8, &["supercal", "ifragili", "stic x"]);
        check_wrap("a 👨\u{200d}👩\u{200d}👧", 2, &["a", "👨\u{200d}👩\u{200d}👧"]);
        check_wrap("", 10, &[""]);
        check_wrap("    ", 2, &[""]);
        let hanging = wrap_hanging(&text("  2. one two three four"), 15);
        assert_eq!(hanging.iter().map(Visible::as_str).collect::<Vec<_>>(), ["  2. one two", "     three four"]);
    }
}
