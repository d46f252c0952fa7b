//! Scripts that are searched by pairs of characters.
//!
//! Han, kana, Thai and similar scripts put no space between words. Hangul and the Indic scripts do, but their words
//! consist of syllables and signs that tokenizers tear apart. A text in such a script is cut into *runs*, and a run is
//! indexed by its *pairs* of characters: any piece of it, however short, is then found through an index.

use crate::search::fold::fold;
use std::borrow::Cow;

/// Returns whether a character is searched by pairs.
pub const fn is_paired(character: char) -> bool {
    matches!(character,
        // Devanagari to Myanmar, with Thai, Lao and Tibetan between them; Hangul Jamo.
        '\u{900}'..='\u{109f}' | '\u{1100}'..='\u{11ff}'
        // Khmer; Tai Le to Tai Tham; Balinese to Lepcha.
        | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{1aaf}' | '\u{1b00}'..='\u{1c4f}'
        // Radicals, iteration marks and numerals of Han.
        | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3031}'..='\u{3035}'
        // Kana, Bopomofo, Hangul compatibility Jamo, and Kanbun.
        | '\u{3041}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}'
        // Han; Yi and Lisu; more Hangul, Javanese, Myanmar, Cham, Tai Viet, Meetei Mayek.
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{a4ff}' | '\u{a960}'..='\u{aaff}' | '\u{abc0}'..='\u{d7ff}'
        // CJK compatibility ideographs; halfwidth kana and Hangul.
        | '\u{f900}'..='\u{faff}' | '\u{ff65}'..='\u{ffdc}'
        // Kana and Han beyond the first plane.
        | '\u{1aff0}'..='\u{1b2ff}' | '\u{20000}'..='\u{3fffd}')
}

/// Returns the runs with paired characters in a text, including adjacent Latin letters and digits: `使用python编写` is one
/// run. Runs are [folded](crate::search::fold). A text and a piece of it give the same runs, except at the ends of the
/// piece.
pub fn runs(text: &str) -> impl Iterator<Item = String> {
    // Most texts have none, and end here. Folding keeps paired characters paired and creates no new ones.
    let folded = if !text.is_ascii() && text.chars().any(is_paired) { fold(text) } else { Cow::Borrowed("") };
    stretches(folded).filter(|run| run.chars().any(is_paired))
}

/// Returns the runs that a piece of a word may be part of, in the form of [`runs`]. The piece need not have a paired
/// character itself.
pub fn pieces(text: &str) -> impl Iterator<Item = String> {
    stretches(fold(text))
}

/// Returns whether a word, as folded by SQLite's `unicode61`, is one of the [`runs`] of its text.
pub fn is_run(word: &str) -> bool {
    word.chars().any(is_paired) && word.chars().all(is_joined)
}

/// Returns whether a folded character can be part of a run.
const fn is_joined(character: char) -> bool {
    is_paired(character) || character.is_ascii_alphanumeric()
}

/// Returns the stretches of a folded text that can be runs.
fn stretches(folded: Cow<'_, str>) -> impl Iterator<Item = String> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + folded[at..].find(is_joined)?;
        at = folded[start..].find(|character| !is_joined(character)).map_or(folded.len(), |length| start + length);
        Some(folded[start..at].to_owned())
    })
}

/// Appends the pairs of a run to `out`, each followed by a space, and finally its last character alone. So every
/// character is the start of some token.
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
        check("看ABC大别山。ไทย", &["看abc大别山", "ไทย"]);
        check("python3大 python ж大é", &["python3大", "大e"]);
        check("हिन्दी한국어 𠀀𠮷", &["हिन्दी한국어", "𠀀𠮷"]);
        check("\0大\0別", &["大", "別"]);
    }

    #[test]
    fn scripts_are_paired_from_their_first_to_their_last() {
        for character in "अ๛ກༀ႟ᄀᇿក៿ᥐ᪭ᬀ᱉⺀⿕々〇〡〩〱〵ぁㄅㄱㆿㇰㇿ㐀䶿一鿿ꀀꥠꦀꨀꫝꯀ가힣豈舘･ﾟￜ𛀀𛄟𠀀𪛖".chars()
        {
            assert!(is_paired(character), "{character}");
        }
        for character in "aéжאعაⴀ—。、「　ＡＺ０🚀𝐀\u{feff}".chars() {
            assert!(!is_paired(character), "{character}");
        }
    }

    #[test]
    fn one_form_for_all_widths_and_compositions() {
        check("ｶﾞｷﾞ･ﾊﾟ", &["ガギ・パ"]);
        check("か\u{3099}", &["が"]);
        check("\u{1112}\u{1161}\u{11ab}", &["한"]);
        check("ﾡￂￊￒￚ", &["ㄱㅏㅕㅛㅡ"]);
        check("\u{f900}", &["豈"]);
        check("大\u{301}别 大\u{305}别", &["大别", "大", "别"]);
        check("ﬁ大 Ａ大ß", &["fi大", "a大ss"]);
    }

    #[test]
    fn a_piece_may_be_without_the_paired() {
        assert_eq!(pieces("Handl é-大b").collect::<Vec<_>>(), ["handl", "e", "大b"]);
        assert_eq!(pieces("…").count(), 0);
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
                prop_assert!(is_run(&run), "{run:?}");
                prop_assert_eq!(runs(&run).collect::<Vec<_>>(), vec![run.clone()]);
            }
        }
    }

    #[test]
    fn the_quick_look_overlooks_nothing() {
        for character in '\0'..='\u{3ffff}' {
            let run = stretches(fold(character.encode_utf8(&mut [0; 4]))).any(|run| run.chars().any(is_paired));
            assert_eq!(run, is_paired(character), "U+{:04X}", u32::from(character));
        }
    }
}
