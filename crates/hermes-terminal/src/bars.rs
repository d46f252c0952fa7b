//! Tables of numbers, with a bar behind each row where there is room for one.

use crate::layout::width;
use crate::table::{Column, Table};
use crate::{Line, Visible};
use anstyle::{AnsiColor, Style};

/// The least width of a name, in columns.
const LEAST_NAME: usize = 8;
/// The least width of a bar, in columns. A shorter one shows nothing.
const LEAST_BAR: usize = 6;
/// The greatest width of a bar, in columns. A longer one shows nothing more.
pub const MAX_BAR: usize = 30;
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// Returns a name for a cell.
pub fn named(name: &str) -> Visible {
    Visible::line(name)
}

/// Returns a table whose first column is a name that may be cut; the others are numbers.
pub fn table(heads: &[&'static str], rows: Vec<Vec<Visible>>) -> Table {
    let column = |(index, head): (usize, &&'static str)| Column {
        head,
        style: if index == 0 { Style::new().fg_color(Some(AnsiColor::Cyan.into())) } else { Style::new() },
        least: (index == 0).then_some(LEAST_NAME),
        is_number: index > 0,
    };
    Table { columns: heads.iter().enumerate().map(column).collect(), rows }
}

/// Returns the lines of a table, with a bar for the amount behind each row if there is room for bars.
pub fn barred(table: Table, amounts: &[f64], columns: usize) -> Vec<Line> {
    let most = amounts.iter().copied().fold(0.0, f64::max);
    let mut lines = table.lines(columns);
    let used = lines.iter().map(|line| width(&line.plain().into())).max().unwrap_or(0);
    let room = columns.saturating_sub(used + 2).min(MAX_BAR);
    if room < LEAST_BAR || most <= 0.0 {
        return lines;
    }
    let green = Style::new().fg_color(Some(AnsiColor::Green.into()));
    for (line, amount) in lines.iter_mut().skip(2).zip(amounts) {
        let bar = bar(amount / most, room);
        if !bar.is_empty() {
            *line = std::mem::take(line).text("  ").with(bar, green);
        }
    }
    lines
}

/// Returns a bar over `part` (0 to 1) of `columns`, in eighths of a column. A part above 0 has at least one eighth.
pub fn bar(part: f64, columns: usize) -> String {
    let eighths = (part.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    let eighths = if part > 0.0 { eighths.max(1) } else { 0 };
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_part() {
        for (part, expect) in [(0.0, ""), (1.0, "████"), (0.5, "██"), (0.1, "▍"), (1e-9, "▏"), (7.0, "████")]
        {
            assert_eq!(bar(part, 4), expect, "{part}");
        }
    }
}
