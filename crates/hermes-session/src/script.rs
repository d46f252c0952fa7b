//! Scripts that are searched by pairs of characters.
//!
//! Han, kana, Thai and their like put no blank between words; Hangul and the Indic scripts do, but their words are built of
//! syllables and signs that tokenizers tear apart. A text in such a script is cut into *runs*, and a run is indexed by its
//! *pairs*: any piece of it, however short, is then found through an index.

use std::iter::Peekable;
use std::str::Chars;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::decompose_compatible;

/// Whether a character is searched by pairs.
pub const fn is_paired(character: char) -> bool {
    matches!(character,
        // Devanagari to Myanmar, with Thai, Lao and Tibetan between them; Hangul's letters.
        '\u{900}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        // Khmer; Tai Le to Tai Tham; Balinese to Lepcha.
        | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{1aaf}' | '\u{1b00}'..='\u{1c4f}'
        // Radicals, iteration marks and numerals of Han.
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
        // Kana, Bopomofo, Hangul's letters, and the marks of old annotation.
        | '\u{3041}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        // Han; Yi and Lisu; more Hangul, Javanese, Myanmar, Cham, Tai Viet, Meetei Mayek.
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{a4ff}' | '\u{a960}'..='\u{aaff}' | '\u{abc0}'..='\u{d7ff}'
        // Han that other standards have twice; kana and Hangul of half width.
        | '\u{f900}'..='\u{faff}' | '\u{ff65}'..='\u{ffdc}'
        // Kana and Han beyond the first plane.
        | '\u{1aff0}'..='\u{1b2ff}' | '\u{20000}'..='\u{3fffd}')
}

/// The runs of paired characters in a text, in the one form that is indexed: half width made full width, then NFC, accents
/// dropped. A text and a piece of it give the same runs, but for the ends of the piece.
pub fn runs(text: &str) -> Runs<'_> {
    // The first byte of every paired character is one of these. Most texts have none, and end here.
    let any = !text.is_ascii() && text.bytes().any(|byte| byte >= 0xe0);
    Runs { rest: if any { text } else { "" }.chars().peekable() }
}

/// The iterator of [`runs`].
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    rest: Peekable<Chars<'a>>,
}

impl Iterator for Runs<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        while self.rest.next_if(|character| !is_paired(*character)).is_some() {}
        self.rest.peek()?;
        let rest = &mut self.rest;
        let run = std::iter::from_fn(|| rest.next_if(|character| is_paired(*character) || is_accent(*character)));
        Some(run.filter(|character| !is_accent(*character)).map(full_width).nfc().collect())
    }
}

/// Accents of other scripts. Search passes over them, and so they do not end a run.
const fn is_accent(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}')
}

/// A character of full width for one of half width.
fn full_width(character: char) -> char {
    let mut full = character;
    match character {
        // One step of decomposition: two would lead on to letters that join.
        '\u{ffa1}'..='\u{ffbe}' => full = shifted(character, 0xffa1, 0x3131),
        '\u{ffc2}'..='\u{ffc7}' => full = shifted(character, 0xffc2, 0x314f),
        '\u{ffca}'..='\u{ffcf}' => full = shifted(character, 0xffca, 0x3155),
        '\u{ffd2}'..='\u{ffd7}' => full = shifted(character, 0xffd2, 0x315b),
        '\u{ffda}'..='\u{ffdc}' => full = shifted(character, 0xffda, 0x3161),
        '\u{ff65}'..='\u{ff9f}' => decompose_compatible(character, |kana| full = kana),
        _ => {}
    }
    full
}

fn shifted(character: char, from: u32, to: u32) -> char {
    char::from_u32(u32::from(character) - from + to).unwrap_or(character)
}

/// Appends the pairs of a run to `out`, a blank after each, and last its last character alone: so a character is the
/// beginning of some token wherever it stands.
pub fn push_pairs(run: &str, out: &mut String) {
    let mut before = None;
    for (at, character) in run.char_indices() {
        if let Some(start) = before {
            out.push_str(&run[start..at + character.len_utf8()]);
            out.push(' ');
        }
        before = Some(at);
    }
    if let Some(start) = before {
        out.push_str(&run[start..]);
        out.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        assert_eq!(runs(text).collect::<Vec<_>>(), expect, "{text:?}");
    }

    #[test]
    fn runs_end_where_the_script_ends() {
        check("plain é — text", &[]);
        check("看abc大别山。ไทย", &["看", "大别山", "ไทย"]);
        check("हिन्दी한국어 𠀀𠮷", &["हिन्दी한국어", "𠀀𠮷"]);
        check("\0大\0別", &["大", "別"]);
    }

    #[test]
    fn one_form_for_all_widths_and_compositions() {
        check("ｶﾞｷﾞ･ﾊﾟ", &["ガギ・パ"]);
        check("か\u{3099}", &["が"]);
        check("\u{1112}\u{1161}\u{11ab}", &["한"]);
        check("ﾡￂￊￒￚ", &["ㄱㅏㅕㅛㅡ"]);
        check("\u{f900}", &["豈"]);
        check("大\u{301}别", &["大别"]);
    }

    #[test]
    fn letters_that_stand_alone_do_not_join() {
        check("ㄱㅏ", &["ㄱㅏ"]);
        check("ﾡￂ", &["ㄱㅏ"]);
    }

    #[test]
    fn pairs_overlap_and_the_last_character_stands_alone() {
        let pairs = |run: &str| {
            let mut out = String::new();
            push_pairs(run, &mut out);
            out
        };
        assert_eq!(pairs("大别山"), "大别 别山 山 ");
        assert_eq!(pairs("大"), "大 ");
        assert_eq!(pairs(""), "");
    }

    proptest! {
        #[test]
        fn a_run_is_paired_throughout_and_stays_as_it_is(text in "[a\u{301}大别がｶﾞｷﾟﾡￂไท\u{e34}한\u{1112}\u{1161}。é \u{f900}]{0,12}") {
            for run in runs(&text) {
                prop_assert!(run.chars().all(is_paired), "{run:?}");
                prop_assert_eq!(runs(&run).collect::<Vec<_>>(), vec![run.clone()]);
            }
        }

        #[test]
        fn the_quick_look_overlooks_nothing(character: char) {
            prop_assert_eq!(runs(character.encode_utf8(&mut [0; 4])).count() == 1, is_paired(character));
        }
    }
}
