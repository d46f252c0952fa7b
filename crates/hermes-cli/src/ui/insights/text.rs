//! The report on a terminal: facts, tables with bars, and charts, fitted to its width.

use super::{Fact, PEAKS, Report, WEEKDAYS, chart, distinction, share, value};
use crate::program;
use anstyle::{AnsiColor, Style};
use hermes_session::insights::Tally;
use hermes_terminal::bars::{MAX_BAR, bar, barred, named, table};
use hermes_terminal::figures::{dollars, number, plural, short};
use hermes_terminal::layout::{cut, width, wrap};
use hermes_terminal::{Line, Visible};

/// Maximum number of rows in each table.
const MAX_MODELS: usize = 15;
const MAX_TOOLS: usize = 15;
const MAX_SKILLS: usize = 10;
/// The span, in days, suggested if a shorter one has no sessions.
const YEAR: u32 = 365;
/// Height of the chart of hours, in lines.
const HEIGHT: usize = 4;
/// Minimum width for facts in two columns, in columns of the terminal.
const TWO_COLUMNS: usize = 64;
const NAME: usize = 18;

/// Returns the lines of a report, in at most `columns`.
pub(crate) fn lines(report: &Report<'_>, columns: usize) -> Vec<Line> {
    if report.is_empty() {
        let longer = (report.days < YEAR)
            .then(|| format!("A longer span may have some: `{} insights --days {YEAR}`.", program::name()));
        let texts = [report.nothing()].into_iter().chain(longer);
        return texts.flat_map(|text| wrapped(text, columns, Style::new())).collect();
    }
    let mut lines = wrapped(format!("Insights: {}", report.span()), columns, Style::new().bold());
    lines.extend(wrapped(report.period(), columns, Style::new().dimmed()));
    let parts = [
        overview(report, columns),
        models(report, columns),
        platforms(report, columns),
        tools(report, columns),
        skills(report, columns),
        activity(report, columns),
        notable(report, columns),
    ];
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        lines.push(Line::default());
        lines.extend(part);
    }
    lines
}

fn wrapped(text: impl Into<Visible>, columns: usize, style: Style) -> Vec<Line> {
    wrap(&text.into(), columns).into_iter().map(|line| Line::styled(line, style)).collect()
}

fn overview(report: &Report<'_>, columns: usize) -> Vec<Line> {
    let shown = |facts: Vec<Fact>| -> Vec<_> {
        facts.into_iter().map(|fact| (fact.name, format!("{}{}", fact.value, fact.unit))).collect()
    };
    let [talk, cost] = report.overview().map(shown);
    if columns < TWO_COLUMNS {
        return talk.into_iter().chain(cost).map(|fact| self::fact(fact, columns)).collect();
    }
    let half = columns.min(80) / 2;
    let rows = talk.len().max(cost.len());
    let line = |row: usize| {
        let left = talk.get(row).map_or_else(Line::default, |fact| self::fact(fact.clone(), half - 2));
        let Some(right) = cost.get(row) else { return left };
        let missing = half - width(&left.plain().into());
        let (name, value) = right;
        left.text(" ".repeat(missing))
            .with(format!("{name:<NAME$}"), Style::new().dimmed())
            .text(cut(&value.clone().into(), columns - half - NAME))
    };
    (0..rows).map(line).collect()
}

fn fact((name, value): (&'static str, String), columns: usize) -> Line {
    let name_room = NAME.min(columns.saturating_sub(4));
    let name = cut(&name.into(), name_room);
    let pad = name_room - width(&name);
    Line::styled(format!("{name}{:pad$}", ""), Style::new().dimmed())
        .text(cut(&value.into(), columns.saturating_sub(name_room)))
}

fn cost(tally: &Tally) -> Visible {
    tally.cost_usd.map_or_else(|| "—".to_owned(), dollars).into()
}

fn models(report: &Report<'_>, columns: usize) -> Vec<Line> {
    let all = report.models();
    let rows = &all[..all.len().min(MAX_MODELS)];
    let wide = |(name, tally): &(&str, &Tally)| {
        let used = &tally.usage;
        let cached = used.cache_read_tokens.saturating_add(used.cache_write_tokens);
        let counts = [used.input_tokens, used.output_tokens, cached].map(|count| short(count).into());
        let calls = number(tally.tool_calls).into();
        [vec![named(name), number(tally.conversations).into()], counts.to_vec(), vec![calls, cost(tally)]].concat()
    };
    let narrow = |(name, tally): &(&str, &Tally)| vec![named(name), short(tally.tokens()).into(), cost(tally)];
    let full =
        table(&["Model", "Convs", "Input", "Output", "Cached", "Calls", "Cost"], rows.iter().map(wide).collect());
    let shown = match full.least_width() <= columns {
        true => full,
        false => table(&["Model", "Tokens", "Cost"], rows.iter().map(narrow).collect()),
    };
    let amounts: Vec<f64> = rows.iter().map(|(_, tally)| tally.tokens() as f64).collect();
    with_more(barred(shown, &amounts, columns), all.len(), MAX_MODELS)
}

fn platforms(report: &Report<'_>, columns: usize) -> Vec<Line> {
    let rows = report.platforms();
    if rows.is_empty() {
        return Vec::new();
    }
    let wide = |(name, tally): &(&str, &Tally)| {
        let counts = [tally.conversations, tally.messages.all(), tally.tool_calls].map(|count| number(count).into());
        [vec![named(name)], counts.to_vec(), vec![short(tally.tokens()).into(), cost(tally)]].concat()
    };
    let narrow = |(name, tally): &(&str, &Tally)| vec![named(name), number(tally.conversations).into(), cost(tally)];
    let full = table(&["Platform", "Convs", "Messages", "Calls", "Tokens", "Cost"], rows.iter().map(wide).collect());
    let shown = match full.least_width() <= columns {
        true => full,
        false => table(&["Platform", "Convs", "Cost"], rows.iter().map(narrow).collect()),
    };
    barred(shown, &rows.iter().map(|(_, tally)| tally.conversations as f64).collect::<Vec<_>>(), columns)
}

fn tools(report: &Report<'_>, columns: usize) -> Vec<Line> {
    let all = report.tools();
    let total: u64 = all.iter().map(|(_, count)| count).sum();
    let rows = &all[..all.len().min(MAX_TOOLS)];
    if rows.is_empty() {
        return Vec::new();
    }
    let cells = |(name, count): &(&str, u64)| {
        vec![named(name), number(*count).into(), format!("{:.1}%", share(*count, total)).into()]
    };
    let shown = table(&["Tool", "Uses", "Share"], rows.iter().map(cells).collect());
    let lines = barred(shown, &rows.iter().map(|(_, count)| *count as f64).collect::<Vec<_>>(), columns);
    with_more(lines, all.len(), MAX_TOOLS)
}

fn skills(report: &Report<'_>, columns: usize) -> Vec<Line> {
    let all = report.skills();
    let rows = &all[..all.len().min(MAX_SKILLS)];
    if rows.is_empty() {
        return Vec::new();
    }
    let last = |used: &hermes_session::insights::SkillUse| {
        used.last_used.map_or_else(|| "—".to_owned(), |at| report.now.relative(at))
    };
    let cells = |(name, used): &(&str, &hermes_session::insights::SkillUse)| {
        vec![named(name), number(used.loads).into(), number(used.edits).into(), last(used).into()]
    };
    let shown = table(&["Skill", "Loads", "Edits", "Last used"], rows.iter().map(cells).collect());
    let mut lines = with_more(shown.lines(columns), all.len(), MAX_SKILLS);
    lines.extend(wrapped(report.skill_sum(), columns, Style::new().dimmed()));
    lines
}

fn activity(report: &Report<'_>, columns: usize) -> Vec<Line> {
    let (green, dimmed) = (Style::new().fg_color(Some(AnsiColor::Green.into())), Style::new().dimmed());
    let activity = &report.activity;
    let mut lines =
        vec![Line::styled("Activity", Style::new().bold()), Line::styled("─".repeat(columns.min(MAX_BAR)), dimmed)];
    let series = report.series();
    if let (Some((first, _)), Some((last, _))) = (series.first(), series.last()) {
        let counts: Vec<u64> = series.iter().map(|(_, count)| *count).collect();
        let (marks, each) = chart::sparkline(&counts, columns);
        let each = if each > 1 { format!(" ({each} days a mark)") } else { String::new() };
        lines.extend(wrapped(format!("{first} – {last}{each}"), columns, dimmed));
        lines.push(Line::styled(marks, green));
        lines.push(Line::default());
    }
    let most = activity.weekdays.iter().copied().max().unwrap_or(0).max(1);
    let room = number(most).len();
    for (name, count) in WEEKDAYS.iter().zip(activity.weekdays) {
        let bars = bar(count as f64 / most as f64, columns.saturating_sub(room + 7).min(MAX_BAR));
        let line = Line::plain_text(format!("{name}  {:>room$}", number(count)));
        lines.push(if bars.is_empty() { line } else { line.text("  ").with(bars, green) });
    }
    let hours = chart::hours(&activity.hours, HEIGHT, columns);
    if let Some((axis, bars)) = hours.split_last() {
        lines.push(Line::default());
        lines.extend(bars.iter().map(|line| Line::styled(line.as_str(), green)));
        lines.push(Line::styled(axis.as_str(), dimmed));
    }
    lines.push(Line::default());
    let peaks = report.peak_hours(PEAKS).join(", ");
    lines.push(fact(("peak hours", peaks), columns));
    lines.push(fact(("active days", number(activity.days.len() as u64)), columns));
    let streak = activity.longest_streak();
    if streak > 1 {
        lines.push(fact(("best streak", format!("{} in a row", plural(streak, "days"))), columns));
    }
    lines
}

/// Returns the notable conversations. Titles are cut, ids never, because they are there to be used.
fn notable(report: &Report<'_>, columns: usize) -> Vec<Line> {
    let rows = &report.told.notable;
    if rows.is_empty() {
        return Vec::new();
    }
    let dimmed = Style::new().dimmed();
    let mut lines = vec![Line::styled("Notable conversations", Style::new().bold())];
    lines.push(Line::styled("─".repeat(columns.min(MAX_BAR)), dimmed));
    for notable in rows {
        let day = report.now.date(notable.started_at);
        let text = format!("{}, {day}", value(notable));
        lines.push(fact((distinction(notable), text), columns));
        let title = notable.title.as_deref().map_or_else(String::new, |title| format!("  {title}"));
        let id = Visible::line(notable.id.as_str());
        let room = columns.saturating_sub(width(&id) + 2);
        lines.push(Line::plain_text("  ").with(id, dimmed).text(cut(&title.into(), room)));
    }
    lines
}

fn with_more(mut lines: Vec<Line>, all: usize, most: usize) -> Vec<Line> {
    if all > most {
        lines.push(Line::styled(format!("… and {} more (--json lists all)", all - most), Style::new().dimmed()));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::tests::{now, session, told};
    use super::*;
    use hermes_session::insights::Gathering;

    fn shown(report: &Report<'_>, columns: usize) -> String {
        lines(report, columns).iter().map(Line::plain).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn everything_at_80_columns() {
        let (told, now) = (told(), now());
        insta::assert_snapshot!(shown(&Report::new(7, None, &told, &now), 80), @r#"
        Insights: last 7 days
        2025-03-01 – 2025-03-05

        conversations     4                     cost              $0.50
          sessions        4                     tokens            49.4k
        messages          24                      input           48.0k
          yours           8                       output          1380
          the model's     12                      cache read      0
          of tools        4                       cache written   0
        tool calls        8                     per conversation  6.0 messages
        time              1h 40m                                  12.3k tokens
          on average      25m

        Model       Convs  Input  Output  Cached  Calls   Cost
        ──────────────────────────────────────────────────────
        vendor/big      4  48.0k    1380       0      8  $0.50  ████████████████████████

        Platform  Convs  Messages  Calls  Tokens   Cost
        ───────────────────────────────────────────────
        cli           3        18      6   37.0k  $0.38  ██████████████████████████████
        telegram      1         6      2   12.3k  $0.12  ██████████

        Tool        Uses  Share
        ───────────────────────
        terminal       3  75.0%  ██████████████████████████████
        skill_view     1  25.0%  ██████████

        Skill  Loads  Edits  Last used
        ──────────────────────────────
        pdf        1      0     1h ago
        1 skill, 1 load, 0 edits

        Activity
        ──────────────────────────────
        2025-02-26 – 2025-03-05
        ···▄··▄█

        Mon  0
        Tue  1  ███████████████
        Wed  2  ██████████████████████████████
        Thu  0
        Fri  0
        Sat  1  ███████████████
        Sun  0

                                   ██
                                   ██
                             ██    ██ ██
                             ██    ██ ██
        0        3        6        9        12       15       18       21

        peak hours        09:00 (2), 07:00 (1), 10:00 (1)
        active days       3
        best streak       2 days in a row

        Notable conversations
        ──────────────────────────────
        Longest           25m, 2025-03-05
          a  Title of a
        Most messages     6, 2025-03-05
          a  Title of a
        Most tokens       12.3k, 2025-03-05
          a  Title of a
        Most tool calls   2, 2025-03-05
          a  Title of a
        Highest cost      $0.12, 2025-03-05
          a  Title of a
        "#);
    }

    #[test]
    fn nothing_is_wider_than_the_terminal() {
        let mut gathering = Gathering::new();
        for number in 0..20 {
            let mut facts = session(&format!("20250305_101500_{number:06x}"), "a platform with a long name", 5.0);
            facts.model = Some(format!("vendor/a-model-with-a-name-that-is-long-{number}"));
            facts.title = Some("大别山 mountains, and what was said of them".into());
            (facts.usage.input_tokens, facts.usage.estimated_cost_usd) = (i64::MAX / 40, Some(123_456.78));
            gathering.session(facts);
            gathering.results(&format!("mcp__server__tool_with_a_long_name_{number}"), 1_000_000);
        }
        let (told, now) = (gathering.finish(), now());
        for columns in [24, 40, 63, 64, 80, 200] {
            let report = Report::new(365, Some("a platform with a long name"), &told, &now);
            for line in shown(&report, columns).lines() {
                // Ids and numbers are never cut.
                let is_whole = columns == 24;
                assert!(is_whole || width(&line.into()) <= columns, "{columns}: {line}");
                assert_eq!(line.trim_end(), line);
            }
        }
        let text = shown(&Report::new(365, None, &told, &now), 80);
        assert!(text.contains("… and 5 more (--json lists all)"), "{text}");
    }

    #[test]
    fn an_empty_span_says_so() {
        let (none, now) = (Gathering::new().finish(), now());
        assert_eq!(
            shown(&Report::new(1, Some("cron"), &none, &now), 80),
            "No sessions found in the last 1 day (source: cron).\nA longer span may have some: `hermes insights --days 365`."
        );
    }
}
