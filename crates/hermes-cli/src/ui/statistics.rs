//! How much a store holds: facts, then tables by source, by model and by what takes room, with bars where there is room for them.

use super::checks::{dollars, number, short, size};
use super::layout::{cut, width};
use super::table::{Column, Table};
use super::time::Now;
use super::{Line, Visible};
use anstyle::{AnsiColor, Style};
use hermes_session::{IndexHealth, ModelStatistics, Room, SourceStatistics, Statistics, StoreStatus};
use std::cmp::Reverse;

const LEAST_NAME: usize = 8;
/// Shorter bars tell nothing, longer ones nothing more.
const LEAST_BAR: usize = 6;
const MOST_BAR: usize = 30;
/// How many models are shown to a person.
const MOST_MODELS: usize = 15;
const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// The lines of what a store holds, in at most `columns`.
pub(crate) fn lines(
    status: &StoreStatus,
    statistics: &Statistics,
    room: Option<&Room>,
    now: &Now,
    columns: usize,
) -> Vec<Line> {
    let mut lines = facts(status, statistics, now, columns);
    if statistics.sources.is_empty() {
        return lines;
    }
    lines.push(Line::default());
    lines.extend(sources(statistics, columns));
    lines.push(Line::default());
    lines.extend(models(statistics, columns));
    lines.push(Line::default());
    lines.extend(sizes(status, room, columns));
    lines
}

fn facts(status: &StoreStatus, statistics: &Statistics, now: &Now, columns: usize) -> Vec<Line> {
    let total = statistics.total();
    let open = total.sessions.saturating_sub(statistics.ended);
    let health = match &status.indexes {
        IndexHealth::Whole => None,
        IndexHealth::Behind { messages } => Some(format!("{} messages are not indexed yet", number(*messages))),
        IndexHealth::Broken { why } => Some(format!("can't be used: {why}")),
    };
    let known = [
        ("store", Some(status.location.clone())),
        ("conversations", Some(number(total.conversations))),
        ("sessions", Some(number(total.sessions))),
        ("  open", Some(number(open))),
        ("  ended", Some(number(statistics.ended))),
        ("messages", Some(number(total.messages))),
        ("oldest", statistics.oldest.map(|at| now.day_and_minute(at))),
        ("newest", statistics.newest.map(|at| now.day_and_minute(at))),
        ("indexes", health),
    ];
    let line = |(name, value): (&str, Option<String>)| {
        let room = columns.saturating_sub(15);
        Some(Line::styled(format!("{name:<15}"), Style::new().dimmed()).text(cut(&value?.into(), room)))
    };
    known.into_iter().filter_map(line).collect()
}

/// Every source, the one with the most messages first.
fn sources(statistics: &Statistics, columns: usize) -> Vec<Line> {
    let mut rows: Vec<(&str, SourceStatistics)> =
        statistics.sources.iter().map(|(source, counts)| (source.as_str(), *counts)).collect();
    rows.sort_by_key(|(name, counts)| (Reverse((counts.messages, counts.sessions)), *name));
    let heads = if columns < 50 {
        ["Source", "Convs", "Sessions", "Messages"]
    } else {
        ["Source", "Conversations", "Sessions", "Messages"]
    };
    let cells = |(name, counts): &(&str, SourceStatistics)| {
        let counts = [counts.conversations, counts.sessions, counts.messages].map(|count| number(count).into());
        [vec![named(name)], counts.to_vec()].concat()
    };
    let table = table(&heads, rows.iter().map(cells).collect());
    barred(table, &rows.iter().map(|(_, counts)| counts.messages as f64).collect::<Vec<_>>(), columns)
}

/// The models that cost most, then those that were used most.
fn models(statistics: &Statistics, columns: usize) -> Vec<Line> {
    let mut rows: Vec<(&str, &ModelStatistics)> =
        statistics.models.iter().map(|(model, told)| (model.as_deref().unwrap_or("(no model)"), told)).collect();
    rows.sort_by(|(one, a), (other, b)| {
        let cost = |told: &ModelStatistics| told.cost_usd.unwrap_or(0.0);
        cost(b)
            .total_cmp(&cost(a))
            .then(tokens(b).cmp(&tokens(a)))
            .then(b.sessions.cmp(&a.sessions))
            .then(one.cmp(other))
    });
    let hidden = rows.len().saturating_sub(MOST_MODELS);
    rows.truncate(MOST_MODELS);
    let cost = |told: &ModelStatistics| told.cost_usd.map_or_else(|| "—".to_owned(), dollars).into();
    let wide = |(name, told): &(&str, &ModelStatistics)| {
        let used = &told.usage;
        let cached = used.cache_read_tokens.saturating_add(used.cache_write_tokens);
        let counts = [used.input_tokens, used.output_tokens, cached].map(|count| short(count).into());
        [vec![named(name), number(told.sessions).into()], counts.to_vec(), vec![cost(told)]].concat()
    };
    let narrow = |(name, told): &(&str, &ModelStatistics)| vec![named(name), short(tokens(told)).into(), cost(told)];
    let full = table(&["Model", "Sessions", "Input", "Output", "Cached", "Cost"], rows.iter().map(wide).collect());
    let shown = match full.least_width() <= columns {
        true => full,
        false => table(&["Model", "Tokens", "Cost"], rows.iter().map(narrow).collect()),
    };
    let is_priced = rows.iter().any(|(_, told)| told.cost_usd.is_some_and(|cost| cost > 0.0));
    let amount = |told: &ModelStatistics| if is_priced { told.cost_usd.unwrap_or(0.0) } else { tokens(told) as f64 };
    let mut lines = barred(shown, &rows.iter().map(|(_, told)| amount(told)).collect::<Vec<_>>(), columns);
    if hidden > 0 {
        lines.push(Line::styled(format!("… and {hidden} more (--json lists all)"), Style::new().dimmed()));
    }
    lines
}

fn tokens(told: &ModelStatistics) -> i64 {
    let used = &told.usage;
    [used.output_tokens, used.cache_read_tokens, used.cache_write_tokens]
        .into_iter()
        .fold(used.input_tokens, i64::saturating_add)
}

/// What takes room, and how much of all.
fn sizes(status: &StoreStatus, room: Option<&Room>, columns: usize) -> Vec<Line> {
    let mut parts: Vec<(&str, u64)> = Vec::new();
    if let Some(room) = room {
        parts.extend([("messages", room.text()), ("indexes", room.indexes)]);
    }
    parts.push(("free", status.free_bytes));
    let is_measured = room.is_some();
    let total =
        [("store", status.bytes)].into_iter().chain(room.map(|room| ("log", room.log)).filter(|part| part.1 > 0));
    let rows: Vec<(&str, u64)> = parts.iter().copied().chain(total).collect();
    let cells = |(name, bytes): &(&str, u64)| vec![named(name), size(*bytes).into()];
    let table = table(&["Room", "Size"], rows.iter().map(cells).collect());
    let bars: Vec<f64> =
        rows.iter().enumerate().map(|(at, (_, bytes))| if at < parts.len() { *bytes as f64 } else { 0.0 }).collect();
    let mut lines = barred(table, &bars, columns);
    if !is_measured {
        lines.push(Line::styled("--sizes measures messages and indexes", Style::new().dimmed()));
    }
    lines
}

fn named(name: &str) -> Visible {
    Visible::line(name)
}

/// A table whose first column is a name that may be cut; the others are numbers.
fn table(heads: &[&'static str], rows: Vec<Vec<Visible>>) -> Table {
    let column = |(index, head): (usize, &&'static str)| Column {
        head,
        style: if index == 0 { Style::new().fg_color(Some(AnsiColor::Cyan.into())) } else { Style::new() },
        least: (index == 0).then_some(LEAST_NAME),
        is_number: index > 0,
    };
    Table { columns: heads.iter().enumerate().map(column).collect(), rows }
}

/// A table with a bar behind each row, if there is room for bars.
fn barred(table: Table, amounts: &[f64], columns: usize) -> Vec<Line> {
    let most = amounts.iter().copied().fold(0.0, f64::max);
    let mut lines = table.lines(columns);
    let used = lines.iter().map(|line| width(&line.plain().into())).max().unwrap_or(0);
    let room = columns.saturating_sub(used + 2).min(MOST_BAR);
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

/// A bar of so much of `columns`, in eighths of a column; what there is at all is seen.
fn bar(part: f64, columns: usize) -> String {
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
