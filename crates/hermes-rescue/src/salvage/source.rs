//! The damaged file and its WAL, page by page. Both are only read, and never through SQLite, which would recover,
//! checkpoint or lock them.
//!
//! Closing a descriptor of the file drops all locks of the process on it, so the file must not be open as a store in
//! the same process.

use super::page::{Cell, Node, long};
use super::record::{Encoding, Payload};
use super::wal::Wal;
use hermes_sqlite::file::beside;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// How many pages are sampled to find the page size.
const SAMPLE: u64 = 256;
/// The longest record that is read: SQLite's own limit.
const LONGEST: u64 = 1_000_000_000;

/// A file that is read page by page.
pub(super) struct Source {
    file: File,
    length: u64,
    pub(super) wal: Option<Wal>,
    pub(super) page_size: usize,
    /// Bytes of a page that SQLite uses: the page size without the reserved bytes.
    pub(super) usable: usize,
    /// The number of the last page.
    pub(super) last: u32,
    pub(super) encoding: Encoding,
    /// Whether the file has a valid header.
    pub(super) has_head: bool,
}

/// Decodes a page size as headers store it; `None` if it is not a valid one.
pub(super) fn page_size(said: u32) -> Option<usize> {
    let size = if said == 1 { 65_536 } else { said as usize };
    (size.is_power_of_two() && (512..=65_536).contains(&size)).then_some(size)
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, io::Error> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let wal = File::open(beside(path, "-wal")).ok().and_then(Wal::read);
        let mut head = vec![0; 100.min(usize::try_from(length).unwrap_or(100))];
        file.read_exact_at(&mut head, 0)?;
        // The WAL may hold a newer header, or the only one that is left.
        let newer = wal.as_ref().and_then(|wal| wal.page(1)).filter(|page| page.starts_with(MAGIC));
        if let Some(page) = newer {
            head = page.into_iter().take(100).collect();
        }
        let has_head = head.starts_with(MAGIC);
        let said = super::page::short(&head, 16).and_then(|size| page_size(u32::from(size))).filter(|_| has_head);
        let page_size = best_page_size(&file, length, said.or_else(|| wal.as_ref().map(|wal| wal.page_size)));
        let wal = wal.filter(|wal| wal.page_size == page_size);
        let reserved = head.get(20).copied().filter(|reserved| has_head && *reserved <= 64).unwrap_or(0);
        let encoding = match long(&head, 56).filter(|_| has_head) {
            Some(2) => Encoding::Utf16Little,
            Some(3) => Encoding::Utf16Big,
            _ => Encoding::Utf8,
        };
        let last = u32::try_from(length.div_ceil(page_size as u64)).unwrap_or(u32::MAX);
        let last = last.max(wal.as_ref().map_or(0, Wal::last));
        Ok(Self { file, length, wal, page_size, usable: page_size - usize::from(reserved), last, encoding, has_head })
    }

    /// Returns the bytes of a page. The last page of a truncated file is shorter.
    pub(super) fn page(&self, number: u32) -> Option<Vec<u8>> {
        if number == 0 || number > self.last {
            return None;
        }
        if let Some(page) = self.wal.as_ref().and_then(|wal| wal.page(number)) {
            return Some(page);
        }
        let start = u64::from(number - 1) * self.page_size as u64;
        let there = usize::try_from(self.length.saturating_sub(start)).unwrap_or(usize::MAX).min(self.page_size);
        let mut page = vec![0; there];
        // An unreadable sector counts as a missing page.
        self.file.read_exact_at(&mut page, start).ok()?;
        Some(page)
    }

    /// Returns the offset of the B-tree header in a page.
    pub(super) const fn base(number: u32) -> usize {
        if number == 1 { 100 } else { 0 }
    }

    /// Returns a number from the file header.
    pub(super) fn head(&self, at: usize) -> u32 {
        self.page(1).filter(|_| self.has_head).and_then(|page| long(&page, at)).unwrap_or(0)
    }

    /// Returns the record of a cell, following its overflow pages as long as they are valid.
    pub(super) fn payload(&self, cell: &Cell<'_>) -> Option<Payload> {
        if cell.length > LONGEST || cell.length > u64::from(self.last) * self.page_size as u64 {
            return None;
        }
        let mut bytes = cell.local.to_vec();
        let mut next = cell.overflow;
        while (bytes.len() as u64) < cell.length {
            let Some(page) = self.page(next) else { break };
            let (Some(follows), Some(content)) = (long(&page, 0), page.get(4..self.usable)) else { break };
            let left = usize::try_from(cell.length - bytes.len() as u64).unwrap_or(usize::MAX);
            let part = content.get(..left.min(content.len())).unwrap_or_default();
            // The last overflow page has no successor, and each one before it has. A zeroed page has none either.
            let is_last = left <= content.len();
            if is_last != (follows == 0) || follows > self.last || part.iter().all(|byte| *byte == 0) {
                break;
            }
            bytes.extend_from_slice(part);
            next = follows;
        }
        Some(Payload { bytes, length: cell.length })
    }
}

/// Returns the page size: the one in the header, unless the pages themselves clearly fit another one better.
fn best_page_size(file: &File, length: u64, said: Option<usize>) -> usize {
    let fitting = |size: usize| {
        let step = (length / size as u64 / SAMPLE).max(1);
        let mut page = vec![0; size];
        let (mut seen, mut fit) = (0_u64, 0_u64);
        let mut number = step;
        while number < length / size as u64 && seen < SAMPLE {
            seen += 1;
            let is_read = file.read_exact_at(&mut page, number * size as u64).is_ok();
            fit += u64::from(is_read && Node::read(&page, 0, size).is_some_and(|node| node.is_filled_from_its_end()));
            number += step;
        }
        // In thousandths of the sample, because larger pages are fewer.
        (fit * 1_000).checked_div(seen).unwrap_or(0)
    };
    let best = (9..=16).map(|power| 1_usize << power).map(|size| (fitting(size), size)).max();
    match (said, best) {
        (Some(said), Some((fit, _))) if fitting(said) * 2 >= fit => said,
        (Some(said), None) => said,
        (_, Some((fit, size))) if fit > 0 => size,
        (said, _) => said.unwrap_or(4_096),
    }
}
