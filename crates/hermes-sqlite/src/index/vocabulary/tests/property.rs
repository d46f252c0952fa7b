//! No part of any text is lost between SQLite's tokens, the vocabulary and the pairs.

use super::*;
use proptest::prelude::*;

/// A word of paired letters and letters that SQLite folds to ASCII is not in the vocabulary. So every such letter has
/// to count as ASCII in runs too.
#[test]
fn what_sqlite_folds_to_ascii_is_ascii_in_a_run() {
    let connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE texts USING fts5(text, content=''); CREATE VIRTUAL TABLE words USING fts5vocab(texts, instance); BEGIN",
        )
        .unwrap();
    let mut insert = connection.prepare("INSERT INTO texts(rowid, text) VALUES (?, ?)").unwrap();
    for character in '\u{1}'..='\u{1ffff}' {
        insert.execute(params![u32::from(character), format!("x{character}大")]).unwrap();
    }
    let mut words = connection.prepare("SELECT doc, term FROM words").unwrap();
    let words = words.query_map([], |row| Ok((row.get::<_, u32>(0)?, row.get::<_, String>(1)?))).unwrap();
    let mut compared = 0;
    for (code, word) in words.map(Result::unwrap).filter(|(_, word)| script::is_run(word)) {
        let text = format!("x{}大", char::from_u32(code).unwrap());
        let mut runs = script::runs(&text);
        let composed: Vec<String> = script::runs(&word).collect();
        assert!(runs.any(|run| run.contains(&composed[0])), "{word:?} of U+{code:04X}");
        compared += 1;
    }
    assert!(compared > 50_000, "{compared}");
}

/// Returns all substrings of a text of up to `longest` characters.
fn pieces(text: &str, longest: usize) -> BTreeSet<&str> {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let ends = |from: usize| (from + 1..starts.len()).take(longest);
    (0..starts.len())
        .flat_map(|from| ends(from).map(move |to| (from, to)))
        .map(|(from, to)| &text[starts[from]..starts[to]])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_cut_as_messages_fts_cuts_it(texts in prop::collection::vec("([ -~]|[a-zA-Z0-9]|\\PC|[\u{0}éÉ大か\u{301}\u{e34}.—]){0,60}", 1..6)) {
        let texts: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
        check_tokens(&texts);
    }

    #[test]
    fn every_piece_of_every_word_is_found(text in "([a-z]{1,12}[ .]|[a-c大别éжไ]{1,9} |\\PC|X){0,20}") {
        let connection = connection();
        add_texts(&connection, &[&text]);
        for entry in entries(&connection) {
            let (word, term) = entry.split_once('/').unwrap_or((&entry, &entry));
            for piece in pieces(word, 64) {
                let found = terms_containing(&connection, piece, 1_000, |_| true).unwrap();
                prop_assert!(!found.is_cut);
                if !piece.chars().all(script::is_paired) {
                    prop_assert!(found.terms.iter().any(|found| found == term), "{piece:?} of {entry:?}");
                }
            }
            prop_assert!(terms_with_prefix(&connection, word, 9, |_| true).unwrap().terms.iter().any(|found| found == term));
        }
    }

    #[test]
    fn every_piece_of_paired_text_is_among_the_candidates(texts in prop::collection::vec("([大别山がｶﾞไทย\u{e34}한국ㄱᄒ\u{1161}𠀀]|[aZé9 \u{0}。\u{301}]){0,24}", 1..5)) {
        let connection = connection();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        add_texts(&connection, &texts);
        for (text, id) in texts.iter().zip(1_i64..) {
            for run in script::runs(text) {
                for piece in pieces(&run, 3) {
                    let found = told(&connection, &Pairs::around(piece).unwrap());
                    prop_assert!(found.contains(&id), "{piece:?} of {text:?}");
                    prop_assert!(Pairs::of(piece).is_none_or(|pairs| told(&connection, &pairs) == found));
                }
            }
        }
    }
}
