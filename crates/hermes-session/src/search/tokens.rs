//! Words: runs of letters and digits, as the agent's own index cuts them, and single characters of the scripts that put no blank between words.

mod table;

use crate::script::is_paired;
use std::ops::Range;

/// Whether a character is part of a word.
pub fn is_word(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    let after = table::WORD.partition_point(|(first, _)| *first <= character);
    after > 0 && character <= table::WORD[after - 1].1
}

/// Whether a word may end between two characters: they are not both letters or digits of one word.
pub fn is_border(before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return true };
    !is_word(before) || !is_word(after) || is_paired(before) || is_paired(after)
}

/// The words of a folded text.
pub fn words(folded: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + folded[at..].find(is_word)?;
        let mut before = None;
        let length = folded[start..].char_indices().find(|(_, character)| {
            let ends = before.is_some() && is_border(before, Some(*character));
            before = Some(*character);
            ends
        });
        at = length.map_or(folded.len(), |(length, _)| start + length);
        Some(start..at)
    })
}
