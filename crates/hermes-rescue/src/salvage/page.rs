//! One B-tree page: its kind, its cells and its children. Cells that reach beyond the page are treated as missing.

use super::record::varint;

/// The kind of a B-tree page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    IndexInterior,
    TableInterior,
    IndexLeaf,
    TableLeaf,
}

/// A page with the form of a B-tree page.
pub(super) struct Node<'a> {
    pub(super) kind: Kind,
    bytes: &'a [u8],
    usable: usize,
    /// Offset of the cell pointer array.
    places: usize,
    count: usize,
    right: u32,
}

/// A cell with a record, or with the first part of a record that continues on overflow pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cell<'a> {
    /// The rowid in a table; 0 in an index.
    pub(super) rowid: i64,
    /// The length of the whole record, including overflow pages.
    pub(super) length: u64,
    pub(super) local: &'a [u8],
    /// The first overflow page; 0 if there is none.
    pub(super) overflow: u32,
}

impl<'a> Node<'a> {
    /// Reads the header of a page. `base` is 100 on the first page of a file, after the file header, and 0 elsewhere.
    pub(super) fn read(bytes: &'a [u8], base: usize, usable: usize) -> Option<Self> {
        let kind = match bytes.get(base)? {
            2 => Kind::IndexInterior,
            5 => Kind::TableInterior,
            10 => Kind::IndexLeaf,
            13 => Kind::TableLeaf,
            _ => return None,
        };
        let is_interior = matches!(kind, Kind::IndexInterior | Kind::TableInterior);
        let places = base + if is_interior { 12 } else { 8 };
        let count = usize::from(short(bytes, base + 3)?);
        let content = match short(bytes, base + 5)? {
            0 => 65_536,
            content => usize::from(content),
        };
        let is_sane = usize::from(short(bytes, base + 1)?) < usable
            && *bytes.get(base + 7)? <= 60
            && content <= usable
            && places + 2 * count <= content;
        let right = if is_interior { long(bytes, base + 8)? } else { 0 };
        is_sane.then_some(Self { kind, bytes, usable, places, count, right })
    }

    /// Returns the child pages, in order.
    pub(super) fn children(&self) -> Vec<u32> {
        if !matches!(self.kind, Kind::IndexInterior | Kind::TableInterior) {
            return Vec::new();
        }
        self.starts().filter_map(|at| long(self.bytes, at)).chain([self.right]).collect()
    }

    /// Returns the cells that have records: those of a table's leaves and all of an index. `None` stands for a cell
    /// that can't be read.
    pub(super) fn cells(&self) -> impl Iterator<Item = Option<Cell<'a>>> + '_ {
        let has_records = self.kind != Kind::TableInterior;
        self.starts().filter(move |_| has_records).map(|at| self.cell(at))
    }

    /// Returns whether a record lies at the end of the page, where SQLite starts to fill it. This tells whether the
    /// page size is right: with a wrong size, no record lies there.
    pub(super) fn is_filled_from_its_end(&self) -> bool {
        let has_records = self.kind != Kind::TableInterior;
        has_records
            && self.starts().filter_map(|at| self.bounded(at)).any(|(_, end)| end > self.usable - self.usable / 8)
    }

    fn starts(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.count).filter_map(|number| short(self.bytes, self.places + 2 * number)).map(usize::from)
    }

    /// Returns the cell at an offset of the page.
    fn cell(&self, at: usize) -> Option<Cell<'a>> {
        self.bounded(at).map(|(cell, _)| cell)
    }

    /// Returns the cell at an offset of the page, and the offset of its end.
    fn bounded(&self, at: usize) -> Option<(Cell<'a>, usize)> {
        let at = if self.kind == Kind::IndexInterior { at + 4 } else { at };
        let (length, at) = varint(self.bytes, at)?;
        let (rowid, at) = match self.kind {
            Kind::TableLeaf => varint(self.bytes, at)?,
            _ => (0, at),
        };
        let local = usize::try_from(self.local(length)?).ok()?;
        let end = at.checked_add(local).filter(|end| *end <= self.usable)?;
        let overflow = if (local as u64) < length { long(self.bytes, end).filter(|page| *page > 0)? } else { 0 };
        Some((Cell { rowid: rowid.cast_signed(), length, local: self.bytes.get(at..end)?, overflow }, end))
    }

    /// Returns how many bytes of a record of this length are stored on the page itself.
    fn local(&self, length: u64) -> Option<u64> {
        let usable = self.usable as u64;
        let most = if self.kind == Kind::TableLeaf { usable - 35 } else { (usable - 12) * 64 / 255 - 23 };
        if length <= most {
            return Some(length);
        }
        let least = (usable - 12) * 32 / 255 - 23;
        let kept = least + length.checked_sub(least)? % (usable - 4);
        Some(if kept <= most { kept } else { least })
    }

    /// Returns everything that looks like a cell on a table page whose header is lost. The caller has to judge.
    pub(super) fn carve(bytes: &'a [u8], usable: usize) -> impl Iterator<Item = Cell<'a>> {
        let page = Self { kind: Kind::TableLeaf, bytes, usable, places: 0, count: 0, right: 0 };
        (0..usable.min(bytes.len())).filter_map(move |at| page.cell(at).filter(|cell| cell.length > 8))
    }
}

pub(super) fn short(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
}

pub(super) fn long(bytes: &[u8], at: usize) -> Option<u32> {
    let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
    Some(u32::from_be_bytes(four))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A leaf with one row: id 7, a record of one NULL.
    fn leaf() -> Vec<u8> {
        let mut page = vec![0; 512];
        page[0] = 13;
        page[4] = 1;
        (page[5], page[6]) = (1, 252);
        (page[8], page[9]) = (1, 252);
        page[508..].copy_from_slice(&[2, 7, 2, 0]);
        page
    }

    #[test]
    fn a_leaf_has_its_cells() {
        let page = leaf();
        let node = Node::read(&page, 0, 512).unwrap();
        let cells: Vec<_> = node.cells().collect();
        assert_eq!(cells, [Some(Cell { rowid: 7, length: 2, local: &[2, 0], overflow: 0 })]);
        assert_eq!((node.children(), node.count), (Vec::new(), 1));
    }

    #[test]
    fn no_bytes_at_all_make_it_fail() {
        let mut state = 88_172_645_463_325_252_u64;
        for round in 0..20_000 {
            let mut page = if round % 2 == 0 { leaf() } else { vec![0; 512] };
            for _ in 0..1 + round % 40 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                page[(state % 512) as usize] = (state >> 32) as u8;
            }
            page[0] = [2, 5, 10, 13][round % 4];
            if let Some(node) = Node::read(&page, 0, 512) {
                assert!(node.cells().count() <= node.count);
                assert!(node.children().len() <= node.count + 1);
            }
            assert!(Node::carve(&page, 512).count() <= 512);
        }
    }
}
