//! Typed text as errors repeat it: short, with control characters made visible.

use std::borrow::Cow;

/// Maximum number of characters of a typed text that an error repeats.
pub const MAX_QUOTED: usize = 100;

/// Returns a text in quotes for an error. Control characters are escaped; the middle of a long text is left out.
pub fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text, MAX_QUOTED))
}

/// Returns a text of at most `most` characters. In a longer one `…` replaces the middle, so that its start and its end
/// remain.
pub fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    // A text has at least as many bytes as characters.
    if text.len() <= most || text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    let end = most / 4;
    let start = most.saturating_sub(end + 1);
    let start = text.char_indices().nth(start).map_or(text, |(at, _)| &text[..at]);
    let end = text.char_indices().rev().take(end).last().map_or("", |(at, _)| &text[at..]);
    Cow::Owned(format!("{start}…{end}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_start_and_its_end() {
        assert_eq!(quoted("a\u{1b}\"大"), r#""a\u{1b}\"大""#);
        let exact = "大".repeat(MAX_QUOTED);
        assert_eq!(quoted(&exact), format!("{exact:?}"));
        let long = format!("start{}end", "大".repeat(100_000));
        let short = quoted(&long);
        assert!(short.starts_with("\"start大") && short.contains("大…大") && short.ends_with("大end\""), "{short}");
        assert_eq!(short.chars().count(), MAX_QUOTED + 2);
        for most in 0..5 {
            assert_eq!(shortened("abcdef", most).chars().count(), most.max(1), "{most}");
        }
    }
}
