//! Splits a text into the tokens of SQLite's `unicode61`, as far as ASCII decides them.
//!
//! In ASCII a token is a run of letters and digits, and everything else ends it, so no Unicode table is needed. A run
//! that touches anything beyond ASCII is passed on to SQLite itself.

use hermes_session::script::is_run;
use hermes_session::search::tokens;

/// The longest word, in characters, that the vocabulary takes. Real words and common digests are shorter.
pub(super) const MAX_WORD: usize = 64;

/// Length from which on a run of Base64 characters is data and not words.
const MIN_DATA: usize = 256;

/// The result of splitting one text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Number of its ASCII tokens.
    pub(super) tokens: usize,
    /// Whether it has words that were skipped: too long ones, and data.
    pub(super) is_cut: bool,
}

const SEPARATOR: u8 = 0;
const WORD: u8 = 1;
/// Separates words, but is a character of Base64.
const JOINT: u8 = 2;
const BEYOND: u8 = 3;

static CLASSES: [u8; 256] = {
    let mut classes = [SEPARATOR; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => WORD,
            b'+' | b'/' | b'=' | b'_' | b'-' => JOINT,
            0x80.. => BEYOND,
            _ => SEPARATOR,
        };
        byte += 1;
    }
    classes
};

/// Returns whether a text has words that the vocabulary does not take, or would not if they were longer by `slack`.
pub(super) fn is_cut(text: &str, slack: usize) -> bool {
    let is_lost = |word: &str| word.chars().nth(MAX_WORD - slack).is_some() && !is_run(word);
    let mut is_cut = false;
    let beyond = |run: &[u8]| {
        let run = String::from_utf8_lossy(run);
        is_cut |= run.split(|character| !tokens::is_word(character)).any(is_lost);
    };
    split_with(text.as_bytes(), slack, |_| {}, beyond, |_, _| {}).is_cut || is_cut
}

/// Splits a text into words as written. Passes those of ASCII to `word`, and runs that SQLite has to split to `beyond`.
/// If either follows a possible JSON escape, also passes the letters of the escape and the rest to `escaped`.
pub(super) fn split<'t>(
    text: &'t [u8],
    word: impl FnMut(&'t [u8]),
    beyond: impl FnMut(&'t [u8]),
    escaped: impl FnMut(&'t [u8], &'t [u8]),
) -> Found {
    split_with(text, 0, word, beyond, escaped)
}

/// Returns how many letters at the start of a word belong to an escape, if it follows a backslash.
fn escape(word: &[u8]) -> Option<usize> {
    match word {
        [b'n' | b't' | b'r' | b'b' | b'f', _, ..] => Some(1),
        [b'u', digits @ ..] if digits.len() > 4 && digits[..4].iter().all(u8::is_ascii_hexdigit) => Some(5),
        _ => None,
    }
}

fn split_with<'t>(
    text: &'t [u8],
    slack: usize,
    mut word: impl FnMut(&'t [u8]),
    mut beyond: impl FnMut(&'t [u8]),
    mut escaped: impl FnMut(&'t [u8], &'t [u8]),
) -> Found {
    let (longest, data) = (MAX_WORD - slack, MIN_DATA - slack);
    let mut settle = |waiting: &mut Vec<&'t [u8]>, length: usize, found: &mut Found| {
        if length < data {
            waiting.drain(..).for_each(&mut word);
        } else if !waiting.is_empty() {
            found.is_cut = true;
            waiting.clear();
        }
    };
    let mut found = Found::default();
    // Words since `start` that may still turn out to be data.
    let (mut waiting, mut start): (Vec<&[u8]>, usize) = (Vec::new(), 0);
    let mut at = 0;
    while at < text.len() {
        let class = CLASSES[usize::from(text[at])];
        if class == SEPARATOR || class == JOINT {
            at += 1;
            if class == SEPARATOR {
                settle(&mut waiting, at - 1 - start, &mut found);
                start = at;
            }
            continue;
        }
        let mut is_ascii = true;
        let length = text[at..].iter().position(|byte| {
            let class = CLASSES[usize::from(*byte)];
            is_ascii &= class != BEYOND;
            class == SEPARATOR || class == JOINT
        });
        let run = &text[at..at + length.unwrap_or(text.len() - at)];
        if at > 0
            && text[at - 1] == b'\\'
            && run.len() <= longest
            && let Some(length) = escape(run)
        {
            escaped(&run[..length], &run[length..]);
        }
        if is_ascii {
            found.tokens += 1;
            if run.len() <= longest {
                waiting.push(run);
            } else {
                found.is_cut = true;
            }
        } else {
            settle(&mut waiting, at - start, &mut found);
            start = at + run.len();
            beyond(run);
        }
        at += run.len();
    }
    settle(&mut waiting, text.len() - start, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, words: &[&str], beyond: &[&str], tokens: usize, is_cut: bool) {
        let (mut told, mut handed) = (Vec::new(), Vec::new());
        let found = split(text.as_bytes(), |word| told.push(word), |run| handed.push(run), |_, _| {});
        let texts = |list: Vec<&[u8]>| -> Vec<String> {
            list.into_iter().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).collect()
        };
        assert_eq!(
            (texts(told), texts(handed)),
            (words.iter().map(ToString::to_string).collect(), beyond.iter().map(ToString::to_string).collect()),
            "{text:?}"
        );
        assert_eq!(found, Found { tokens, is_cut }, "{text:?}");
    }

    #[test]
    fn words_end_at_anything_but_letters_and_digits() {
        check("", &[], &[], 0, false);
        check("Don't src/main.rs:12\0x_y", &["Don", "t", "src", "main", "rs", "12", "x", "y"], &[], 8, false);
    }

    #[test]
    fn what_touches_more_than_ascii_is_handed_on_whole() {
        check("a caf\u{e9}s-b 大 c", &["a", "b", "c"], &["cafés", "大"], 3, false);
        check("x—y", &[], &["x—y"], 0, false);
    }

    #[test]
    fn long_words_are_noticed_beside_other_characters() {
        let long = "x".repeat(65);
        assert!(is_cut(&format!("\u{a0}{long}"), 0) && is_cut(&format!("a—{long}é"), 0) && is_cut(&"é".repeat(65), 0));
        assert!(!is_cut(&format!("{}—{}", &long[..64], "é".repeat(64)), 0) && is_cut(&"é".repeat(64), 1));
        assert!(!is_cut(&"大".repeat(100), 0));
    }

    #[test]
    fn data_and_too_long_words_are_counted_and_not_told() {
        check(&format!("a {} b", "x".repeat(64)), &["a", &"x".repeat(64), "b"], &[], 3, false);
        check(&format!("a {} b", "x".repeat(65)), &["a", "b"], &[], 3, true);
        let data = "iVBORw0KGgo/".repeat(30);
        check(&format!("a {data} b"), &["a", "b"], &[], 32, true);
        check(&format!("{data}é {data}"), &[], &["é"], 60, true);
        check(&format!("a {} b", "-".repeat(300)), &["a", "b"], &[], 2, false);
        check(&"word ".repeat(100), &["word"; 100], &[], 100, false);
    }
}
