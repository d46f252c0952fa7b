//! Words: runs of letters and digits, as the agent's own index splits them, and single characters of scripts without
//! spaces between words.

mod table;

use super::fold::{fold, is_accent};
use crate::script::is_paired;
use std::ops::Range;
use unicode_normalization::char::is_combining_mark;

/// Number of characters in the bit table: the first two planes.
const BITS: usize = 0x2_0000;

static IS_WORD: [u64; BITS / 64] = bits();

/// Returns whether a character is part of a word.
pub fn is_word(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    let code = character as usize;
    match IS_WORD.get(code / 64) {
        Some(bits) => bits >> (code % 64) & 1 == 1,
        None => is_listed(character),
    }
}

fn is_listed(character: char) -> bool {
    let after = table::WORD.partition_point(|(first, _)| *first <= character);
    after > 0 && character <= table::WORD[after - 1].1
}

/// Converts the table to bits, at compile time.
const fn bits() -> [u64; BITS / 64] {
    let mut bits = [0; BITS / 64];
    let mut range = 0;
    while range < table::WORD.len() {
        let (first, last) = table::WORD[range];
        let (mut code, end) = (first as usize, last as usize + 1);
        while code < end && code < BITS {
            // Sets all bits of the range within one integer at once.
            let next = if end < (code / 64 + 1) * 64 { end } else { (code / 64 + 1) * 64 };
            bits[code / 64] |= (u64::MAX >> (64 - (next - code))) << (code % 64);
            code = next;
        }
        range += 1;
    }
    bits
}

/// Returns whether there is a word border between two characters: they are not both letters or digits of one word.
pub fn is_border(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    !is_word(before) || !is_word(after) || is_paired(before) || is_paired(after)
}

/// Returns the words of a folded text, in order. A character of a paired script is a word by itself.
pub fn words(folded: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + folded[at..].find(is_word)?;
        let mut characters = folded[start..].char_indices();
        let (_, first) = characters.next()?;
        let ends = |character| !is_word(character) || is_paired(character);
        let end = if is_paired(first) { characters.next() } else { characters.find(|(_, next)| ends(*next)) };
        at = end.map_or(folded.len(), |(length, _)| start + length);
        Some(start..at)
    })
}

/// Returns whether combining marks give a folded text other words than an index of the text as written has: `и` and a
/// breve are one letter, of which SQLite's `unicode61` makes `и`.
pub fn are_tangled(text: &str) -> bool {
    let may_join = |character: char| {
        matches!(character, '\u{fb1d}'..='\u{fb4e}' | '\u{fe00}'..='\u{fe0f}')
            || is_combining_mark(character) && !is_paired(character)
    };
    if text.is_ascii() || !text.chars().any(|character| !character.is_ascii() && may_join(character)) {
        return false;
    }
    let tokens = text.split(|character| !is_word(character) && !is_accent(character));
    let tokens = tokens.map(|token| token.replace(is_accent, "")).filter(|token| !token.is_empty());
    let folded = fold(text);
    let words = folded.split(|character| !is_word(character)).filter(|word| !word.is_empty());
    !tokens.map(|token| fold(&token).into_owned()).eq(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn marks_that_make_other_letters_are_reported() {
        for text in ["и\u{306}од", "\u{627}\u{653}", "x \u{fb2a}"] {
            assert!(are_tangled(text), "{text:?}");
        }
        for text in
            ["", "plain", "cafe\u{301}", "йод", "за\u{301}мок", "\u{2764}\u{fe0f} a", "\u{e01}\u{e34}", "한국", "שָלוֹם"]
        {
            assert!(!are_tangled(text), "{text:?}");
        }
    }

    #[test]
    fn bits_are_the_table() {
        for character in '\0'..=char::MAX {
            let expect = if character.is_ascii() { character.is_ascii_alphanumeric() } else { is_listed(character) };
            assert_eq!(is_word(character), expect, "U+{:04X}", u32::from(character));
        }
    }

    #[test]
    fn letters_and_digits_are_part_of_words() {
        for character in "a9éßжאع大かไ한𠀀²Ⅷ\u{e000}🥰".chars() {
            assert!(is_word(character), "{character}");
        }
        for character in " _-.'@#\0\n—’。・\u{301}\u{94d}\u{200d}\u{ad}\u{fe0f}⚠👩€".chars() {
            assert!(!is_word(character), "{character}");
        }
    }

    #[track_caller]
    fn check(folded: &str, expect: &[&str]) {
        assert_eq!(words(folded).map(|range| &folded[range]).collect::<Vec<_>>(), expect, "{folded:?}");
    }

    #[test]
    fn words_are_runs_of_letters_and_digits() {
        check("", &[]);
        check(" ... ", &[]);
        check("don't use src/main.rs_v2, naive", &["don", "t", "use", "src", "main", "rs", "v2", "naive"]);
        check("йод ж2", &["йод", "ж2"]);
        check("a\0b", &["a", "b"]);
    }

    #[test]
    fn characters_of_paired_scripts_are_words() {
        check("使用python编写", &["使", "用", "python", "编", "写"]);
        check("한국어 ไทย𠀀", &["한", "국", "어", "ไ", "ท", "ย", "𠀀"]);
        check("हिन्दी", &["ह", "न", "द"]);
    }

    proptest! {
        #[test]
        fn words_lie_between_borders(text in "([a-c1 .]|[大ไह\u{94d}]|[жé\u{301}👩🥰\0])*") {
            let mut end = 0;
            for word in words(&text) {
                prop_assert!(!text[end..word.start].contains(is_word));
                let near = |at: usize| (text[..at].chars().next_back(), text[at..].chars().next());
                for at in [word.start, word.end] {
                    let (before, after) = near(at);
                    prop_assert!(is_border(before, after));
                }
                let inner = text[word.clone()].char_indices().skip(1).map(|(at, _)| near(word.start + at));
                prop_assert!(inner.into_iter().all(|(before, after)| !is_border(before, after)));
                end = word.end;
            }
            prop_assert!(!text[end..].contains(is_word));
        }
    }
}
