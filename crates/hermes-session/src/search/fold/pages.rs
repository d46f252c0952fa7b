//! Table of the folding of single characters, computed once and cached in pages of 256.

use super::character::Buffers;
use std::sync::OnceLock;
use unicode_normalization::char::{canonical_combining_class, decompose_canonical};
use unicode_normalization::{IsNormalized, is_nfc_quick};

/// How a character folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// To this one character. It does not combine with those before it.
    Starter(char),
    /// To no or several characters. It does not combine with those before it.
    Expands,
    /// To itself, after another character. Only the order among marks matters.
    Mark,
    /// Together with the characters before it.
    Joins,
}

// Code points end at 0x10ffff; these values are beyond.
const EXPANDS: u32 = 0x11_0000;
const MARK: u32 = 0x11_0001;
const JOINS: u32 = 0x11_0002;

type Page = [u32; 256];

/// The first two planes. There is little to fold in the others.
static PAGES: [OnceLock<Box<Page>>; 0x200] = [const { OnceLock::new() }; 0x200];

/// Returns how a character folds.
pub(super) fn kind(character: char) -> Kind {
    let code = u32::from(character);
    match character {
        // Most of Han and Hangul is unchanged, and would need many pages.
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => return Kind::Starter(character),
        '\u{2f800}'..='\u{2fa1f}' => return Kind::Expands,
        '\u{20000}'.. => return Kind::Starter(character),
        _ => {}
    }
    let page = PAGES[(code >> 8) as usize].get_or_init(|| page(code >> 8));
    match page[(code & 0xff) as usize] {
        EXPANDS => Kind::Expands,
        MARK => Kind::Mark,
        JOINS => Kind::Joins,
        to => Kind::Starter(char::from_u32(to).unwrap_or(character)),
    }
}

/// Returns whether a character never combines with those before it.
pub(super) fn is_apart(character: char) -> bool {
    character.is_ascii() || matches!(kind(character), Kind::Starter(_) | Kind::Expands)
}

fn page(number: u32) -> Box<Page> {
    let mut page = Box::new([JOINS; 256]);
    let mut buffers = Buffers::default();
    for (low, entry) in (0..).zip(page.iter_mut()) {
        let Some(character) = char::from_u32(number << 8 | low) else { continue };
        *entry = match kind_of(character, &mut buffers) {
            Kind::Starter(to) => to.into(),
            Kind::Expands => EXPANDS,
            Kind::Mark => MARK,
            Kind::Joins => JOINS,
        };
    }
    page
}

/// Computes how a character folds from the definition.
fn kind_of(character: char, buffers: &mut Buffers) -> Kind {
    let mut folded = String::new();
    let mut bytes = [0; 4];
    let itself = &*character.encode_utf8(&mut bytes);
    buffers.push_folded(itself, &mut folded);
    let mut only = folded.chars();
    let only = only.next().filter(|_| only.next().is_none());
    if joins(character) || only.is_some_and(joins) {
        let is_mark = canonical_combining_class(character) != 0
            && is_nfc_quick(itself.chars()) == IsNormalized::Yes
            && folded == itself;
        return if is_mark { Kind::Mark } else { Kind::Joins };
    }
    only.map_or(Kind::Expands, Kind::Starter)
}

/// Returns whether a character may change, or be removed, because of the characters before it.
fn joins(character: char) -> bool {
    let mut first = character;
    let mut is_first = true;
    decompose_canonical(character, |part| {
        if std::mem::take(&mut is_first) {
            first = part;
        }
    });
    matches!(character, '\u{fe0e}' | '\u{fe0f}')
        || canonical_combining_class(first) != 0
        || is_nfc_quick([first].into_iter()) == IsNormalized::Maybe
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Includes the ranges that replace pages.
    #[test]
    fn every_character_is_recognised_by_the_definition() {
        let mut buffers = Buffers::default();
        for character in ('\u{80}'..='\u{2ffff}').chain('\u{e0000}'..='\u{e0fff}') {
            let kind_of = match kind_of(character, &mut buffers) {
                // One to one, but handled by the definition.
                Kind::Starter(_) if matches!(character, '\u{2f800}'..='\u{2fa1f}') => Kind::Expands,
                kind_of => kind_of,
            };
            assert_eq!(kind(character), kind_of, "U+{:04X}", u32::from(character));
        }
    }
}
