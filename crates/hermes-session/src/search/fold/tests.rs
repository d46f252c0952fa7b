use super::*;
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

/// Texts with many characters that combine, vanish or expand.
pub(super) const TANGLED: &str = "([ -~]|[aAeEiIoOsnSßẞſéÉệÅøǿŉǰİıﬁ\u{212a}]|[\u{300}-\u{345}\u{34f}\u{fe0e}\u{fe0f}\u{200d}\u{ad}\u{338}]\
    |[αΑάΐςΣᾳᾴῼ\u{1f50}\u{2126}иИйЙаѣ]|[آا\u{653}\u{654}\u{64e}\u{651}שׁ\u{fb2a}\u{5c1}\u{5bc}]|[क\u{93c}क़\u{94d}ि\u{f71}\u{f72}\u{f73}ทั\u{e48}]\
    |[大别豈𠀀丽かが\u{3099}\u{309a}ｶﾊﾞﾟｱ･｡ﾡￂＡｚ！　\u{ffa0}한\u{1112}\u{1161}\u{11ab}하]|[⚠❤👩💻🏽🥰=≠\t\n\u{a0}\u{2000}\u{2028}\0]|\\PC|.)";

fn tangled(longest: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(TANGLED, 0..longest).prop_map(|pieces| pieces.concat())
}

#[track_caller]
fn check(text: &str, expect: &str) {
    assert_eq!(fold(text), expect, "{text:?}");
    assert_eq!(fold(&text.nfd().collect::<String>()), expect, "{text:?} in pieces");
    assert_eq!(fold(&text.nfc().collect::<String>()), expect, "{text:?} in one piece");
    assert_eq!(fold(expect), expect, "again");
    let mut out = "before".to_owned();
    fold_into(text, &mut out);
    assert_eq!(out, expect);
    assert_eq!(fold_with(text, &mut out), expect);
}

#[test]
fn latin_letters_lose_case_and_accents() {
    check("Straße STRASSE Größe ẞ", "strasse strasse grosse ss");
    check("Crème Brûlée, Œuvre, NAÏF ça ÿ", "creme brulee, œuvre, naif ca y");
    check("İstanbul ISPARTA ılık Şişli ğ", "istanbul isparta ılık sisli g");
    check("Tiếng Việt ệ Ộ Ư Đ đ ǡ Ǖ", "tieng viet e o u đ đ a u");
    check("Łódź Ørsted ǿ Ǽ", "łodz ørsted ǿ ǽ");
    check("ﬁnd ſhip \u{212a} \u{212b} ŉ ǰ", "find ship k a ʼn j");
}

#[test]
fn other_scripts_keep_their_letters() {
    check("ΟΔΥΣΣΕΎΣ Ὀδυσσεύς ΐ", "οδυσσεύσ ὀδυσσεύσ ΐ");
    check("ᾳ ᾼ Ω", "αι αι ω");
    check("Ёлка ЙОД за\u{301}мок", "ёлка йод замок");
    check("القُرآن مَكْتُوب", "القُرآن مَكْتُوب");
    check("שָׁלוֹם \u{fb2a}", "ש\u{5b8}\u{5c1}לו\u{5b9}ם ש\u{5c1}");
    check("हिन्दी क़", "हिन्दी क\u{93c}");
    check("ภาษาไทย นี้", "ภาษาไทย นี้");
    check("大别山 𠀀𠮷 \u{f900} \u{2f800}", "大别山 𠀀𠮷 豈 丽");
    check("ᏣᎳᎩ ꮳꮃꭹ", "ᏣᎳᎩ ᏣᎳᎩ");
    check("Ⓐ Ⅷ", "ⓐ ⅷ");
}

#[test]
fn widths_are_one() {
    check("ｶﾞｷﾞ･ﾊﾟ｡｢ｱﾞ｣ｰ", "ガギ・パ。「ア\u{3099}」ー");
    check("ＡＢＣ１２３！？～＿", "abc123!?~_");
    check("ﾡￂ\u{ffa0}￥￣￦￩", "ㄱㅏ\u{3164}¥¯₩←");
    check("한국어 \u{1112}\u{1161}\u{11ab}", "한국어 한");
}

#[test]
fn white_space_within_a_line_is_a_blank() {
    check("a\tb\u{a0}c\u{2003}d\u{202f}e\u{205f}f\u{3000}g\u{1680}h", "a b c d e f g h");
    check("a\r\nb\u{b}\u{c}\u{85}\u{2028}\u{2029}\0", "a\r\nb\u{b}\u{c}\u{85}\u{2028}\u{2029}\0");
}

#[test]
fn signs_stay_but_for_those_about_their_looks() {
    check("👩‍💻👋🏽🇩🇪🥰", "👩‍💻👋🏽🇩🇪🥰");
    check("⚠️ ⚠ ❤️‍🔥 ☺︎ 1️⃣", "⚠ ⚠ ❤‍🔥 ☺ 1\u{fe0f}⃣");
    check("a\u{fe0f}b 大\u{fe00}", "a\u{fe0f}b 大\u{fe00}");
    check("می\u{200c}خواهم co\u{ad}op a\u{200b}b\u{feff}", "می\u{200c}خواهم co\u{ad}op a\u{200b}b\u{feff}");
    check("≠ =\u{fe0f}\u{338}", "≠ ≠");
}

#[test]
fn only_accents_go_of_all_marks() {
    check(
        "a\u{305}\u{301} x\u{300}\u{304}\u{306}\u{30c}\u{30f}\u{311}\u{31b}\u{323}\u{328}\u{32d}\u{331}y",
        "a\u{305} xy",
    );
    check("\u{301}", "");
    check("ض\u{651}\u{64e} A ض\u{651}\u{64e}", "ض\u{64e}\u{651} a ض\u{64e}\u{651}");
    check("大\u{301}别", "大别");
}

#[test]
fn what_is_folded_is_borrowed() {
    for text in ["", "plain text\nwith lines 42", "naive — “quotes” … 大别山 йод ภาษาไทย นี้", "ض\u{64e}"]
    {
        assert!(matches!(fold(text), Cow::Borrowed(_)), "{text:?}");
        assert_eq!(fold_with(text, &mut String::new()).as_ptr(), text.as_ptr());
    }
    for text in ["A", "é", "e\u{301}", "x\ty", "\u{64e}\u{651}\u{64e}A"] {
        assert!(matches!(fold(text), Cow::Owned(_)), "{text:?}");
    }
    // The time is the same for many marks as for many letters.
    let marks = "\u{323}\u{301}\u{305}".repeat(100_000);
    assert_eq!(fold(&format!("A{marks}")), format!("a{}", "\u{305}".repeat(100_000)));
    let long = format!("{}É", "a".repeat(1_000));
    assert_eq!(fold(&long), format!("{}e", "a".repeat(1_000)));
}

#[test]
fn short_ways_lead_to_the_same() {
    let mut buffers = character::Buffers::default();
    let both = ('\0'..='\u{1ffff}').flat_map(|character| {
        [format!("{character}"), format!("{character}\u{fe0f}"), format!("{character}\u{308}\u{301}")]
    });
    for text in both {
        if let Some(folded) = character::quickly(&text) {
            let mut out = String::new();
            buffers.push_folded(&text, &mut out);
            assert_eq!(folded.collect::<String>(), out, "{text:?}");
        }
    }
}

/// Indexes are built from words as written, and queried with folded words.
#[test]
fn words_end_where_they_ended() {
    use crate::script::is_paired;
    use crate::search::tokens::is_word;
    let mut odd = Vec::new();
    // Beyond are only private-use characters.
    for character in '\0'..='\u{effff}' {
        let folded = fold(character.encode_utf8(&mut [0; 4])).into_owned();
        if folded.is_empty() {
            assert!(!is_word(character), "U+{:04X}", u32::from(character));
        } else if !is_paired(character) && folded.chars().any(|folded| is_word(folded) != is_word(character)) {
            odd.push(character);
        }
    }
    // Presentation forms of Hebrew letters with points: NFC decomposes them, and the point ends a word.
    let is_hebrew = |character: &char| matches!(character, '\u{fb1d}'..='\u{fb4e}');
    assert!(odd.len() == 34 && odd.iter().all(is_hebrew), "{odd:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_quick_way_is_the_definition(text in tangled(12)) {
        let mut out = String::new();
        character::Buffers::default().push_folded(&text, &mut out);
        prop_assert_eq!(fold(&text), out);
    }

    #[test]
    fn folding_again_changes_nothing(text in tangled(8)) {
        let folded = fold(&text);
        prop_assert_eq!(fold(&folded), &*folded);
    }

    #[test]
    fn composition_does_not_matter(text in tangled(8)) {
        let (apart, composed): (String, String) = (text.nfd().collect(), text.nfc().collect());
        prop_assert_eq!(fold(&apart), fold(&text));
        prop_assert_eq!(fold(&composed), fold(&text));
    }

    #[test]
    fn parts_with_a_blank_between_fold_each_by_itself(one in tangled(6), other in tangled(6)) {
        let both = format!("{one} {other}");
        prop_assert_eq!(fold(&both), format!("{} {}", fold(&one), fold(&other)));
    }
}
