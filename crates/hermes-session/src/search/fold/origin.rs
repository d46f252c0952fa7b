//! The way back from a folded text to the text itself.

use super::{fold_rest, unchanged};
use std::borrow::Cow;
use std::ops::Range;

/// A folded text that remembers where it comes from.
#[derive(Debug, Clone)]
pub struct Folded<'t> {
    /// The folded text.
    pub text: Cow<'t, str>,
    original: &'t str,
    /// In order. Between them, and before and behind, character stands for character of the same length.
    blocks: Vec<Block>,
}

/// A part of the text that stands for a part of the folded one as a whole.
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

    /// The part of the original that a part of the folded text stands for; whole characters, with the accents that belong to them.
    ///
    /// Half of what a character folds to stands for that character, as `s` does for `ß`. Nothing stands for nothing. What is beyond the end is
    /// the end.
    pub fn original(&self, range: Range<usize>) -> Range<usize> {
        let start = self.original.floor_char_boundary(self.place(range.start, |block| block.original.start));
        if range.is_empty() {
            return start..start;
        }
        // The end of the last byte's character, not the beginning of the next: accents that are gone belong to what is before them.
        let last = self.place(range.end - 1, |block| block.original.end - 1);
        start..self.original.ceil_char_boundary(last + 1).max(start)
    }

    /// Where a byte of the folded text comes from, if need be by the block that it is in.
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

/// Somebody who is told what of a text became what.
pub(super) trait Trace {
    /// A character became another.
    fn put(&mut self, original: Range<usize>, folded: Range<usize>);
    /// Characters became others as a whole.
    fn put_block(&mut self, original: Range<usize>, folded: Range<usize>);
    /// What was told of the original from here on is told anew.
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
