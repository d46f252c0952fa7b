use super::*;
use hermes_session::{Content, Json, Role};
use std::collections::BTreeMap;

/// The lexemes with their positions, as a server reads them.
pub(crate) fn read(words: &str) -> BTreeMap<String, Vec<usize>> {
    let mut lexemes = BTreeMap::new();
    let mut rest = words.chars().peekable();
    while let Some(first) = rest.next() {
        let mut lexeme = String::new();
        if first != '\'' {
            lexeme.push(first);
            lexeme.extend(std::iter::from_fn(|| rest.next_if(|next| *next != ' ')));
        } else {
            loop {
                match rest.next().unwrap() {
                    '\\' => lexeme.push(rest.next().unwrap()),
                    '\'' if rest.next_if_eq(&'\'').is_some() => lexeme.push('\''),
                    '\'' => break,
                    other => lexeme.push(other),
                }
            }
        }
        let places: String = std::iter::from_fn(|| rest.next_if(|next| *next != ' ')).collect();
        let places = places.trim_start_matches(':').split(',').filter(|place| !place.is_empty());
        let places: Vec<usize> = places.map(|place| place.parse().unwrap()).collect();
        assert!(places.is_sorted() && places.len() <= 255 && places.iter().all(|place| (1..=16_383).contains(place)));
        assert!(lexeme.len() < 2_046, "{lexeme}");
        assert!(lexemes.insert(lexeme, places).is_none());
        rest.next();
    }
    lexemes
}

#[track_caller]
fn check(text: &str, words: &str, length: u32, terms: &[&str]) {
    let indexed = Indexed::of_text(text);
    assert_eq!(indexed.words.as_deref(), Some(words), "{text:?}");
    assert_eq!((indexed.length, indexed.form), (length, Form::Positions), "{text:?}");
    assert_eq!(indexed.terms, terms, "{text:?}");
}

#[test]
fn words_have_positions_and_all_else_has_none() {
    check("", "'l0'", 0, &[]);
    check(" \n\0\t", "'l0'", 0, &[]);
    check("The cat, the Café", "'l3' 's,' 'wcafe':4 'wcat':2 'wthe':1,3", 4, &["cafe", "cat", "the"]);
    check("don't \\", "'l2' 's''' 's\\\\' 'wdon':1 'wt':2", 2, &["don", "t"]);
    check(
        "使用Python3编写",
        "'l3' 'p3编' 'pho' 'pn3' 'pon' 'ppy' 'pth' 'pyt' 'p使用' 'p写' 'p用p' 'p编写' 'wpython3':1",
        5,
        &["python3"],
    );
    check("🚀 ⚠\u{fe0f}🚀", "'l0' 's⚠' 's🚀'", 0, &[]);
}

#[test]
fn long_words_and_data_are_told_by_their_beginning() {
    let longest = "x".repeat(MAX_WORD);
    check(&longest, &format!("'l1' 'w{longest}':1"), 1, &[&longest]);
    check(&format!("a x{longest} b"), "'dxxxxxxxx':2 'l2' 'wa':1 'wb':3 x", 3, &["a", "b"]);
    let data = "iVBORw0KGgo/".repeat(30);
    let indexed = Indexed::of_text(&format!("see {data} end"));
    assert_eq!((indexed.terms, indexed.length), (vec!["end".to_owned(), "see".to_owned()], 32));
    let lexemes = read(&indexed.words.unwrap());
    assert_eq!(lexemes.keys().map(String::as_str).collect::<Vec<_>>(), ["divborw0k", "l6", "s/", "wend", "wsee", "x"]);
    assert_eq!(lexemes["divborw0k"], (2..=31).collect::<Vec<_>>());
}

#[test]
fn positions_go_if_they_are_not_all_there() {
    let form = |text: &str| Indexed::of_text(text).form;
    assert_eq!(form(&"a ".repeat(MAX_POSITIONS)), Form::Positions);
    assert_eq!(form(&"a ".repeat(MAX_POSITIONS + 1)), Form::Words);
    let words = |count: usize| (0..count).map(|n| format!("w{n} ")).collect::<String>();
    assert_eq!(form(&words(MAX_POSITION)), Form::Positions);
    let more = Indexed::of_text(&words(MAX_POSITION + 1));
    assert_eq!((more.form, more.length, more.terms.len()), (Form::Words, 16_384, 16_384));
    assert!(read(&more.words.unwrap()).values().all(Vec::is_empty));
    assert_eq!(form(&"大别 ".repeat(100_000)), Form::Positions, "pairs have no positions");
}

#[test]
fn what_is_too_much_is_not_listed() {
    let words = |count: usize| (0..count).map(|n| format!("word{n:06} ")).collect::<String>();
    // Each is ten letters, one that tells its kind, and room to align it.
    let most = MAX_BYTES / 12;
    // The length is listed as well.
    assert_eq!(Indexed::of_text(&words(most - 1)).form, Form::Words);
    let more = Indexed::of_text(&words(most + 1));
    assert_eq!(more, Indexed { form: Form::Unlisted, length: most as u32 + 1, words: None, terms: Vec::new() });
    let data: String = (0..30_000).map(|n| format!("{n:032}/")).collect();
    let data = Indexed::of_text(&data);
    assert_eq!((data.form, data.terms.len()), (Form::Words, 0));
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
    assert_eq!(Indexed::of_body(&body).terms, ["cafe", "find", "path", "read"]);
}
