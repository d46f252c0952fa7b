//! How much a store holds: facts, then tables by source, by model and by what takes room, with bars where there is room for them.

use anstyle::Style;
use hermes_session::{IndexHealth, ModelStatistics, Room, SourceStatistics, Statistics, StoreStatus};
use hermes_terminal::Line;
use hermes_terminal::bars::{barred, named, table};
use hermes_terminal::figures::{dollars, number, short, size};
use hermes_terminal::layout::cut;
use hermes_terminal::time::Now;
use std::cmp::Reverse;

/// How many models are shown to a person.
const MAX_MODELS: usize = 15;

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
    let hidden = rows.len().saturating_sub(MAX_MODELS);
    rows.truncate(MAX_MODELS);
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
