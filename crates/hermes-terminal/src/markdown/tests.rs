use super::*;
use crate::layout::width;
use insta::assert_snapshot;

fn plain(text: &str, columns: usize) -> String {
    lines(text, columns).unwrap().iter().map(|line| line.plain().trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

/// The pieces that are not plain, with their styles.
fn styled(text: &str) -> Vec<(String, Style)> {
    let pieces = lines(text, 80).unwrap().into_iter().flatten();
    pieces.filter(|(_, style)| *style != Style::new()).map(|(text, style)| (text.to_string(), style)).collect()
}

#[test]
fn blocks_are_drawn_without_their_marks() {
    let text = "# Plan\nFirst **this**, then *that* and ~~those~~, see [the docs](https://x.org/a) or <https://y.org>.\n\
                second line\n\n1. one\n   more of one\n2. two\n   - deep\n   - deeper, with a text that is too long for one line\n\n\
                - [x] done\n- [ ] open\n\n> quoted\n> text\n\n```rust\nfn main() {\n\tlet x = 1;\n}\n```\n\n---\n\n| a | bb |\n|---|---|\n| 大别山 | `c` |\n\n<b>html</b> ![alt](pic.png) `in code` &amp; \\*no\\*\n";
    assert_snapshot!(plain(text, 44), @r#"
    Plan

    First this, then that and those, see the
    docs (https://x.org/a) or https://y.org.
    second line

    1. one
       more of one
    2. two
       • deep
       • deeper, with a text that is too long
         for one line

    • [x] done
    • [ ] open

    │ quoted
    │ text

    rust
      fn main() {
          let x = 1;
      }

    ───

    a      │ bb
    大别山 │ c

    <b>html</b> [image: alt] (pic.png) in code &
    *no*
    "#);
}

#[test]
fn emphasis_is_a_style() {
    let bold = Style::new().bold();
    assert_eq!(
        styled("**a *b* c** `d`"),
        [("a ".into(), bold), ("b".into(), bold.italic()), (" c".into(), bold), ("d".into(), code_style())]
    );
    assert_eq!(styled("### h"), [("h".into(), bold)]);
    assert_eq!(styled("plain _text"), []);
}

#[test]
fn nothing_is_wider_and_no_word_is_lost() {
    let text = "> > 1. quoted in a list 大别山徒步计划 that goes on and on\n\n    code that is much longer than the line it is on\n\n\
                | a long head | another long head |\n|---|---|\n| a long cell in a table | x |\n\n# heading that is too long as well\n";
    for columns in [20, 24, 40] {
        let drawn = lines(text, columns).unwrap();
        for line in &drawn {
            assert!(width(&line.plain().into()) <= columns, "{columns}: {:?}", line.plain());
        }
        let joined: String = drawn.iter().map(Line::plain).collect::<String>().replace(['│', ' ', '─'], "");
        for word in ["quoted", "徒步计划", "muchlonger", "anotherlong", "cellina", "toolong"] {
            assert!(joined.contains(word), "{columns}: {word} in {joined}");
        }
    }
}

#[test]
fn what_could_do_harm_is_shown() {
    let text = "a \u{1b}[2J `\u{1b}]0;x\u{7}` &#27;[31m &#x202e; [x](\u{1b}evil)\n\n```\u{1b}[1m\n\u{9b}2J\n```\n| \u{1b} |\n|---|\n";
    for line in lines(text, 60).unwrap() {
        assert!(line.plain().chars().all(|character| !character.is_control() && character != '\u{202e}'), "{line:?}");
    }
}

#[test]
fn texts_that_are_no_markup_stay() {
    for text in ["", "one", "a\nb", "1 < 2 && x", "C:\\dir", "2 * 3 * 4", "snake_case_name", "a\n\nb"] {
        assert_eq!(plain(text, 80), text);
    }
    assert!(lines(&"x".repeat(MAX_BYTES + 1), 80).is_none());
}

#[test]
fn deep_nesting_ends() {
    let text = format!("{}x", "> ".repeat(500));
    assert!(plain(&text, 40).contains('x'));
    let text = (0..200).map(|depth| format!("{}- {depth}\n", "  ".repeat(depth))).collect::<String>();
    assert!(plain(&text, 40).contains("199"));
}
