use super::*;
use hermes_session::{Content, Json, Role};
use std::collections::BTreeMap;

/// Lexemes unchanged, with their positions after an `@`. Positions are left out beyond 255 words, everything beyond
/// 20,000 bytes.
#[derive(Debug)]
pub(crate) struct Plain;

impl Spelling for Plain {
    fn form(extent: &Extent) -> Form {
        match extent {
            Extent { bytes: 20_001.., .. } => Form::Unlisted,
            Extent { places: 256.., .. } => Form::Words,
            _ => Form::Positions,
        }
    }

    fn push(letter: char, rest: &str, places: impl Iterator<Item = usize>, out: &mut String) {
        let places: Vec<String> = places.map(|place| place.to_string()).collect();
        let joint = if places.is_empty() { "" } else { "@" };
        *out += &format!("{letter}{rest}{joint}{}", places.join(","));
    }
}

/// Parses the lexemes with their positions.
pub(crate) fn read(words: &str) -> BTreeMap<String, Vec<usize>> {
    let mut lexemes = BTreeMap::new();
    for lexeme in words.split(' ') {
        let has_places = lexeme.starts_with(['w', 'd']);
        let (lexeme, places) = lexeme.split_once('@').filter(|_| has_places).unwrap_or((lexeme, ""));
        let places = places.split(',').filter(|place| !place.is_empty()).map(|place| place.parse().unwrap());
        let places: Vec<usize> = places.collect();
        assert!(places.is_sorted() && !places.contains(&0));
        assert!(lexemes.insert(lexeme.to_owned(), places).is_none());
    }
    lexemes
}

#[track_caller]
fn check(text: &str, words: &str, length: u32, terms: &[&str]) {
    let indexed = Indexed::of_text::<Plain>(text);
    assert_eq!(indexed.words.as_deref(), Some(words), "{text:?}");
    assert_eq!((indexed.length, indexed.form), (length, Form::Positions), "{text:?}");
    assert_eq!(indexed.terms, terms, "{text:?}");
}

#[test]
fn words_have_positions_and_all_else_has_none() {
    check("", "l0", 0, &[]);
    check(" \n\0\t", "l0", 0, &[]);
    check("The cat, the Café", "l3 s, wcafe@4 wcat@2 wthe@1,3", 4, &["cafe", "cat", "the"]);
    check("don't \\", "l2 s' s\\ wdon@1 wt@2", 2, &["don", "t"]);
    check("使用Python3编写", "l3 p3编 pho pn3 pon ppy pth pyt p使用 p写 p用p p编写 wpython3@1", 5, &["python3"]);
    check("🚀 ⚠\u{fe0f}🚀", "l0 s⚠ s🚀", 0, &[]);
}

#[test]
fn long_words_and_data_are_recognised_by_their_beginning() {
    let longest = "x".repeat(MAX_WORD);
    check(&longest, &format!("l1 w{longest}@1"), 1, &[&longest]);
    check(&format!("a x{longest} b"), "dxxxxxxxx@2 l2 wa@1 wb@3 x", 3, &["a", "b"]);
    let data = "iVBORw0KGgo/".repeat(30);
    let indexed = Indexed::of_text::<Plain>(&format!("see {data} end"));
    assert_eq!((indexed.terms, indexed.length), (vec!["end".to_owned(), "see".to_owned()], 32));
    let lexemes = read(&indexed.words.unwrap());
    assert_eq!(lexemes.keys().map(String::as_str).collect::<Vec<_>>(), ["divborw0k", "l6", "s/", "wend", "wsee", "x"]);
    assert_eq!(lexemes["divborw0k"], (2..=31).collect::<Vec<_>>());
}

#[test]
fn how_much_is_listed_is_the_spelling_s_matter() {
    let words = |count: usize| (0..count).map(|n| format!("w{n:04} ")).collect::<String>();
    let form = |text: &str| Indexed::of_text::<Plain>(text).form;
    assert_eq!((form(&words(255)), form(&words(256))), (Form::Positions, Form::Words));
    assert_eq!(form(&"大别 ".repeat(1_000)), Form::Positions, "pairs have no places");
    let more = Indexed::of_text::<Plain>(&words(4_000));
    assert_eq!(more, Indexed { form: Form::Unlisted, length: 4_000, words: None, terms: Vec::new() });
}

#[test]
fn the_extent_of_a_list_is_counted() {
    struct Counted;
    impl Spelling for Counted {
        fn form(extent: &Extent) -> Form {
            // `l3`, `s!` and two words, one of which occurs three times.
            let expect = Extent { places: 4, repeats: 3, lexemes: 4, occurrences: 6, bytes: 2 + 2 + 3 + 4 };
            assert_eq!(*extent, expect);
            Form::Words
        }

        fn push(_: char, _: &str, mut places: impl Iterator<Item = usize>, _: &mut String) {
            assert_eq!(places.next(), None, "the form has none");
        }
    }
    Indexed::of_text::<Counted>("to to! the to!");
}

#[test]
fn all_fields_of_a_message_are_listed() {
    let body = MessageBody {
        content: Some(Content::Json(Json::parse(r#"[{"type": "text", "text": "caf\u00e9"}]"#).unwrap())),
        tool_name: Some("read".into()),
        tool_calls: Some(
            Json::parse(r#"[{"function": {"name": "find", "arguments": "{\"path\": \"名\"}"}}]"#).unwrap(),
        ),
        ..MessageBody::empty(Role::Tool)
    };
    assert_eq!(Indexed::of_body::<Plain>(&body).terms, ["cafe", "find", "path", "read"]);
}
