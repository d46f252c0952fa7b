use super::*;
use crate::search::fold::fold;
use proptest::prelude::*;

/// Returns the original of each occurrence of a piece in a folded text.
fn places<'t>(text: &'t str, piece: &str) -> Vec<&'t str> {
    let folded = Folded::new(text);
    folded.text.match_indices(piece).map(|(at, _)| &text[folded.original(at..at + piece.len())]).collect()
}

#[test]
fn a_part_is_found_in_the_original() {
    assert_eq!(places("plain text", "ain"), ["ain"]);
    assert_eq!(places("Ein Café — CAFE\u{301}", "cafe"), ["Café", "CAFE\u{301}"]);
    assert_eq!(places("e\u{301}a\u{301}b", "b"), ["b"]);
    assert_eq!(places("ÉaÉbß!", "b"), ["b"]);
    assert_eq!(places("xｶﾞｷﾞy", "ガ"), ["ｶﾞ"]);
    assert_eq!(places("йод \u{438}\u{306}од", "йо"), ["йо", "и\u{306}о"]);
    assert_eq!(places("see ⚠️!", "⚠"), ["⚠️"]);
    assert_eq!(places("ÉÉ大别", "别"), ["别"]);
}

#[test]
fn what_is_told_anew_is_told_once() {
    let folded = Folded::new("É\u{323}b");
    assert_eq!(folded.blocks, [Block { original: 0..4, folded: 0..1 }]);
    assert!(Folded::new("PLAIN ж大").blocks.is_empty());
}

#[test]
fn half_of_a_character_is_the_whole() {
    assert_eq!(places("Maß", "as"), ["aß"]);
    assert_eq!(places("Maß", "s"), ["ß", "ß"]);
    assert_eq!(places("ﬃx", "fix"), ["ﬃx"]);
}

#[test]
fn nothing_and_what_is_beyond() {
    let folded = Folded::new("É大");
    assert_eq!(folded.original(1..1), 2..2);
    assert_eq!(folded.original(2..3), 2..5, "a part of a character");
    assert_eq!(folded.original(4..9), 5..5);
    assert_eq!(folded.original(0..9), 0..5);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_way_back_is_sound(text in prop::collection::vec(crate::search::fold::tests::TANGLED, 0..12), from in 0_usize..40, length in 0_usize..20) {
        let text = text.concat();
        let folded = Folded::new(&text);
        prop_assert_eq!(&*folded.text, &*fold(&text));
        let original = folded.original(from..from + length);
        prop_assert!(text.get(original.clone()).is_some(), "{original:?}");
        let from = folded.text.floor_char_boundary(from);
        let to = folded.text.ceil_char_boundary(from + length);
        let part = &folded.text[from..to];
        let original = &text[folded.original(from..to)];
        // The original folds to the part, or to more where it can't be split.
        prop_assert!(fold(original).contains(part), "{part:?} {original:?}");
    }

    #[test]
    fn parts_in_order_come_from_parts_in_order(text in prop::collection::vec(crate::search::fold::tests::TANGLED, 0..12)) {
        let text = text.concat();
        let folded = Folded::new(&text);
        let is_apart = |pair: &[Block]| pair[0].original.end <= pair[1].original.start && pair[0].folded.end <= pair[1].folded.start;
        prop_assert!(folded.blocks.windows(2).all(is_apart), "{:?}", folded.blocks);
        let mut before = 0..0;
        for (at, character) in folded.text.char_indices() {
            let original = folded.original(at..at + character.len_utf8());
            prop_assert!(!original.is_empty());
            prop_assert!(original == before || original.start >= before.end);
            before = original;
        }
    }
}
