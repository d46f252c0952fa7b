//! The WAL beside a file: which of its frames hold committed pages.
//!
//! SQLite stops at the first damaged frame. Here the frames after it count as well: each checksum continues from the
//! checksum that the frame before it *states*, so one damaged frame does not take later frames, which were
//! acknowledged, with it.

use super::page::long;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

const HEAD: u64 = 32;
const FRAME: u64 = 24;

/// The pages that a WAL holds.
#[derive(Debug)]
pub(super) struct Wal {
    file: File,
    pub(super) page_size: usize,
    /// Offset of the newest content of each page.
    pages: HashMap<u32, u64>,
    pub(super) frames: u64,
    /// Frames of this WAL with a wrong checksum or a damaged header.
    pub(super) damaged: u64,
}

impl Wal {
    /// Reads which pages a WAL holds. Returns `None` if its header is not valid.
    pub(super) fn read(file: File) -> Option<Self> {
        let length = file.metadata().ok()?.len();
        let mut head = [0; HEAD as usize];
        file.read_exact_at(&mut head, 0).ok()?;
        let is_big = match long(&head, 0)? {
            0x377f_0682 => false,
            0x377f_0683 => true,
            _ => return None,
        };
        let page_size = super::source::page_size(long(&head, 8)?)?;
        let mut wal = Self { file, page_size, pages: HashMap::new(), frames: 0, damaged: 0 };
        let mut before = (long(&head, 24)?, long(&head, 28)?);
        // The pages of a transaction whose commit frame has not been read yet.
        let mut waiting: Vec<(u32, u64)> = Vec::new();
        let mut frame = vec![0; FRAME as usize + page_size];
        let mut at = HEAD;
        let mut damaged = 0;
        while at.checked_add(frame.len() as u64).is_some_and(|end| end <= length) {
            wal.file.read_exact_at(&mut frame, at).ok()?;
            let said = (long(&frame, 16)?, long(&frame, 20)?);
            // Frames of an earlier use of the WAL have another salt.
            if frame.get(8..16) == head.get(16..24) {
                let sum = checksum(checksum(before, frame.get(..8)?, is_big), frame.get(FRAME as usize..)?, is_big);
                let (number, size) = (long(&frame, 0)?, long(&frame, 4)?);
                if sum == said && number > 0 {
                    waiting.push((number, at + FRAME));
                    if size > 0 {
                        wal.frames += waiting.len() as u64;
                        wal.damaged += std::mem::take(&mut damaged);
                        wal.pages.extend(waiting.drain(..));
                    }
                } else {
                    damaged += 1;
                }
            } else {
                // A frame whose header is damaged, if frames of this WAL follow it.
                damaged += 1;
            }
            before = said;
            at += frame.len() as u64;
        }
        Some(wal)
    }

    /// Returns the newest content of a page; `None` if the WAL does not hold it.
    pub(super) fn page(&self, number: u32) -> Option<Vec<u8>> {
        let mut page = vec![0; self.page_size];
        self.file.read_exact_at(&mut page, *self.pages.get(&number)?).ok()?;
        Some(page)
    }

    /// Returns the highest page number in the WAL; 0 if it is empty.
    pub(super) fn last(&self) -> u32 {
        self.pages.keys().copied().max().unwrap_or(0)
    }
}

fn checksum(start: (u32, u32), bytes: &[u8], is_big: bool) -> (u32, u32) {
    let word = |four: &[u8]| match four.try_into() {
        Ok(four) if is_big => u32::from_be_bytes(four),
        Ok(four) => u32::from_le_bytes(four),
        Err(_) => 0,
    };
    bytes.chunks_exact(8).fold(start, |(first, second), eight| {
        let (left, right) = eight.split_at(4);
        let first = first.wrapping_add(word(left)).wrapping_add(second);
        (first, second.wrapping_add(word(right)).wrapping_add(first))
    })
}
