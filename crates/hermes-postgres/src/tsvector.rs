//! Lexemes as a `tsvector`.

use hermes_search::lexemes::{Extent, Form, Spelling};
use std::fmt::Write as _;

/// Greatest position that the server stores.
const MAX_POSITION: usize = 16_383;
/// Maximum number of positions that the server stores for one lexeme.
const MAX_POSITIONS: usize = 255;
/// Maximum total bytes of all lexemes with their positions. The server's limit is 1 MB.
const MAX_BYTES: usize = 900_000;

/// Writes lists of lexemes in the text form of a `tsvector`.
#[derive(Debug)]
pub(crate) struct TsVector;

impl Spelling for TsVector {
    fn form(extent: &Extent) -> Form {
        // The server may need a byte to align the positions.
        let bare = extent.bytes + extent.lexemes;
        let placed = bare + extent.lexemes * 2 + extent.occurrences * 2;
        // Incomplete positions would hide phrases.
        let are_told = extent.places <= MAX_POSITION && extent.repeats <= MAX_POSITIONS;
        match () {
            () if are_told && placed <= MAX_BYTES => Form::Positions,
            () if bare <= MAX_BYTES => Form::Words,
            () => Form::Unlisted,
        }
    }

    fn push(letter: char, rest: &str, places: impl Iterator<Item = usize>, out: &mut String) {
        push_quoted(letter, rest, out);
        let mut joint = ':';
        for place in places {
            out.push(joint);
            // Writing to a string cannot fail.
            let _ = write!(out, "{place}");
            joint = ',';
        }
    }
}

/// Appends a lexeme in the text form of a `tsvector` or a `tsquery`.
pub(crate) fn push_quoted(letter: char, rest: &str, out: &mut String) {
    out.push('\'');
    for character in [letter].into_iter().chain(rest.chars()) {
        if matches!(character, '\'' | '\\') {
            out.push(character);
        }
        out.push(character);
    }
    out.push('\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_search::lexemes::Indexed;

    fn indexed(text: &str) -> Indexed {
        Indexed::of_text::<TsVector>(text)
    }

    #[test]
    fn lexemes_are_quoted_and_have_their_positions() {
        let words = |text: &str| indexed(text).words.unwrap_or_default();
        assert_eq!(words("The cat, the Café"), "'l3' 's,' 'wcafe':4 'wcat':2 'wthe':1,3");
        assert_eq!(words("don't \\"), r"'l2' 's''' 's\\' 'wdon':1 'wt':2");
        assert_eq!(words(&format!("a {}", "x".repeat(65))), "'dxxxxxxxx':2 'l2' 'wa':1 'x'");
    }

    #[test]
    fn positions_go_if_they_are_not_all_there() {
        let form = |text: &str| indexed(text).form;
        assert_eq!(form(&"a ".repeat(MAX_POSITIONS)), Form::Positions);
        assert_eq!(form(&"a ".repeat(MAX_POSITIONS + 1)), Form::Words);
        let words = |count: usize| (0..count).map(|n| format!("w{n} ")).collect::<String>();
        assert_eq!(form(&words(MAX_POSITION)), Form::Positions);
        let more = indexed(&words(MAX_POSITION + 1));
        assert_eq!((more.form, more.length, more.terms.len()), (Form::Words, 16_384, 16_384));
        assert!(!more.words.unwrap_or_default().contains(':'));
        assert_eq!(form(&"大别 ".repeat(100_000)), Form::Positions, "pairs have no positions");
    }

    #[test]
    fn what_is_too_much_is_not_listed() {
        let words = |count: usize| (0..count).map(|n| format!("word{n:06} ")).collect::<String>();
        // Each has ten letters, the letter of its kind, and a byte for alignment.
        let most = MAX_BYTES / 12;
        // The length is listed as well.
        assert_eq!(indexed(&words(most - 1)).form, Form::Words);
        let more = indexed(&words(most + 1));
        assert_eq!(more, Indexed { form: Form::Unlisted, length: most as u32 + 1, words: None, terms: Vec::new() });
        let data: String = (0..30_000).map(|n| format!("{n:032}/")).collect();
        let data = indexed(&data);
        assert_eq!((data.form, data.terms.len()), (Form::Words, 0));
    }
}
