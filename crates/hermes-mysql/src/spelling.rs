//! Lexemes as words that every full-text index keeps unchanged.
//!
//! The parser of InnoDB keeps letters, digits and `_` together, lowercases letters, and drops short words, long words
//! and stop words. So a lexeme is spelled with lowercase letters, digits and `_` only, has between four and [`LONGEST`]
//! characters, and begins with a letter that no stop word of the server's default list begins with.

use hermes_search::lexemes::{Extent, Form, Spelling};

/// Minimum length of a word. A server drops words shorter than `innodb_ft_min_token_size`, by default 3.
pub(crate) const SHORTEST: usize = 4;

/// Maximum length of a word. A server drops words longer than `innodb_ft_max_token_size`, by default 84.
pub(crate) const LONGEST: usize = CUT + 3 + HASH;

/// Number of characters kept of a longer word.
const CUT: usize = 60;

/// Number of digits of the hash that stands for the whole of a longer word.
const HASH: usize = 13;

/// Maximum total bytes of the lexemes of a message. A message with more is scanned.
const MAX_BYTES: usize = 900_000;

/// Writes lists of lexemes as words separated by blanks. They have no positions: the index has its own, but answers
/// phrase queries slowly.
#[derive(Debug)]
pub(crate) struct Plain;

impl Spelling for Plain {
    fn form(extent: &Extent) -> Form {
        if extent.bytes + extent.lexemes <= MAX_BYTES { Form::Words } else { Form::Unlisted }
    }

    fn push(letter: char, rest: &str, _: impl Iterator<Item = usize>, out: &mut String) {
        let start = out.len();
        push_characters(letter, rest, out);
        match out.len() - start {
            ..SHORTEST => (out.len() - start..SHORTEST).for_each(|_| out.push('_')),
            SHORTEST..=LONGEST => {}
            _ => {
                out.truncate(start + CUT);
                out.push_str("___");
                push_number(fnv(rest), HASH, out);
            }
        }
    }
}

/// Returns the word for a lexeme.
pub(crate) fn word(lexeme: &str) -> String {
    let (mut out, mut characters) = (String::new(), lexeme.chars());
    if let Some(letter) = characters.next() {
        Plain::push(letter, characters.as_str(), std::iter::empty(), &mut out);
    }
    out
}

/// Returns a word that only one message has. It tells whether the index contains the message.
pub(crate) fn witness(message: i64) -> String {
    format!("k__{message}")
}

/// Returns the common prefix of the words of all lexemes with this prefix. If it is long, other words may have it too.
pub(crate) fn beginning(lexeme: &str) -> String {
    let (mut out, mut characters) = (String::new(), lexeme.chars());
    if let Some(letter) = characters.next() {
        push_characters(letter, characters.as_str(), &mut out);
    }
    out.truncate(CUT);
    out
}

/// Encodes each character separately, so that a prefix of a lexeme is a prefix of its word.
fn push_characters(letter: char, rest: &str, out: &mut String) {
    out.push(match letter {
        'w' => 'v',
        'd' => 'g',
        'l' => 'n',
        other => other,
    });
    for character in rest.chars() {
        match character {
            'a'..='z' | '0'..='9' => out.push(character),
            // Three digits suffice for nearly all characters in use, four for all characters.
            _ if u32::from(character) < 36_u32.pow(3) => {
                out.push('_');
                push_number(u32::from(character).into(), 3, out);
            }
            _ => {
                out.push_str("__");
                push_number(u32::from(character).into(), 4, out);
            }
        }
    }
}

/// Appends the last digits of a number in base 36.
fn push_number(number: u64, digits: usize, out: &mut String) {
    for place in (0..digits as u32).rev() {
        let digit = number / 36_u64.pow(place) % 36;
        out.push(char::from_digit(digit as u32, 36).unwrap_or('_'));
    }
}

/// FNV-1a: a hash that is the same on every machine and in every version.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_search::lexemes::Indexed;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn is_whole(word: &str) -> bool {
        let is_kept = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        (SHORTEST..=LONGEST).contains(&word.len()) && word.bytes().all(is_kept)
    }

    #[test]
    fn lexemes_are_spelled_in_letters_digits_and_underscores() {
        for (lexeme, expect) in [
            ("wcat", "vcat"),
            ("wa", "va__"),
            ("l7", "n7__"),
            ("x", "x___"),
            ("s_", "s_02n"),
            ("wжук", "v_0ty_0ub_0u2"),
            ("p大别", "p_hlz_g8b"),
            ("s🚀", "s__2r9c"),
            ("p힣", "p__16lf"),
            ("s\u{10ffff}", "s__nvnj"),
        ] {
            let word = word(lexeme);
            assert!(is_whole(&word), "{word}");
            assert_eq!(word, expect, "{lexeme}");
        }
        let long = format!("w{}", "é".repeat(64));
        assert!(is_whole(&word(&long)) && word(&long).len() == LONGEST);
        assert_ne!(word(&long), word(&long.replacen("éé", "éè", 40)), "the number tells them apart");
    }

    #[test]
    fn no_word_is_a_stop_word() {
        let list = "a about an are as at be by com de en for from how i in is it la of on or that the this to was what when where who \
            will with und the www";
        for stop in list.split_whitespace() {
            assert!(!['k', 'v', 'g', 'n', 'p', 's', 'x'].contains(&stop.chars().next().unwrap_or('v')), "{stop}");
        }
    }

    #[test]
    fn what_is_too_much_is_not_listed() {
        let words = |count: usize| (0..count).map(|n| format!("word{n:06} ")).collect::<String>();
        let most = MAX_BYTES / 12;
        assert_eq!(Indexed::of_text::<Plain>(&words(most - 1)).form, Form::Words);
        assert_eq!(Indexed::of_text::<Plain>(&words(most + 1)).form, Form::Unlisted);
    }

    proptest! {
        #[test]
        fn each_lexeme_has_its_own_word(lexemes in prop::collection::vec("[wdpslx][a-c0_é大🚀힣]{0,4}|w.{0,80}|w[aé]{50,70}", 1..60)) {
            let mut seen: HashMap<String, &str> = HashMap::new();
            for lexeme in &lexemes {
                let word = word(lexeme);
                prop_assert!(is_whole(&word), "{lexeme}: {word}");
                let other = *seen.entry(word).or_insert(lexeme);
                prop_assert_eq!(other, lexeme);
            }
        }

        #[test]
        fn what_begins_so_is_found_by_it(lexeme in "[wdp][a-c0_é大🚀힣]{0,80}", share in 0.0..1.0_f64) {
            let characters: Vec<char> = lexeme.chars().collect();
            let count = 1 + (share * (characters.len() - 1) as f64) as usize;
            let start: String = characters[..count].iter().collect();
            prop_assert!(word(&lexeme).starts_with(&beginning(&start)), "{start} of {lexeme}");
        }
    }
}
