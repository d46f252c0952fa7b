//! The report as a self-contained page: one file, no script, nothing fetched. All stored text is escaped.

use super::chart::shared;
use super::svg::{Bar, lying, upright};
use super::{PEAKS, Report, WEEKDAYS, distinction, share, value};
use hermes_session::insights::Tally;
use hermes_terminal::Visible;
use hermes_terminal::figures::{dollars, number, plural, short};
use hermes_terminal::transcript::NO_TITLE;
use std::fmt::Write as _;

/// Content security policy: a browser that opens the page fetches nothing and runs nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1c2330;--dim:#667085;--line:#e3e6ec;--paper:#fff;--bar:#3b82c4}\
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--dim:#98a2b3;--line:#2c3442;--paper:#12161d;--bar:#5aa2e0}}\
body{margin:2rem auto;max-width:60rem;padding:0 1rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}\
h1{margin-bottom:0}h2{margin-top:2.5rem;font-size:1.15rem}p,.dim{color:var(--dim)}\
dl{display:grid;grid-template-columns:repeat(auto-fill,minmax(9rem,1fr));gap:1rem}dl div{border:1px solid var(--line);border-radius:.5rem;padding:.5rem .75rem}\
dt{color:var(--dim);font-size:.85rem}dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums}\
table{width:100%;border-collapse:collapse}th,td{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:left;overflow-wrap:anywhere}\
td:first-child{min-width:8rem}th{color:var(--dim);font-weight:500}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}.day{white-space:nowrap}\
rect{fill:var(--bar)}.bar{display:block;width:100%;min-width:5rem;height:.7rem}\
.plot{display:grid;grid-template-columns:auto 1fr;column-gap:.5rem;color:var(--dim);font-size:.75rem;line-height:1;font-variant-numeric:tabular-nums}\
.chart{width:100%;height:8rem}.grid{stroke:var(--line);fill:none;vector-effect:non-scaling-stroke}\
.y{display:flex;flex-direction:column;justify-content:space-between;margin:-.5em 0;text-align:right}\
.x{grid-column:2;position:relative;height:1em;margin-top:.7em}.x span{position:absolute;transform:translateX(-50%);white-space:nowrap}";
/// The style of small screens: each row of a table is a block with its name above, and every second label of a chart
/// is left out.
const SMALL: &str = "@media(max-width:48rem){.x .odd,.heads{display:none}table,tbody{display:block}\
tr{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));column-gap:1.5rem;padding:.6rem 0;border-bottom:1px solid var(--line)}td{padding:.1rem 0;border:0}\
td:first-child,td:last-child,.wide{grid-column:1/-1}td:first-child{font-weight:600}\
td[data-name]{display:flex;justify-content:space-between;gap:.5rem;text-align:right;font-size:.9rem}td[data-name]::before{content:attr(data-name);color:var(--dim)}\
.n:not([data-name]){text-align:left}}";
/// Maximum number of labels under a chart.
const LABELS: usize = 10;
/// Maximum number of bars. More days share a bar.
const MAX_BARS: usize = 366;

/// Returns the whole page.
pub(crate) fn page(report: &Report<'_>) -> String {
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>Hermes insights</title>\n<style>{STYLE}{SMALL}</style>\n</head>\n<body>\n\
         <h1>Hermes insights</h1>\n<p>{}, as of {}</p>\n",
        escape(&report.span()),
        escape(&report.now.day_and_minute(report.now.at))
    );
    if report.is_empty() {
        _ = writeln!(out, "<p>{}</p>", escape(&report.nothing()));
    } else {
        out.push_str(&overview(report));
        out.push_str(&activity(report));
        out.push_str(&models(report));
        out.push_str(&platforms(report));
        out.push_str(&tools(report));
        out.push_str(&skills(report));
        out.push_str(&notable(report));
    }
    out.push_str("</body>\n</html>\n");
    out
}

/// Escapes a text for HTML elements and attributes. Characters that are invisible or change the direction of text are
/// shown.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in Visible::line(text).as_str().chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

fn overview(report: &Report<'_>) -> String {
    let mut out = format!("<p class=\"dim\">{}</p>\n<dl>\n", escape(&report.period()));
    for fact in report.overview().into_iter().flatten() {
        _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(fact.whole_name), escape(&fact.value));
    }
    out + "</dl>\n"
}

/// Returns a table with a name, numbers and a bar in each row.
fn table(title: &str, heads: &[&str], rows: &[(Vec<String>, f64)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let most = rows.iter().map(|(_, amount)| *amount).fold(0.0, f64::max);
    let class = |index: usize| if index == 0 { "" } else { " class=\"n\"" };
    let mut out = format!("<h2>{}</h2>\n<table>\n<tr class=\"heads\">", escape(title));
    for (index, head) in heads.iter().enumerate() {
        _ = write!(out, "<th{}>{}</th>", class(index), escape(head));
    }
    out.push_str("<th></th></tr>\n");
    for (cells, amount) in rows {
        out.push_str("<tr>");
        for (index, (cell, head)) in cells.iter().zip(heads).enumerate() {
            let name = if index == 0 { String::new() } else { format!(" data-name=\"{}\"", escape(head)) };
            _ = write!(out, "<td{}{name}>{}</td>", class(index), escape(cell));
        }
        let part = if most > 0.0 { amount / most } else { 0.0 };
        _ = writeln!(out, "<td>{}</td></tr>", lying(part));
    }
    out + "</table>\n"
}

fn cost(tally: &Tally) -> String {
    tally.cost_usd.map_or_else(|| "—".to_owned(), dollars)
}

fn models(report: &Report<'_>) -> String {
    let row = |(name, tally): (&str, &Tally)| {
        let used = &tally.usage;
        let cached = used.cache_read_tokens.saturating_add(used.cache_write_tokens);
        let mut cells = vec![name.to_owned(), number(tally.conversations)];
        cells.extend([used.input_tokens, used.output_tokens, cached].map(short));
        cells.extend([number(tally.tool_calls), cost(tally)]);
        (cells, tally.tokens() as f64)
    };
    let rows: Vec<_> = report.models().into_iter().map(row).collect();
    table("Models", &["Model", "Conversations", "Input", "Output", "Cached", "Tool calls", "Cost"], &rows)
}

fn platforms(report: &Report<'_>) -> String {
    let row = |(name, tally): (&str, &Tally)| {
        let mut cells = vec![name.to_owned()];
        cells.extend([tally.conversations, tally.messages.all(), tally.tool_calls].map(number));
        cells.extend([short(tally.tokens()), cost(tally)]);
        (cells, tally.conversations as f64)
    };
    let rows: Vec<_> = report.platforms().into_iter().map(row).collect();
    table("Platforms", &["Platform", "Conversations", "Messages", "Tool calls", "Tokens", "Cost"], &rows)
}

fn tools(report: &Report<'_>) -> String {
    let all = report.tools();
    let total: u64 = all.iter().map(|(_, count)| count).sum();
    let row = |(name, count): (&str, u64)| {
        (vec![name.to_owned(), number(count), format!("{:.1}%", share(count, total))], count as f64)
    };
    table("Tools", &["Tool", "Uses", "Share"], &all.into_iter().map(row).collect::<Vec<_>>())
}

fn skills(report: &Report<'_>) -> String {
    let rows: Vec<_> = report
        .skills()
        .into_iter()
        .map(|(name, used)| {
            let last = used.last_used.map_or_else(|| "—".to_owned(), |at| report.now.date(at));
            (vec![name.to_owned(), number(used.loads), number(used.edits), last], (used.loads + used.edits) as f64)
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    table("Skills", &["Skill", "Loads", "Edits", "Last used"], &rows)
        + &format!("<p>{}</p>\n", escape(&report.skill_sum()))
}

fn activity(report: &Report<'_>) -> String {
    let activity = &report.activity;
    let told = |name: &str, count: u64| format!("{name}: {}", plural(count, "conversations"));
    let series = report.series();
    let (days, each) = shared(&series, MAX_BARS);
    let step = days.len().div_ceil(LABELS).max(1);
    let day = |(index, some): (usize, &&[(jiff::civil::Date, u64)])| {
        let count = some.iter().map(|(_, count)| count).sum();
        let text = |day: Option<&(jiff::civil::Date, u64)>| day.map_or_else(String::new, |(day, _)| day.to_string());
        let (first, last) = (text(some.first()), text(some.last()));
        let label = (index % step == 0).then(|| first.get(5..).unwrap_or("").to_owned());
        let span = if first == last { first } else { format!("{first} – {last}") };
        Bar { label, title: told(&span, count), count }
    };
    let by_day: Vec<Bar> = days.iter().enumerate().map(day).collect();
    let weekday =
        |(name, count): (&&str, u64)| Bar { label: Some((*name).to_owned()), title: told(name, count), count };
    let by_weekday: Vec<Bar> = WEEKDAYS.iter().zip(activity.weekdays).map(weekday).collect();
    let hour = |(hour, count): (usize, &u64)| Bar {
        label: Some(hour.to_string()),
        title: told(&format!("{hour:02}:00"), *count),
        count: *count,
    };
    let by_hour: Vec<Bar> = activity.hours.iter().enumerate().map(hour).collect();
    let mut out = String::new();
    let days = if each > 1 { format!(", {each} days a bar") } else { String::new() };
    for (name, bars) in
        [(format!("day{days}"), by_day), ("weekday".to_owned(), by_weekday), ("hour".to_owned(), by_hour)]
    {
        let name = format!("Conversations by {name}");
        _ = writeln!(out, "<h2>{name}</h2>\n{}", upright(&name, &bars));
    }
    let streak = plural(activity.longest_streak(), "days");
    let active = plural(activity.days.len() as u64, "active days");
    let peaks = report.peak_hours(PEAKS).join(", ");
    _ = writeln!(out, "<p>{}; best streak {}; peak hours {}</p>", escape(&active), escape(&streak), escape(&peaks));
    out
}

fn notable(report: &Report<'_>) -> String {
    if report.told.notable.is_empty() {
        return String::new();
    }
    let mut out = "<h2>Notable conversations</h2>\n<table>\n<tr class=\"heads\"><th></th><th class=\"n\"></th><th>Day</th><th>Title</th><th>ID</th></tr>\n".to_owned();
    for notable in &report.told.notable {
        _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"day\">{}</td><td class=\"wide\">{}</td><td><code>{}</code></td></tr>",
            escape(distinction(notable)),
            escape(&value(notable)),
            escape(&report.now.date(notable.started_at)),
            escape(notable.title.as_deref().unwrap_or(NO_TITLE)),
            escape(notable.id.as_str())
        );
    }
    out + "</table>\n"
}

#[cfg(test)]
mod tests {
    use super::super::tests::{now, session, told};
    use super::*;
    use hermes_session::SessionId;
    use hermes_session::insights::Gathering;

    const HOSTILE: &str = "</td></title></style><script>alert('x')</script><img src=\"https://evil.example/\" onerror=x>&\u{202e}\u{1b}[31m";

    #[test]
    fn nothing_that_is_stored_becomes_a_part_of_the_page() {
        let (mut gathering, now) = (Gathering::new(), now());
        let mut facts = session("a", HOSTILE, 1.0);
        facts.id = SessionId::from_stored(HOSTILE);
        (facts.title, facts.model) = (Some(HOSTILE.into()), Some(HOSTILE.into()));
        gathering.session(facts);
        gathering.results(HOSTILE, 2);
        let arguments = serde_json::json!({ "name": HOSTILE }).to_string();
        let call = serde_json::json!([{ "function": { "name": "skill_view", "arguments": arguments } }]).to_string();
        gathering.calls(&call, Some(now.at));
        let told = gathering.finish();
        let page = page(&Report::new(30, Some(HOSTILE), &told, &now));
        for bad in ["<script", "<img", "</title></style>", "onerror=x>", "\u{202e}", "\u{1b}", "alert('"] {
            assert!(!page.contains(bad), "{bad:?} in\n{page}");
        }
        // The source asked for, a model, a platform, a tool and a skill; title and id of each notable conversation.
        assert_eq!(page.matches("&lt;script&gt;").count(), 5 + 2 * told.notable.len(), "{page}");
        assert_eq!(page.matches("</style>").count(), 1);
    }

    #[test]
    fn a_page_stands_alone() {
        let (told, now) = (told(), now());
        let page = page(&Report::new(30, None, &told, &now));
        // The page contains no address, and nothing that would fetch one.
        for bad in ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link"] {
            assert!(!page.contains(bad), "{bad}");
        }
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
        assert!(page.contains("default-src 'none'"));
        for name in ["Conversations by day", "Conversations by weekday", "Conversations by hour"] {
            assert!(page.contains(&format!("aria-label=\"{name}\"")), "{name}");
        }
        assert!(page.contains("<title>Wed: 2 conversations</title>"), "{page}");
        assert!(page.contains("<td>terminal</td><td class=\"n\" data-name=\"Uses\">3</td>"), "{page}");
        assert!(page.contains("<dt>cost</dt><dd>$0.50</dd>"), "{page}");
        assert!(
            page.contains("peak hours 09:00 (2), 07:00 (1)") && page.contains("1 skill, 1 load, 0 edits"),
            "{page}"
        );
        // Every element that is opened is closed.
        for element in
            ["table", "tr", "td", "th", "span", "svg", "rect", "dl", "div", "h2", "p", "code", "body", "head"]
        {
            let open = page.matches(&format!("<{element} ")).count() + page.matches(&format!("<{element}>")).count();
            let itself = if element == "rect" { page.matches("height=\"10\"/>").count() } else { 0 };
            assert_eq!(open, page.matches(&format!("</{element}>")).count() + itself, "{element}");
        }
    }

    #[test]
    fn a_card_says_what_it_counts() {
        let (told, now) = (told(), now());
        let page = page(&Report::new(30, None, &told, &now));
        for card in [
            "messages from you</dt><dd>8",
            "time per conversation</dt><dd>25m",
            "messages per conversation</dt><dd>6.0",
        ] {
            assert!(page.contains(&format!("<dt>{card}</dd>")), "{card} in {page}");
        }
        let mut names: Vec<&str> = page.split("<dt>").skip(1).filter_map(|rest| rest.split("</dt>").next()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!((names.len(), page.matches("<dd>").count()), (all, all));
    }

    #[test]
    fn on_a_small_screen_a_cell_has_the_name_of_its_column() {
        let (told, now) = (told(), now());
        let page = page(&Report::new(30, None, &told, &now));
        assert!(page.contains("@media(max-width:48rem)") && page.contains("content:attr(data-name)"));
        let cells =
            ["<td class=\"n\" data-name=\"Tool calls\">6</td>", "<td class=\"n\" data-name=\"Share\">75.0%</td>"];
        cells.iter().for_each(|cell| assert!(page.contains(cell), "{cell} in {page}"));
        // A number without a name is only in the table of notable conversations, where the name is above it.
        let (tables, _) = page.split_once("<h2>Notable").unwrap();
        assert!(!tables.contains("<td class=\"n\">"), "{tables}");
    }

    #[test]
    fn a_bar_of_several_days_says_which() {
        let (told, now) = (told(), now());
        let of_days = |days| {
            let mut report = Report::new(days, None, &told, &now);
            report.activity.days.insert(jiff::civil::date(2023, 3, 4), 2);
            page(&report)
        };
        // 733 days, three a bar; the last bar is full.
        let page = of_days(36_500);
        assert!(page.contains("<h2>Conversations by day, 3 days a bar</h2>"), "{page}");
        assert!(page.contains("<title>2025-03-03 – 2025-03-05: 3 conversations</title>"), "{page}");
        assert!(page.contains("<title>2023-03-04: 2 conversations</title>"), "{page}");
        assert!(of_days(30).contains("<title>2025-03-05: 2 conversations</title>"));
    }

    #[test]
    fn a_page_about_nothing_says_so() {
        let (none, now) = (Gathering::new().finish(), now());
        let page = page(&Report::new(7, Some("x&y"), &none, &now));
        assert!(page.contains("<p>No sessions found in the last 7 days (source: x&amp;y).</p>"), "{page}");
        assert!(!page.contains("<svg"));
    }
}
