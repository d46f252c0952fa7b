//! Follows B-trees from their root as far down as possible, and reads pages that no tree leads to any more.

use super::page::{Cell, Kind, Node, long};
use super::record::{Payload, Value, values};
use super::source::Source;
use std::collections::BTreeSet;

/// A row as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) rowid: i64,
    pub(super) values: Vec<Value>,
    /// Whether the end of the row could not be read.
    pub(super) is_cut: bool,
}

/// Records the visited pages, and the pages that could not be read.
pub(super) struct Walker<'a> {
    source: &'a Source,
    seen: Vec<bool>,
    /// Pages that a tree leads to but that are not valid pages of that tree.
    pub(super) broken: BTreeSet<u32>,
}

/// The result of following a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Walked {
    /// Pages and cells that are damaged.
    pub(super) damaged: u64,
}

impl<'a> Walker<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self { source, seen: vec![false; source.last as usize + 1], broken: BTreeSet::new() }
    }

    /// Returns whether a tree has led to this page.
    pub(super) fn is_seen(&self, number: u32) -> bool {
        self.seen.get(number as usize).copied().unwrap_or(true)
    }

    /// Follows a tree from its root. Passes every readable record to `take`, with its rowid if the tree is a table, and
    /// `None` once for each visited page. Each page is visited at most once, so this ends even if the tree has a cycle.
    pub(super) fn walk<E>(
        &mut self,
        root: u32,
        is_table: bool,
        take: &mut impl FnMut(Option<Row>) -> Result<(), E>,
    ) -> Result<Walked, E> {
        let mut walked = Walked::default();
        let mut ahead = vec![root];
        while let Some(number) = ahead.pop() {
            match self.seen.get_mut(number as usize) {
                Some(seen) if !*seen && number > 0 => *seen = true,
                _ => {
                    walked.damaged += 1;
                    continue;
                }
            }
            take(None)?;
            let page = self.source.page(number);
            let node = page.as_deref().and_then(|page| Node::read(page, Source::base(number), self.source.usable));
            let Some(node) = node.filter(|node| is_of(node.kind, is_table)) else {
                walked.damaged += 1;
                self.broken.insert(number);
                continue;
            };
            ahead.extend(node.children().into_iter().rev());
            for cell in node.cells() {
                match cell.and_then(|cell| row(self.source, &cell)) {
                    Some(row) => take(Some(row))?,
                    None => walked.damaged += 1,
                }
            }
        }
        Ok(walked)
    }

    /// Returns whether the tree with this root is a rowid table.
    pub(super) fn is_table_root(&self, number: u32) -> bool {
        let page = self.source.page(number);
        let node = page.as_deref().and_then(|page| Node::read(page, Source::base(number), self.source.usable));
        node.is_some_and(|node| is_of(node.kind, true))
    }

    /// Returns the rows of a table leaf that no tree leads to; empty if the page is not a table leaf.
    pub(super) fn leaf(&mut self, number: u32) -> Vec<Row> {
        let page = self.source.page(number);
        let node = page.as_deref().and_then(|page| Node::read(page, Source::base(number), self.source.usable));
        let Some(node) = node.filter(|node| node.kind == Kind::TableLeaf) else { return Vec::new() };
        node.cells().flatten().filter_map(|cell| row(self.source, &cell)).collect()
    }

    /// Returns everything that may be a row on a page without a header.
    pub(super) fn carve(&self, number: u32) -> Vec<Row> {
        let Some(page) = self.source.page(number) else { return Vec::new() };
        Node::carve(&page, self.source.usable)
            .filter(|cell| cell.rowid > 0)
            .filter_map(|cell| row(self.source, &cell))
            .collect()
    }
}

const fn is_of(kind: Kind, is_table: bool) -> bool {
    matches!(kind, Kind::TableInterior | Kind::TableLeaf) == is_table
}

/// Length of a run of zero bytes that occurs in no text, but in every sector that was never written.
const GAP: usize = 16;

fn row(source: &Source, cell: &Cell<'_>) -> Option<Row> {
    let payload: Payload = source.payload(cell)?;
    let mut is_cut = payload.is_cut();
    let mut values = values(&payload, source.encoding)?;
    for value in &mut values {
        if let Value::Text(text) = value
            && let Some(gap) = text.windows(GAP).position(|window| window.iter().all(|byte| *byte == 0))
        {
            text.truncate(gap);
            is_cut = true;
        }
    }
    Some(Row { rowid: cell.rowid, values, is_cut })
}

/// Free pages according to the freelist and the pointer map of the file.
pub(super) struct Free {
    pages: BTreeSet<u32>,
    /// Whether the freelist could be read to its end and has the length stated in the header.
    pub(super) is_whole: bool,
    /// How many pages one page of the pointer map covers, plus one for itself; 0 without a pointer map.
    span: u32,
}

impl Free {
    pub(super) fn read(source: &Source) -> Self {
        let mut free = Self { pages: BTreeSet::new(), is_whole: source.has_head, span: 0 };
        if source.head(52) != 0 {
            free.span = u32::try_from(source.usable / 5 + 1).unwrap_or(0);
        }
        let (mut trunk, expected) = (source.head(32), source.head(36));
        while trunk != 0 {
            let Some(page) = source.page(trunk).filter(|_| free.pages.insert(trunk)) else {
                free.is_whole = false;
                break;
            };
            let count = long(&page, 4).unwrap_or(u32::MAX) as usize;
            if count > source.usable / 4 - 2 {
                free.is_whole = false;
                break;
            }
            free.pages.extend((0..count).filter_map(|place| long(&page, 8 + 4 * place)));
            trunk = long(&page, 0).unwrap_or(0);
        }
        free.is_whole &= free.pages.len() == expected as usize;
        free
    }

    /// Returns whether a page is known to be free or to hold no table rows.
    pub(super) fn has(&self, source: &Source, number: u32) -> bool {
        if self.pages.contains(&number) {
            return true;
        }
        if self.span == 0 || number < 3 {
            return false;
        }
        let map = 2 + (number - 2) / self.span * self.span;
        let at = 5 * number.saturating_sub(map + 1) as usize;
        // 2: free page; 3 and 4: overflow pages.
        number == map
            || source.page(map).and_then(|page| page.get(at).copied()).is_some_and(|kind| matches!(kind, 2..=4))
    }
}
