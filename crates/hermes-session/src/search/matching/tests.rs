use super::*;
use proptest::prelude::*;

fn term(text: &str) -> Node {
    let (text, is_prefix) = text.strip_suffix('*').map_or((text, false), |text| (text, true));
    Node::Term(Term { text: text.to_owned(), is_prefix })
}

fn not(node: Node) -> Node {
    Node::Not(Box::new(node))
}

const WORDS: Option<Tier> = Some(Tier::Words);
const PIECES: Option<Tier> = Some(Tier::Pieces);

#[track_caller]
fn check(node: &Node, text: &str, expect: Option<Tier>) {
    assert_eq!(Matcher::of(node).tier(text), expect, "{node:?} in {text:?}");
    assert_eq!(reference::tier_of(node, text), expect, "the reference about {node:?} in {text:?}");
}

#[track_caller]
fn marked(node: &Node, text: &str, expect: &[&str]) {
    let marks = Matcher::of(node).marks(text);
    assert_eq!(marks.iter().map(|mark| &text[mark.clone()]).collect::<Vec<_>>(), expect, "{node:?} in {text:?}");
}

#[test]
fn a_term_matches_in_words_or_in_pieces() {
    check(&term("cat"), "a cat, here", WORDS);
    check(&term("cat"), "concatenate", PIECES);
    check(&term("cat"), "concat the cat", WORDS);
    check(&term("cat"), "c a t", None);
    check(&term("conc*"), "concatenate", WORDS);
    check(&term("conc"), "concatenate", PIECES);
    check(&term("cat*"), "concatenate", PIECES);
    check(&term("cat"), "", None);
}

#[test]
fn case_accents_and_widths_do_not_matter() {
    check(&term("creme BRÛLÉE"), "Une cre\u{300}me brulee!", WORDS);
    check(&term("strasse"), "Hauptstraße", PIECES);
    check(&term("ガ"), "ｶﾞ", WORDS);
    check(&term("Ｃａｔ"), "the CAT", WORDS);
    check(&term("ΟΔΟΣ"), "οδός", None);
    check(&term("ΟΔΟΣ"), "η οδος εκεί", WORDS);
    check(&term("йод"), "и\u{306}од", WORDS);
    check(&term("иод"), "и\u{306}од", None);
}

#[test]
fn signs_are_found_as_they_are_written() {
    for text in
        ["don't", "src/main.rs", "a@b.c", "error: 404", "C++", "v1.2.3", "rm -rf", "50%", "`x`", "大-别", "👩‍💻", "⚠️"]
    {
        check(&term(text), &format!("so {text} it is"), WORDS);
    }
    check(&term("C++"), "misc++", PIECES);
    check(&term("⚠"), "⚠️", WORDS);
    check(&term("main.rs"), "src/main.rs", WORDS);
    check(&term("ain.rs"), "src/main.rs", PIECES);
    check(&term("a b"), "a\nb", None);
    check(&term("a b"), "a\u{a0}b", WORDS);
    check(&term("after"), "nul\0after", WORDS);
}

#[test]
fn characters_of_paired_scripts_are_words() {
    check(&term("别山"), "大别山项目", WORDS);
    check(&term("ไทย"), "ภาษาไทยง่าย", WORDS);
    check(&term("국"), "한국어", WORDS);
    check(&term("python"), "使用python编写", WORDS);
    check(&term("𠮷"), "𠀀𠮷𠀀", WORDS);
}

#[test]
fn a_whole_word_may_overlap_with_a_piece() {
    check(&term("a a"), "xa a a", WORDS);
    check(&term("aa"), "aaaa aaa aa", WORDS);
    check(&term("ab ab a"), "ab ab ab ab ab", PIECES);
    check(&term("ab ab a"), "ab ab ab a", WORDS);
    check(&term("a.a*"), "xa.a.ab", WORDS);
}

#[test]
fn parts_hold_together() {
    let (cat, dog) = (term("cat"), term("dog"));
    check(&Node::All(vec![cat.clone(), dog.clone()]), "cat and hotdog", PIECES);
    check(&Node::All(vec![cat.clone(), dog.clone()]), "cat", None);
    check(&Node::Any(vec![cat.clone(), dog.clone()]), "hotdogs, cat", WORDS);
    check(&Node::Any(vec![]), "cat", None);
    check(&Node::All(vec![]), "cat", WORDS);
    check(&Node::All(vec![cat.clone(), not(dog.clone())]), "cat and hotdog", None);
    check(&Node::All(vec![cat.clone(), not(dog.clone())]), "cat", WORDS);
    check(&not(dog.clone()), "cat", WORDS);
    check(&not(not(dog)), "hotdog", WORDS);
    check(&not(Node::All(vec![cat.clone(), term("x")])), "cat", WORDS);
    check(&Node::All(vec![cat.clone(), cat, term("CAT*")]), "cats", PIECES);
}

#[test]
fn a_term_that_folds_to_nothing_is_looked_for_as_it_is() {
    check(&term("\u{301}"), "cafe\u{301}", WORDS);
    check(&term("\u{301}"), "café", None);
    check(&Node::All(vec![term("cafe"), not(term("\u{301}"))]), "cafe", WORDS);
    marked(&term("\u{301}"), "É e\u{301}", &["\u{301}"]);
}

#[test]
fn marks_are_where_it_matches() {
    let both = Node::All(vec![term("cat"), term("dog")]);
    marked(&both, "a Cat, a hotdog, concat", &["Cat", "dog"]);
    marked(&both, "concat, hotdog", &["cat", "dog"]);
    marked(&term("café"), "CAFE\u{301} cafés", &["CAFE\u{301}"]);
    marked(&Node::All(vec![term("strass"), term("asse")]), "Hauptstraße.", &["straße"]);
    marked(&Node::Any(vec![term("大别"), term("别山")]), "大别山", &["大别山"]);
    marked(&Node::All(vec![term("a"), not(term("b")), not(not(term("c")))]), "a b c", &["a", "c"]);
    marked(&not(term("b")), "a b", &[]);
    marked(&term("x"), "", &[]);
}

#[test]
fn marks_have_an_end() {
    let text = "é cat ".repeat(3 * MAX_MARKS);
    let marks = Matcher::of(&Node::All(vec![term("cat"), term("é")])).marks(&text);
    assert_eq!(marks.len(), MAX_MARKS);
    assert_eq!(marks[..3], [0..2, 3..6, 7..9]);
    assert_eq!(Matcher::of(&term("a")).marks(&"a".repeat(3 * MAX_MARKS)).len(), 1, "they touch");
}

#[test]
fn one_scratch_serves_many_texts() {
    let matcher = Matcher::of(&Node::All(vec![term("cat"), not(term("dog"))]));
    let mut scratch = Scratch::default();
    for (text, expect) in [("CAT", WORDS), ("cat dog", None), ("concat", PIECES), ("", None), ("Cat", WORDS)] {
        assert_eq!(matcher.tier_with(text, &mut scratch), expect, "{text}");
    }
    assert_eq!(Matcher::of(&term("x")).tier_with("x", &mut scratch), WORDS);
}

fn any_node() -> impl Strategy<Value = Node> {
    let text = prop_oneof!["[abA]{1,3}", "[ab大é. ]{1,4}", "[aß\u{301}İ\u{fe0f}😀]{1,3}"];
    let leaf = (text, any::<bool>()).prop_map(|(text, is_prefix)| Node::Term(Term { text, is_prefix }));
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Node::All),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Node::Any),
            inner.prop_map(not),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_agrees_with_the_reference(node in any_node(), text in "([abA]|[ab. ]|[大éEßİs\u{301}\u{fe0f}😀\0\t]){0,12}") {
        prop_assert_eq!(Matcher::of(&node).tier(&text), reference::tier_of(&node, &text));
    }

    #[test]
    fn marks_are_places_of_terms(node in any_node(), text in "([abA]|[ab. ]|[大éEßİs\u{301}\u{fe0f}😀\0\t]){0,16}") {
        let matcher = Matcher::of(&node);
        let marks = matcher.marks(&text);
        prop_assert!(marks.windows(2).all(|pair| pair[0].end < pair[1].start));
        for mark in &marks {
            prop_assert!(!mark.is_empty() && text.get(mark.clone()).is_some());
        }
        // Every term of the text is covered by the highlights.
        for (needle, is_wanted) in matcher.needles.iter().zip(&matcher.wanted) {
            let alone = |part: &str| needle.first(&if needle.is_raw { part.into() } else { fold(part) }).is_some();
            if *is_wanted && alone(&text) {
                prop_assert!(marks.iter().any(|mark| alone(&text[mark.clone()])), "{needle:?} {marks:?}");
            }
        }
    }
}
