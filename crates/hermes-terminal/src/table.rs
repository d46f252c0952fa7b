//! Tables that fit the terminal: columns shrink to their least width, nothing else is cut.

use crate::layout::{fit, right, width};
use crate::{Line, Visible};
use anstyle::Style;

/// Spaces between two columns.
const GAP: usize = 2;

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// The heading.
    pub head: &'static str,
    /// The style of the cells.
    pub style: Style,
    /// The least width in columns; `None` if cells must not be cut.
    pub least: Option<usize>,
    /// Whether cells are aligned to the right.
    pub is_number: bool,
}

/// Rows under headings.
#[derive(Debug, Clone)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The cells of each row, one for each column.
    pub rows: Vec<Vec<Visible>>,
}

impl Table {
    /// Returns the least width of the terminal in which it can be drawn.
    pub fn least_width(&self) -> usize {
        let least = self
            .columns
            .iter()
            .zip(self.natural())
            .map(|(column, natural)| column.least.map_or(natural, |least| least.min(natural)));
        least.sum::<usize>() + self.gaps()
    }

    /// Returns the headings, a rule and the rows, in at most `columns` if that is possible.
    pub fn lines(&self, columns: usize) -> Vec<Line> {
        let widths = self.widths(columns);
        let heads = self.columns.iter().map(|column| Visible::line(column.head)).collect::<Vec<_>>();
        let bold = vec![Style::new().bold(); heads.len()];
        let styles: Vec<Style> = self.columns.iter().map(|column| column.style).collect();
        let total = widths.iter().sum::<usize>() + self.gaps();
        let mut lines = vec![self.row(&heads, &widths, &bold), Line::styled("─".repeat(total), Style::new().dimmed())];
        lines.extend(self.rows.iter().map(|row| self.row(row, &widths, &styles)));
        lines
    }

    fn row(&self, cells: &[Visible], widths: &[usize], styles: &[Style]) -> Line {
        let last = cells.len().saturating_sub(1);
        let mut line = Line::default();
        for (index, cell) in cells.iter().enumerate() {
            let column = &self.columns[index];
            let text = match column.is_number {
                true => right(cell, widths[index]),
                // The last column is not padded, so that no line ends in spaces.
                false if index == last => cell.clone(),
                false => fit(cell, widths[index]),
            };
            line = line.with(text, styles[index]);
            if index < last {
                line = line.text("  ");
            }
        }
        line
    }

    fn gaps(&self) -> usize {
        GAP * self.columns.len().saturating_sub(1)
    }

    fn natural(&self) -> Vec<usize> {
        let column = |index: usize| {
            let cells = self.rows.iter().filter_map(move |row| row.get(index)).map(width);
            cells.chain([width(&Visible::line(self.columns[index].head))]).max().unwrap_or(0)
        };
        (0..self.columns.len()).map(column).collect()
    }

    /// Narrows the widest column that may still shrink, by one column at a time, until the table fits.
    fn widths(&self, columns: usize) -> Vec<usize> {
        let mut widths = self.natural();
        let mut excess = (widths.iter().sum::<usize>() + self.gaps()).saturating_sub(columns);
        while excess > 0 {
            let room = |index: &usize| {
                let spare = self.columns[*index].least.map_or(0, |least| widths[*index].saturating_sub(least));
                (spare > 0).then_some(widths[*index])
            };
            let Some(widest) = (0..widths.len()).filter(|index| room(index).is_some()).max_by_key(|index| room(index))
            else {
                break;
            };
            widths[widest] -= 1;
            excess -= 1;
        }
        widths
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let column = |head, least, is_number| Column { head, style: Style::new(), least, is_number };
        let row = |cells: [&str; 3]| cells.into_iter().map(Visible::line).collect();
        Table {
            columns: vec![column("Name", Some(4), false), column("N", None, true), column("ID", None, false)],
            rows: vec![row(["大别山 mountains", "7", "abc"]), row(["—", "1234", "abcdef"])],
        }
    }

    #[track_caller]
    fn check(columns: usize, expect: &[&str]) {
        let lines: Vec<String> = table().lines(columns).iter().map(Line::plain).collect();
        assert_eq!(lines, expect);
    }

    #[test]
    fn columns_give_way_and_ids_do_not() {
        check(
            80,
            &[
                "Name                 N  ID",
                "──────────────────────────────",
                "大别山 mountains     7  abc",
                "—                 1234  abcdef",
            ],
        );
        check(18, &["Name     N  ID", "──────────────────", "大…      7  abc", "—     1234  abcdef"]);
        assert_eq!(table().least_width(), 4 + 2 + 4 + 2 + 6);
    }
}
