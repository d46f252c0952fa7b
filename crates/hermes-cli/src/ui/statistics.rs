//! Statistics of a store: facts, then tables by source, by model and by disk usage, with bars if there is room.

use anstyle::Style;
use hermes_session::{IndexHealth, ModelStatistics, Room, SourceStatistics, Statistics, StoreStatus};
use hermes_terminal::Line;
use hermes_terminal::bars::{barred, named, table};
use hermes_terminal::figures::{dollars, number, short, size};
use hermes_terminal::layout::cut;
use hermes_terminal::time::Now;
use std::cmp::Reverse;

/// Maximum number of models shown.
const MAX_MODELS: usize = 15;

/// Returns the statistics of a store, in at most `columns`.
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

/// Returns all sources, ordered by messages, descending.
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

/// Returns the models ordered by cost, then by use.
fn models(statistics: &Statistics, columns: usize) -> Vec<Line> {
    let mut rows: Vec<(&str, &ModelStatistics)> =
        statistics.models.iter().map(|(model, counted)| (model.as_deref().unwrap_or("(no model)"), counted)).collect();
    rows.sort_by(|(one, a), (other, b)| {
        let cost = |counted: &ModelStatistics| counted.cost_usd.unwrap_or(0.0);
        cost(b)
            .total_cmp(&cost(a))
            .then(tokens(b).cmp(&tokens(a)))
            .then(b.sessions.cmp(&a.sessions))
            .then(one.cmp(other))
    });
    let hidden = rows.len().saturating_sub(MAX_MODELS);
    rows.truncate(MAX_MODELS);
    let cost = |counted: &ModelStatistics| counted.cost_usd.map_or_else(|| "—".to_owned(), dollars).into();
    let wide = |(name, counted): &(&str, &ModelStatistics)| {
        let used = &counted.usage;
        let cached = used.cache_read_tokens.saturating_add(used.cache_write_tokens);
        let counts = [used.input_tokens, used.output_tokens, cached].map(|count| short(count).into());
        [vec![named(name), number(counted.sessions).into()], counts.to_vec(), vec![cost(counted)]].concat()
    };
    let narrow =
        |(name, counted): &(&str, &ModelStatistics)| vec![named(name), short(tokens(counted)).into(), cost(counted)];
    let full = table(&["Model", "Sessions", "Input", "Output", "Cached", "Cost"], rows.iter().map(wide).collect());
    let shown = match full.least_width() <= columns {
        true => full,
        false => table(&["Model", "Tokens", "Cost"], rows.iter().map(narrow).collect()),
    };
    let is_priced = rows.iter().any(|(_, counted)| counted.cost_usd.is_some_and(|cost| cost > 0.0));
    let amount =
        |counted: &ModelStatistics| if is_priced { counted.cost_usd.unwrap_or(0.0) } else { tokens(counted) as f64 };
    let mut lines = barred(shown, &rows.iter().map(|(_, counted)| amount(counted)).collect::<Vec<_>>(), columns);
    if hidden > 0 {
        lines.push(Line::styled(format!("… and {hidden} more (--json lists all)"), Style::new().dimmed()));
    }
    lines
}

fn tokens(counted: &ModelStatistics) -> i64 {
    let used = &counted.usage;
    [used.output_tokens, used.cache_read_tokens, used.cache_write_tokens]
        .into_iter()
        .fold(used.input_tokens, i64::saturating_add)
}

/// Returns the disk usage by part, each with its share of the whole.
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
    let table = table(&["Disk usage", "Size"], rows.iter().map(cells).collect());
    let bars: Vec<f64> =
        rows.iter().enumerate().map(|(at, (_, bytes))| if at < parts.len() { *bytes as f64 } else { 0.0 }).collect();
    let mut lines = barred(table, &bars, columns);
    if !is_measured {
        lines.push(Line::styled("--sizes measures messages and indexes", Style::new().dimmed()));
    }
    lines
}
