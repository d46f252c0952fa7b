//! What an index lists of a message.
//!
//! A *lexeme* is a text whose first letter tells what it is:
//!
//! | | |
//! |---|---|
//! | `w` | a word, as [`tokens::words`] cuts the folded text; all of these are in the vocabulary |
//! | `d` | the beginning of a word that the vocabulary does not take: one that is too long, or a piece of data such as Base64 |
//! | `x` | alone: there is a `d` |
//! | `p` | two characters in a row of a script that is searched by pairs, and the last one of a run alone |
//! | `s` | a sign: what is neither part of a word nor blank |
//! | `l` | how long the message is, as the number of bits of its length: so the short ones can be asked for first |
//!
//! Words have positions, so that those in a row can be asked for. Everything is made from the folded text, and so is a question: what is in the
//! text is in the list. How a list is written is the server's matter: see [`Spelling`].

use hermes_session::script::{self, is_paired};
use hermes_session::search::fold::fold;
use hermes_session::search::tokens;
use hermes_session::{MessageBody, search_text};
use std::ops::Range;

mod data;
#[cfg(test)]
pub(super) mod tests;

/// The longest word, in characters, that the vocabulary takes. Real words and the usual digests are shorter.
pub const MAX_WORD: usize = 64;

/// How much is listed of a word that the vocabulary does not take, in characters.
pub const BEGINNING: usize = 8;

/// How a server writes the lexemes of a message, and how many it takes.
pub trait Spelling {
    /// How much of a list is kept.
    fn form(extent: &Extent) -> Form;

    /// Appends a lexeme: the letter of its kind, the rest, and where it is. There are no places if it has none or the form has none.
    fn push(letter: char, rest: &str, places: impl Iterator<Item = usize>, out: &mut String);
}

/// How large a list of lexemes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The greatest place.
    pub places: usize,
    /// How often the most frequent word is there.
    pub repeats: usize,
    /// How many lexemes there are.
    pub lexemes: usize,
    /// The same, with each as often as it is there.
    pub occurrences: usize,
    /// What they take as texts, with the letters of their kinds.
    pub bytes: usize,
}

/// How much of a message is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Words with their positions, and all else.
    Positions,
    /// All, but without positions: there are too many.
    Words,
    /// Nothing, because it is too much. Such a message is looked through.
    Unlisted,
}

impl Form {
    /// The number that stands for it in a table.
    pub fn code(self) -> i16 {
        match self {
            Self::Positions => 0,
            Self::Words => 1,
            Self::Unlisted => 2,
        }
    }
}

/// What is kept of a message for search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// How much of it is listed.
    pub form: Form,
    /// How many words it has.
    pub length: u32,
    /// The lexemes as the server's index reads them, in order; nothing if they are not listed.
    pub words: Option<String>,
    /// The words that the vocabulary needs to know, in order, each once.
    pub terms: Vec<String>,
}

impl Indexed {
    /// Looks at a message.
    pub fn of_body<S: Spelling>(body: &MessageBody) -> Self {
        Self::of_text::<S>(&search_text::of_body(body))
    }

    /// Looks at the text of a message, as a person wrote it.
    pub fn of_text<S: Spelling>(text: &str) -> Self {
        let folded = fold(text);
        let mut found = Found::default();
        let data = data::runs(&folded);
        let mut length = 0_u32;
        let mut words = 0;
        for range in tokens::words(&folded) {
            length = length.saturating_add(1);
            let word = &folded[range.clone()];
            // Those of paired scripts are listed in pairs.
            if !word.starts_with(is_paired) {
                words += 1;
                let kind = if is_known(word) && !data::is_in(&data, &range) { Kind::Word } else { Kind::Data };
                let listed = if kind == Kind::Word { word } else { beginning(word) };
                found.lexemes.push((kind, listed, words));
            }
        }
        let mut pairs = String::new();
        script::runs(&folded).for_each(|run| script::push_pairs(&run, &mut pairs));
        let signs = signs(&folded);
        let size = size(length).to_string();
        found.lexemes.push((Kind::Length, &size, 0));
        let slices = |text: &'_ str| -> Vec<Range<usize>> {
            text.char_indices().map(|(at, sign)| at..at + sign.len_utf8()).collect()
        };
        found.lexemes.extend(pairs.split_terminator(' ').map(|pair| (Kind::Pair, pair, 0)));
        found.lexemes.extend(slices(&signs).into_iter().map(|range| (Kind::Sign, &signs[range], 0)));
        found.finish::<S>(words, length)
    }
}

/// What a lexeme is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Data,
    Length,
    Pair,
    Sign,
    Word,
}

impl Kind {
    fn letter(self) -> char {
        match self {
            Self::Data => 'd',
            Self::Length => 'l',
            Self::Pair => 'p',
            Self::Sign => 's',
            Self::Word => 'w',
        }
    }
}

/// The lexemes of a text as they were found, with the position of each word.
#[derive(Debug, Default)]
struct Found<'t> {
    lexemes: Vec<(Kind, &'t str, usize)>,
}

impl Found<'_> {
    fn finish<S: Spelling>(mut self, words: usize, length: u32) -> Indexed {
        self.lexemes.sort_unstable();
        let same = |left: &(Kind, &str, usize), right: &(Kind, &str, usize)| (left.0, left.1) == (right.0, right.1);
        let groups = || self.lexemes.chunk_by(same);
        let has_data = self.lexemes.first().is_some_and(|(kind, ..)| *kind == Kind::Data);
        let extent = Extent {
            places: words,
            repeats: groups().filter(|group| group[0].2 > 0).map(<[_]>::len).max().unwrap_or_default(),
            lexemes: groups().count(),
            occurrences: self.lexemes.len(),
            bytes: groups().map(|group| group[0].1.len() + 1).sum(),
        };
        let form = S::form(&extent);
        if form == Form::Unlisted {
            return Indexed { form, length, words: None, terms: Vec::new() };
        }
        let mut text = String::with_capacity(extent.bytes + extent.lexemes * 6);
        let mut terms = Vec::new();
        for group in groups() {
            let (kind, lexeme, _) = group[0];
            let places = group.iter().map(|(.., place)| *place);
            S::push(kind.letter(), lexeme, places.filter(|place| *place > 0 && form == Form::Positions), &mut text);
            text.push(' ');
            if kind == Kind::Word {
                terms.push(lexeme.to_owned());
            }
        }
        match has_data {
            true => S::push(ANY_DATA, "", std::iter::empty(), &mut text),
            false => text.truncate(text.trim_end().len()),
        }
        Indexed { form, length, words: Some(text), terms }
    }
}

/// The lexeme of messages that have words which the vocabulary does not know.
pub const ANY_DATA: char = 'x';

/// The lexeme of a word that the vocabulary takes.
pub fn word(word: &str) -> String {
    format!("w{word}")
}

/// The lexeme of a word that it does not take.
pub fn data(word: &str) -> String {
    format!("d{}", beginning(word))
}

/// The lexeme of a pair of characters, or of the last one of a run.
pub fn pair(pair: &str) -> String {
    format!("p{pair}")
}

/// The lexeme of a sign.
pub fn sign(sign: char) -> String {
    format!("s{sign}")
}

/// The lexeme of messages of a size.
pub fn length(size: u32) -> String {
    format!("l{size}")
}

/// How large a number of words is: each size is twice the one before.
pub fn size(length: u32) -> u32 {
    u32::BITS - length.leading_zeros()
}

/// Whether the vocabulary takes a word, if it is no piece of data.
pub fn is_known(word: &str) -> bool {
    word.len() <= MAX_WORD || word.chars().nth(MAX_WORD).is_none()
}

/// Whether a character of a folded text is listed as a sign.
pub fn is_sign(character: char) -> bool {
    !tokens::is_word(character) && !is_paired(character) && !character.is_whitespace() && !character.is_control()
}

/// As much of a word as is listed if the vocabulary does not take it.
fn beginning(word: &str) -> &str {
    word.char_indices().nth(BEGINNING).map_or(word, |(at, _)| &word[..at])
}

/// The signs of a folded text, each once.
fn signs(folded: &str) -> String {
    let mut ascii = [false; 128];
    let mut beyond = Vec::new();
    for character in folded.chars() {
        match ascii.get_mut(character as usize) {
            Some(seen) => *seen = true,
            None if is_sign(character) && beyond.last() != Some(&character) => beyond.push(character),
            None => {}
        }
    }
    beyond.sort_unstable();
    beyond.dedup();
    let ascii = ('\0'..='\x7f').zip(ascii).filter(|(sign, seen)| *seen && is_sign(*sign)).map(|(sign, _)| sign);
    ascii.chain(beyond).collect()
}
