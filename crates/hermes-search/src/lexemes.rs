//! Lexemes of a message, as an index lists them.
//!
//! The first letter of a *lexeme* is its kind:
//!
//! | | |
//! |---|---|
//! | `w` | a word, as [`tokens::words`] cuts the folded text; all of these are in the vocabulary |
//! | `d` | the beginning of a word outside the vocabulary: one that is too long, or a piece of data such as Base64 |
//! | `x` | alone: there is a `d` |
//! | `p` | two consecutive characters of a script that is searched by pairs, or the last one of a run alone |
//! | `s` | a sign: a character that is neither part of a word nor blank |
//! | `l` | size class of the message: the number of bits of its length, so that short messages can be requested first |
//!
//! Words have positions, so that phrases can be asked for. Lexemes and queries are both made from folded text, so every
//! part of the text that a query can name is in the list. The format of a list depends on the server: see [`Spelling`].

use hermes_session::script::{self, is_paired};
use hermes_session::search::fold::fold;
use hermes_session::search::tokens;
use hermes_session::{MessageBody, search_text};
use std::ops::{Range, RangeInclusive};

mod data;
#[cfg(test)]
pub(super) mod tests;

/// Maximum length, in characters, of a word in the vocabulary. Real words and the usual digests are shorter.
pub const MAX_WORD: usize = 64;

/// Number of characters that are listed of a word outside the vocabulary.
pub const BEGINNING: usize = 8;

/// Format of the lexemes of a message on a server, and its limits.
pub trait Spelling {
    /// Returns how much of a list is stored.
    fn form(extent: &Extent) -> Form;

    /// Appends a lexeme: the letter of its kind, the rest, and its positions. There are none if the kind or the form
    /// has no positions.
    fn push(letter: char, rest: &str, places: impl Iterator<Item = usize>, out: &mut String);
}

/// Size of a list of lexemes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Greatest position.
    pub places: usize,
    /// Number of occurrences of the most frequent word.
    pub repeats: usize,
    /// Number of distinct lexemes.
    pub lexemes: usize,
    /// Number of lexemes, counting repetitions.
    pub occurrences: usize,
    /// Total bytes of the distinct lexemes, with the letters of their kinds.
    pub bytes: usize,
}

/// How much of a message is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Everything, words with their positions.
    Positions,
    /// Everything, but without positions, because there are too many.
    Words,
    /// Nothing, because it would be too much. Such a message is scanned.
    Unlisted,
}

impl Form {
    /// Returns the number stored in a table.
    pub fn code(self) -> i16 {
        match self {
            Self::Positions => 0,
            Self::Words => 1,
            Self::Unlisted => 2,
        }
    }
}

/// Data stored of a message for search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    /// How much of it is listed.
    pub form: Form,
    /// Number of words.
    pub length: u32,
    /// Lexemes in the format of the server's index, in order; `None` if they are not listed.
    pub words: Option<String>,
    /// Words for the vocabulary, in order, without duplicates.
    pub terms: Vec<String>,
}

impl Indexed {
    /// Indexes a message.
    pub fn of_body<S: Spelling>(body: &MessageBody) -> Self {
        Self::of_text::<S>(&search_text::of_body(body))
    }

    /// Indexes the text of a message, as a person wrote it.
    pub fn of_text<S: Spelling>(text: &str) -> Self {
        let folded = fold(text);
        let mut found = Found::default();
        let data = data::runs(&folded);
        let mut length = 0_u32;
        let mut words = 0;
        for range in tokens::words(&folded) {
            length = length.saturating_add(1);
            let word = &folded[range.clone()];
            // Words of paired scripts are listed as pairs.
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

/// Kind of a lexeme.
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

/// The lexemes of a text as found, with the position of each word.
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

/// Lexeme of messages that have words outside the vocabulary.
pub const ANY_DATA: char = 'x';

/// Returns the lexeme of a word in the vocabulary.
pub fn word(word: &str) -> String {
    format!("w{word}")
}

/// Returns the lexeme of a word outside the vocabulary.
pub fn data(word: &str) -> String {
    format!("d{}", beginning(word))
}

/// Returns whether a lexeme, or a prefix of one, stands for words outside the vocabulary.
pub fn is_data(lexeme: &str) -> bool {
    lexeme.starts_with(['d', ANY_DATA])
}

/// Returns the lexeme of a pair of characters, or of the last character of a run.
pub fn pair(pair: &str) -> String {
    format!("p{pair}")
}

/// Returns the lexeme of a sign.
pub fn sign(sign: char) -> String {
    format!("s{sign}")
}

/// Returns the lexeme of messages of a size class.
pub fn length(size: u32) -> String {
    format!("l{size}")
}

/// Returns the size class of a number of words. Each class is twice as large as the one before.
pub fn size(length: u32) -> u32 {
    u32::BITS - length.leading_zeros()
}

/// Returns ranges of size classes, given the average length: of short, usual and long messages. Shorter messages come
/// first unless longer ones weigh more, so an index that lists the classes visits few messages of a frequent word.
pub fn parts(average: f64) -> Vec<RangeInclusive<u32>> {
    let usual = size(average as u32).clamp(4, u32::BITS - 4);
    vec![0..=usual - 3, usual - 2..=usual - 1, usual..=usual + 1, usual + 2..=u32::BITS]
}

/// Returns whether a word is short enough for the vocabulary, provided that it is not data.
pub fn is_known(word: &str) -> bool {
    word.len() <= MAX_WORD || word.chars().nth(MAX_WORD).is_none()
}

/// Returns whether a character of a folded text is listed as a sign.
pub fn is_sign(character: char) -> bool {
    !tokens::is_word(character) && !is_paired(character) && !character.is_whitespace() && !character.is_control()
}

/// Returns the listed part of a word outside the vocabulary.
fn beginning(word: &str) -> &str {
    word.char_indices().nth(BEGINNING).map_or(word, |(at, _)| &word[..at])
}

/// Returns the signs of a folded text, without duplicates.
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
