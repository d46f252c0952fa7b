//! What characters fold to, with those that they join with. This is the definition; [`super::pages`] makes it quick.

use crate::search::tokens::is_word;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::{decompose_canonical, decompose_compatible};

/// Room for the steps of folding.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    composed: String,
    cased: String,
    bare: String,
}

impl Buffers {
    /// Appends the folded form of a text that does not join with what is before or behind it.
    pub(super) fn push_folded(&mut self, text: &str, out: &mut String) {
        // Composed before anything goes, so that accents which make another letter are not taken for accents.
        renew(&mut self.composed, text.chars().map(usual_width).nfc());
        self.cased.clear();
        self.composed.chars().for_each(|character| push_cased(character, &mut self.cased));
        self.bare.clear();
        for character in self.cased.nfc() {
            match character {
                _ if is_accent(character) => {}
                // Between two letters it parts words, as the indexes have it.
                '\u{fe0e}' | '\u{fe0f}' if !self.bare.chars().next_back().is_some_and(is_word) => {}
                _ => self.bare.push(without_accents(character)),
            }
        }
        out.extend(self.bare.nfc());
    }
}

fn renew(buffer: &mut String, characters: impl Iterator<Item = char>) {
    buffer.clear();
    buffer.extend(characters);
}

/// Accents, as `unicode61` has them. It passes over them within a word; all other marks end words.
pub const fn is_accent(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{304}' | '\u{306}'..='\u{30c}' | '\u{30f}' | '\u{311}' | '\u{31b}' | '\u{323}'..='\u{328}'
        | '\u{32d}'..='\u{32e}' | '\u{330}'..='\u{331}')
}

/// The ASCII letter that a small Latin letter is without its accents; others stay.
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

/// A character of usual width, and a blank for white space within a line.
fn usual_width(character: char) -> char {
    let mut usual = character;
    match character {
        // Line breaks stay. So phrases do not reach over lines, nor from one text of a message into the next.
        '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {}
        _ if character.is_whitespace() => usual = ' ',
        // One step of decomposition: two would lead on to letters that join, or to blanks with accents.
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

/// Full case folding. It is the small form of the capital form of the small form, but for a few.
fn push_cased(character: char, out: &mut String) {
    match character {
        // A letter of its own, whose capital is that of another.
        'ı' => out.push(character),
        // A mark, that would become a letter and so part of a word. Composed with its letter it does.
        '\u{345}' => out.push(character),
        // Cherokee folds to its capitals, which are older than its small letters.
        '\u{13a0}'..='\u{13f5}' => out.push(character),
        '\u{13f8}'..='\u{13fd}' | '\u{ab70}'..='\u{abbf}' => out.extend(character.to_uppercase()),
        _ => out.extend(character.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)),
    }
}

#[cfg(test)]
mod tests;
