//! Defines the folding of characters, including those they combine with. [`super::pages`] makes it fast.

use crate::search::tokens::is_word;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{decompose_canonical, decompose_compatible};

/// Buffers for the steps of folding.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    composed: String,
    cased: String,
    bare: String,
}

impl Buffers {
    /// Appends the folded form of a text that does not combine with the text before or after it.
    pub(super) fn push_folded(&mut self, text: &str, out: &mut String) {
        // Composed before anything is removed, so that marks that make another letter are not taken for accents.
        renew(&mut self.composed, text.chars().map(usual_width).nfc());
        self.cased.clear();
        self.composed.chars().for_each(|character| push_cased(character, &mut self.cased));
        self.bare.clear();
        for character in self.cased.nfc() {
            match character {
                _ if is_accent(character) => {}
                // Between two letters it separates words, as in the indexes.
                '\u{fe0e}' | '\u{fe0f}' if !self.bare.chars().next_back().is_some_and(is_word) => {}
                _ => self.bare.push(without_accents(character)),
            }
        }
        out.extend(self.bare.nfc());
    }
}

/// Returns the folded form of the most frequent texts that would need the slow path; `None` for others.
pub(super) fn quickly(text: &str) -> Option<impl Iterator<Item = char>> {
    let mut rest = text.chars();
    let first = rest.next()?;
    let folded = match (first, rest.as_str()) {
        ('ß', "") => ['s'; 2].into_iter().take(2),
        // Accents on an ASCII letter compose to a letter that loses them; on any other ASCII character they compose to
        // nothing.
        (_, accents) if first.is_ascii() && accents.chars().all(is_accent) => {
            [usual_width(first).to_ascii_lowercase(); 2].into_iter().take(1)
        }
        ('\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1f6ff}', "\u{fe0f}") if !is_word(first) => {
            [first; 2].into_iter().take(1)
        }
        _ => return None,
    };
    Some(folded)
}

fn renew(buffer: &mut String, characters: impl Iterator<Item = char>) {
    buffer.clear();
    buffer.extend(characters);
}

/// Returns whether a character is an accent according to `unicode61`, which skips accents within a word. All other
/// marks end words.
pub const fn is_accent(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{304}' | '\u{306}'..='\u{30c}' | '\u{30f}' | '\u{311}' | '\u{31b}' | '\u{323}'..='\u{328}'
        | '\u{32d}'..='\u{32e}' | '\u{330}'..='\u{331}')
}

/// Returns the ASCII letter of a lower-case Latin letter with accents; other characters unchanged.
fn without_accents(character: char) -> char {
    if character.is_ascii() {
        return character;
    }
    let (mut base, mut is_bare) = (None, true);
    decompose_canonical(character, |part| match base {
        None => base = Some(part),
        Some(_) => is_bare &= is_accent(part),
    });
    base.filter(|base| is_bare && base.is_ascii_alphabetic()).unwrap_or(character)
}

/// Returns the character in its usual width, and a space for white space within a line.
fn usual_width(character: char) -> char {
    let mut usual = character;
    match character {
        // Line breaks stay, so that phrases do not extend across lines, nor from one text of a message into the next.
        '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {}
        _ if character.is_whitespace() => usual = ' ',
        // One step of decomposition: two would lead to letters that combine, or to spaces with accents.
        '\u{ffa0}' => usual = '\u{3164}',
        '\u{ffa1}'..='\u{ffbe}' => usual = shifted(character, 0xffa1, 0x3131),
        '\u{ffc2}'..='\u{ffc7}' => usual = shifted(character, 0xffc2, 0x314f),
        '\u{ffca}'..='\u{ffcf}' => usual = shifted(character, 0xffca, 0x3155),
        '\u{ffd2}'..='\u{ffd7}' => usual = shifted(character, 0xffd2, 0x315b),
        '\u{ffda}'..='\u{ffdc}' => usual = shifted(character, 0xffda, 0x3161),
        '\u{ffe3}' => usual = '\u{af}',
        '\u{ff01}'..='\u{ffef}' => decompose_compatible(character, |part| usual = part),
        _ => {}
    }
    usual
}

fn shifted(character: char, from: u32, to: u32) -> char {
    char::from_u32(u32::from(character) - from + to).unwrap_or(character)
}

/// Appends the full case folding: lower case of the upper case of the lower case, with a few exceptions.
fn push_cased(character: char, out: &mut String) {
    match character {
        // A letter of its own that shares its upper case with another.
        'ı' => out.push(character),
        // A combining mark that would become a letter and so part of a word. Composed with its letter it does.
        '\u{345}' => out.push(character),
        // Cherokee folds to its upper-case letters, which are older than the lower-case ones.
        '\u{13a0}'..='\u{13f5}' => out.push(character),
        '\u{13f8}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => out.extend(character.to_uppercase()),
        _ => out.extend(character.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)),
    }
}

#[cfg(test)]
mod tests;
