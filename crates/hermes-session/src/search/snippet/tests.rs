use super::*;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation as _;

fn style(length: usize) -> Style {
    Style { open: "[".into(), close: "]".into(), ellipsis: "…".into(), length }
}

fn one(mark: Range<usize>) -> Vec<Range<usize>> {
    vec![mark]
}

/// Highlights each occurrence of a piece.
#[track_caller]
fn check(text: &str, piece: &str, length: usize, expect: &str) {
    let marks: Vec<Range<usize>> = text.match_indices(piece).map(|(at, piece)| at..at + piece.len()).collect();
    assert_eq!(snippet(text, &marks, &style(length)), expect, "{text:?}");
}

#[test]
fn what_matched_is_marked() {
    check("the cat sat", "cat", 200, "the [cat] sat");
    check("cat and cat", "cat", 200, "[cat] and [cat]");
    check("大别山项目", "别山", 200, "大[别山]项目");
    assert_eq!(snippet("a cat", &one(2..5), &Style::default()), "a >>>cat<<<");
}

#[test]
fn words_are_not_torn_where_text_is_left_out() {
    check("one two three four five six seven", "four", 16, "…three [four] five…");
    check("one two three four five six seven", "one", 10, "[one] two…");
    check("one two three four five six seven", "seven", 12, "…six [seven]");
    check("aaaa-b", "b", 3, "…-[b]");
    check(&format!("{} cat", "a".repeat(60)), "cat", 40, &format!("…{} [cat]", "a".repeat(36)));
    check(&format!("cat {}", "a".repeat(60)), "cat", 40, &format!("[cat] {}…", "a".repeat(36)));
    check(&"x".repeat(99), "nothing", 5, "xxxxx…");
    check("在大别山的项目里面有很多人", "项目", 6, "…山的[项目]里面…");
}

#[test]
fn the_place_with_the_most_marks_is_shown() {
    let far = format!(" {}", "word ".repeat(50));
    check(&format!("cat{far}cat cat{far}cat cat"), "cat", 20, "…word [cat] [cat] word…");
    check(&format!("cat{far}cat"), "cat", 12, "[cat] word…");
}

#[test]
fn a_long_mark_shows_its_beginning() {
    check("so abcdefghij", "abcdefghij", 4, "…[abcd]…");
    check("so abcdefghij", "abcdefghij", 10, "…[abcdefghij]");
    check("so abcdefghij", "abcdefghij", 13, "so [abcdefghij]");
}

#[test]
fn it_is_one_line() {
    check("  a\r\n\tb\0\0c \u{3000} cat \n", "cat", 200, "a b c [cat]");
    check("a\n\n\ncat\u{7}\u{1b}b", "\n\ncat", 200, "a[ cat] b");
    check("cat  \n  x", " \n", 200, "cat[ ]x");
}

#[test]
fn characters_are_not_torn() {
    check("x 👩‍💻👋🏽 y", "💻", 200, "x [👩‍💻]👋🏽 y");
    check("cafe\u{305} x", "e", 200, "caf[e\u{305}] x");
    check("a e\u{305} x", "\u{305}", 200, "a [e\u{305}] x");
    check("👩‍💻👩‍💻👩‍💻b👩‍💻👩‍💻👩‍💻", "b", 3, "…👩‍💻[b]👩‍💻…");
    check("  \u{e48} x", "x", 200, " \u{e48} [x]");
    check("กี่กี่ x", "x", 200, "กี่กี่ [x]");
}

#[test]
fn without_marks_it_is_the_beginning() {
    check(" one two three", "nothing", 7, "one two…");
    check(" one two three", "nothing", 6, "one…");
    check("", "nothing", 6, "");
    check("\n \0", "nothing", 6, "");
    check("one", "one", 0, "");
}

#[test]
fn marks_that_are_off_do_no_harm() {
    assert_eq!(snippet("é", &one(1..2), &style(9)), "[é]");
    assert_eq!(snippet("ab", &one(7..9), &style(9)), "ab");
    assert_eq!(snippet("ab", &one(1..99), &style(9)), "a[b]");
    assert_eq!(snippet("ab", &one(1..1), &style(usize::MAX)), "ab");
}

#[test]
fn heads_are_short() {
    assert_eq!(head("  one\n\ntwo\0three ", 200), "one two three");
    assert_eq!(head("one two", 4), "one");
    assert_eq!(head("👩‍💻👩‍💻👩‍💻", 2), "👩‍💻👩‍💻");
    assert_eq!(head("abc", 0), "");
    assert_eq!(head("abc", usize::MAX), "abc");
}

#[test]
fn one_character_of_many_parts_has_an_end() {
    let much = format!("a{}", "\u{305}".repeat(1_000_000));
    assert!(snippet(&format!("x {much} cat"), &one(0..1), &style(10)).len() < 2_000);
    assert!(head(&much, 10).len() < 2_000);
    let flags = "🇩🇪".repeat(200_000);
    assert_eq!(snippet(&flags, &one(800_000..800_004), &style(3)), "…🇩🇪[🇩🇪]🇩🇪…");
}

/// Returns the text on one line, as snippets show it.
fn line(text: &str) -> String {
    head(text, usize::MAX)
}

/// Extends a mark to whole graphemes.
fn whole(text: &str, mark: &Range<usize>) -> Range<usize> {
    let borders = || text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]);
    let start = borders().filter(|border| *border <= mark.start).max();
    start.unwrap_or(0)..borders().find(|border| *border >= mark.end).unwrap_or(text.len())
}

/// Extends marks to whole graphemes and merges those that touch then.
fn joined(text: &str, marks: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for mark in marks.iter().map(|mark| whole(text, mark)) {
        match joined.last_mut() {
            Some(before) if mark.start <= before.end => before.end = mark.end.max(before.end),
            _ => joined.push(mark),
        }
    }
    joined
}

#[test]
fn marks_of_neighbouring_characters_are_one() {
    // The second mark begins inside a grapheme that follows the first one.
    let text = "abcdefgh aไa👩\u{200d}💻\u{e48}👩\u{200d}💻";
    let marks = [9..14, 21..39];
    assert_eq!(joined(text, &marks), one(9..39));
    assert_eq!(snippet(text, &marks, &style(15)), "abcdefgh [aไa👩\u{200d}💻\u{e48}👩\u{200d}💻]");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn characters_are_those_of_unicode(text in "([a-c ]|[\n\r\t\0é大ไ่\u{305}]|👩‍💻|🇩🇪|\r\n|\\PC){0,40}") {
        let expect: Vec<(usize, &str)> = text.grapheme_indices(true).collect();
        prop_assert_eq!(characters(&text).collect::<Vec<_>>(), expect);
    }

    #[test]
    fn it_is_a_part_of_the_text(text in "([a-c ]|[\n\t\0é大ไ่\u{305}]|👩‍💻|🇩🇪|abcdefgh ){0,40}", places in prop::collection::btree_set(0_usize..90, 0..8), length in 0_usize..30) {
        let places: Vec<usize> = places.into_iter().filter(|place| text.is_char_boundary(*place)).collect();
        let marks: Vec<Range<usize>> = places.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect();
        let out = snippet(&text, &marks, &style(length));
        let mut depth = 0;
        for sign in out.chars().filter(|sign| "[]".contains(*sign)) {
            depth += if sign == '[' { 1 } else { -1 };
            prop_assert!(depth == 0 || depth == 1, "{out}");
        }
        prop_assert_eq!(depth, 0);
        let shown = out.replace(['[', ']'], "");
        let shown = shown.strip_prefix('…').unwrap_or(&shown);
        let shown = shown.strip_suffix('…').unwrap_or(shown);
        prop_assert!(shown.graphemes(true).count() <= length, "{out}");
        let all = format!(" {} ", line(&text));
        prop_assert!(all.contains(shown), "{out:?} {all:?}");
        if !out.contains('…') && length > 0 {
            prop_assert_eq!(shown.trim(), all.trim(), "nothing is left out");
        }
        if length > 0 && !marks.is_empty() {
            prop_assert!(out.contains('['), "{out}");
        }
        if length > 0 && let Some((open, close)) = out.find('[').zip(out.find(']')) {
            let marked = out[open + 1..close].trim();
            prop_assert!(joined(&text, &marks).into_iter().any(|mark| {
                let mark = line(&text[mark]);
                marked.contains(&mark) || mark.contains(marked)
            }), "{out}");
        }
    }
}
