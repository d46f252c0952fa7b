//! The narrow layout of lists: a few short lines per conversation, where a table does not fit.

use anstyle::Style;
use hermes_terminal::layout::{cut, width};
use hermes_terminal::table::Table;
use hermes_terminal::{Line, Visible};

/// Columns by which lines without a number are indented.
const INDENT: usize = 2;

/// A conversation of a list.
pub(crate) struct Entry<'a> {
    /// The number of the row, padded; empty in lists without numbers.
    pub(crate) head: Visible,
    /// Its title, or what stands in for it.
    pub(crate) name: Visible,
    /// The other cells, most important first.
    pub(crate) facts: Vec<String>,
    pub(crate) id: &'a str,
}

impl Entry<'_> {
    /// Returns lines of at most `columns`: the name, cut; as many lines of whole facts as are needed; the id, never
    /// cut.
    pub(crate) fn lines(&self, columns: usize) -> Vec<Line> {
        let dim = Style::new().dimmed();
        let head = width(&self.head);
        let margin = if head == 0 { INDENT } else { head };
        let indent = || Line::plain_text(" ".repeat(margin));
        let name = cut(&self.name, columns.saturating_sub(head));
        let name = Line::styled(self.head.clone(), dim).with(name, Style::new().bold());
        let room = columns.saturating_sub(margin);
        let facts = packed(&self.facts, room).into_iter().map(|line| indent().text(cut(&line, room)));
        [name].into_iter().chain(facts).chain([indent().with(self.id, dim)]).collect()
    }
}

/// Joins facts to lines of at most `columns`. A fact that is longer has a line of its own.
fn packed(facts: &[String], columns: usize) -> Vec<Visible> {
    let mut lines: Vec<Visible> = Vec::new();
    for fact in facts {
        let joined = lines.last().map(|line| Visible::from(format!("{line} · {fact}")));
        match (joined.filter(|joined| width(joined) <= columns), lines.last_mut()) {
            (Some(joined), Some(last)) => *last = joined,
            _ => lines.push(fact.as_str().into()),
        }
    }
    lines
}

/// Returns the lines of a table, or of its entries if it does not fit.
pub(crate) fn table_or_entries<'a>(
    table: &Table,
    entries: impl Iterator<Item = Entry<'a>>,
    columns: usize,
) -> Vec<Line> {
    if table.least_width() <= columns {
        table.lines(columns)
    } else {
        entries.flat_map(|entry| entry.lines(columns)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_kept_together_and_ids_are_whole() {
        let entry = |head: &str| Entry {
            head: head.into(),
            name: "a rather long title".into(),
            facts: ["2025-03-05", "telegram", "1 message", "x"].map(str::to_owned).into(),
            id: "20250305_091523_a1b2c3",
        };
        let plain = |head: &str| entry(head).lines(16).iter().map(Line::plain).collect::<Vec<_>>();
        let expect = ["a rather long t…", "  2025-03-05", "  telegram", "  1 message · x", "  20250305_091523_a1b2c3"];
        assert_eq!(plain(""), expect);
        assert_eq!(plain("12 ")[..2], ["12 a rather lon…", "   2025-03-05"]);
    }
}
