use super::*;

fn cased(character: char) -> String {
    let mut out = String::new();
    push_cased(character, &mut out);
    out
}

/// Compared once with Python's `str.casefold()` (Unicode 14) over all characters: the same, except for the one mark and
/// characters that Unicode added since. These are the cases in which the general rule would be wrong.
#[test]
fn case_folds_as_unicode_has_it() {
    for (character, expect) in [
        ('A', "a"),
        ('ß', "ss"),
        ('ẞ', "ss"),
        ('ς', "σ"),
        ('ﬃ', "ffi"),
        ('İ', "i\u{307}"),
        ('ı', "ı"),
        ('ſ', "s"),
        ('µ', "μ"),
        ('\u{345}', "\u{345}"),
        ('ᾼ', "αι"),
        ('ΐ', "ι\u{308}\u{301}"),
        ('և', "եւ"),
        ('Ꭰ', "Ꭰ"),
        ('ꭰ', "Ꭰ"),
        ('ᏸ', "Ᏸ"),
        ('Ᏽ', "Ᏽ"),
        ('ა', "ა"),
        ('Ა', "ა"),
        ('𐐀', "𐐨"),
    ] {
        assert_eq!(cased(character), expect, "{character}");
    }
    let changed = ('\0'..='\u{1ffff}').filter(|character| cased(*character) != character.to_string()).count();
    assert!(changed > 1_530, "{changed}: all of Unicode 14, and more with each version");
}

#[test]
fn accents_are_those_of_unicode61() {
    assert_eq!(('\0'..=char::MAX).filter(|character| is_accent(*character)).count(), 25);
    let bare = |character: &char| without_accents(*character) != *character;
    let small = |range: std::ops::RangeInclusive<char>| range.filter(bare).filter(|character| character.is_lowercase());
    // All letters of its table, and `ǡ`, which that table lacks.
    assert_eq!((small('\u{80}'..='\u{24f}').count(), small('\u{1e00}'..='\u{1eff}').count()), (122, 124));
    assert_eq!(small('\u{250}'..='\u{1dff}').chain(small('\u{1f00}'..='\u{1ffff}')).count(), 0);
}
