//! Maps ranges of a folded text back to the original text.

use super::{fold_rest, unchanged};
use std::borrow::Cow;
use std::ops::Range;

/// A folded text that can be mapped to its original.
#[derive(Debug, Clone)]
pub struct Folded<'t> {
    /// The folded text.
    pub text: Cow<'t, str>,
    original: &'t str,
    /// In order. Outside of them, characters correspond one to one and have the same length.
    blocks: Vec<Block>,
}

/// A part of the original that corresponds to a part of the folded text only as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    original: Range<usize>,
    folded: Range<usize>,
}

impl<'t> Folded<'t> {
    /// Folds a text.
    pub fn new(text: &'t str) -> Self {
        let same = unchanged(text);
        let mut folded = Self { text: Cow::Borrowed(text), original: text, blocks: Vec::new() };
        if same < text.len() {
            let mut out = String::with_capacity(text.len());
            fold_rest(text, same, &mut out, &mut folded.blocks);
            folded.text = Cow::Owned(out);
        }
        folded
    }

    /// Returns the range of the original for a range of the folded text; whole characters, with their accents.
    ///
    /// A part of a character's folding maps to the whole character, as `s` does for `ß`. An empty range maps to an
    /// empty range. Positions beyond the end map to the end.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        let start = self.original.floor_char_boundary(self.place(range.start, |block| block.original.start));
        if range.is_empty() {
            return start..start;
        }
        // The end of the last byte's character, not the start of the next one: removed accents belong to the character
        // before them.
        let last = self.place(range.end - 1, |block| block.original.end - 1);
        start..self.original.ceil_char_boundary(last + 1).max(start)
    }

    /// Maps a byte of the folded text to the original, using `within` for a byte inside a block.
    fn place(&self, folded: usize, within: impl Fn(&Block) -> usize) -> usize {
        let next = self.blocks.partition_point(|block| block.folded.start <= folded);
        let place = match next.checked_sub(1).map(|before| &self.blocks[before]) {
            Some(block) if folded < block.folded.end => within(block),
            Some(block) => block.original.end + (folded - block.folded.end),
            None => folded,
        };
        place.min(self.original.len())
    }
}

/// Receives the correspondence between a text and its folding.
pub(super) trait Trace {
    /// Reports that one character became another.
    fn put(&mut self, original: Range<usize>, folded: Range<usize>);
    /// Reports that several characters became others as a whole.
    fn put_block(&mut self, original: Range<usize>, folded: Range<usize>);
    /// Discards everything reported of the original from this position on. It will be reported again.
    fn take_back(&mut self, original: usize);
}

impl Trace for () {
    fn put(&mut self, _: Range<usize>, _: Range<usize>) {}
    fn put_block(&mut self, _: Range<usize>, _: Range<usize>) {}
    fn take_back(&mut self, _: usize) {}
}

impl Trace for Vec<Block> {
    fn put(&mut self, original: Range<usize>, folded: Range<usize>) {
        if original.len() != folded.len() {
            self.put_block(original, folded);
        }
    }

    fn put_block(&mut self, original: Range<usize>, folded: Range<usize>) {
        self.push(Block { original, folded });
    }

    fn take_back(&mut self, original: usize) {
        while self.pop_if(|block| block.original.start >= original).is_some() {}
    }
}

#[cfg(test)]
mod tests;
