//! Usage of an agent, prepared for people: the order of rows, and the form of durations, counts and amounts. The clock
//! and the zone are arguments.

mod chart;
mod html;
mod svg;
mod text;

pub(crate) use html::page;
pub(crate) use text::lines;

use hermes_session::insights::{Activity, Distinction, Notable, SkillUse, Tally};
use hermes_session::{Insights, Timestamp};
use hermes_terminal::figures::{dollars, number, plural, short};
use hermes_terminal::time::Now;
use jiff::civil::Date;
use std::cmp::Reverse;

pub(super) const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// Number of days from which empty days before the first conversation are not drawn.
const MAX_EMPTY_DAYS: u32 = 366;
/// Maximum number of days drawn.
const MAX_DAYS: usize = 36_600;
/// Number of busiest hours that are named.
const PEAKS: usize = 5;
/// The source of the terminal. If it is the only one, there is no table of sources.
const CLI: &str = "cli";

/// The statistics, and the request that they answer.
pub(crate) struct Report<'a> {
    pub(crate) days: u32,
    pub(crate) source: Option<&'a str>,
    pub(crate) told: &'a Insights,
    pub(crate) activity: Activity,
    pub(crate) now: &'a Now,
}

impl<'a> Report<'a> {
    pub(crate) fn new(days: u32, source: Option<&'a str>, told: &'a Insights, now: &'a Now) -> Self {
        let activity = Activity::of(&told.starts, &now.zone);
        Self { days, source, told, activity, now }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.told.total.sessions == 0
    }

    /// Returns the days and the source of the report.
    pub(super) fn span(&self) -> String {
        let days = plural(self.days.into(), "days");
        let days = if self.days == 1 { "day" } else { &days };
        self.source.map_or_else(|| format!("last {days}"), |source| format!("last {days}, {source}"))
    }

    /// Returns the text for a report without sessions.
    pub(super) fn nothing(&self) -> String {
        let source = self.source.map_or_else(String::new, |source| format!(" (source: {source})"));
        format!("No sessions found in the last {}{source}.", plural(self.days.into(), "days"))
    }

    /// Returns the days of the first and the last start.
    pub(super) fn period(&self) -> String {
        let day = |at: Option<&Timestamp>| at.map_or_else(|| "?".to_owned(), |at| self.now.date(*at));
        format!("{} – {}", day(self.told.starts.first()), day(self.told.starts.last()))
    }

    /// Returns models ordered by tokens, then by sessions.
    pub(super) fn models(&self) -> Vec<(&str, &Tally)> {
        let name = |model: &'a Option<String>| model.as_deref().unwrap_or("(no model)");
        let mut rows: Vec<_> = self.told.models.iter().map(|(model, tally)| (name(model), tally)).collect();
        rows.sort_by_key(|(name, tally)| (Reverse((tally.tokens(), tally.sessions)), *name));
        rows
    }

    /// Returns sources ordered by conversations. Empty if the terminal is the only source.
    pub(super) fn platforms(&self) -> Vec<(&str, &Tally)> {
        let mut rows: Vec<_> = self.told.sources.iter().map(|(source, tally)| (source.as_str(), tally)).collect();
        if rows.iter().all(|(name, _)| *name == CLI) {
            return Vec::new();
        }
        rows.sort_by_key(|(name, tally)| (Reverse((tally.conversations, tally.messages.all())), *name));
        rows
    }

    /// Returns tools ordered by number of uses.
    pub(super) fn tools(&self) -> Vec<(&str, u64)> {
        let mut rows: Vec<_> = self.told.tools.iter().map(|(name, used)| (name.as_str(), used.count())).collect();
        rows.sort_by_key(|(name, count)| (Reverse(*count), *name));
        rows
    }

    /// Returns skills ordered by number of uses.
    pub(super) fn skills(&self) -> Vec<(&str, &SkillUse)> {
        let mut rows: Vec<_> = self.told.skills.iter().map(|(name, used)| (name.as_str(), used)).collect();
        rows.sort_by_key(|(name, used)| (Reverse((used.loads + used.edits, used.loads, used.last_used)), *name));
        rows
    }

    /// Returns how often skills were loaded, and edited.
    pub(super) fn skill_totals(&self) -> (u64, u64) {
        let sum = |count: fn(&SkillUse) -> u64| self.told.skills.values().map(count).sum();
        (sum(|used| used.loads), sum(|used| used.edits))
    }

    /// Returns the totals of skills in words.
    pub(super) fn skill_sum(&self) -> String {
        let (loads, edits) = self.skill_totals();
        let skills = plural(self.told.skills.len() as u64, "skills");
        format!("{skills}, {}, {}", plural(loads, "loads"), plural(edits, "edits"))
    }

    /// Returns models, by name, that have a session with known cost, or one with unknown cost.
    pub(super) fn models_by_cost(&self, is_known: bool) -> impl Iterator<Item = &str> {
        let is_meant =
            move |tally: &Tally| if is_known { tally.cost_usd.is_some() } else { tally.unknown_cost_sessions > 0 };
        self.told.models.iter().filter(move |(_, tally)| is_meant(tally)).filter_map(|(model, _)| model.as_deref())
    }

    /// Returns the number of starts per day, including empty days.
    pub(super) fn series(&self) -> Vec<(Date, u64)> {
        let day = |at: Timestamp| at.to_calendar().map(|at| at.to_zoned(self.now.zone.clone()).date());
        let Some(today) = day(self.now.at) else { return Vec::new() };
        let since = day(self.now.at.plus(-f64::from(self.days) * 86_400.0)).unwrap_or(Date::MIN);
        let first = self.activity.days.keys().next().copied().unwrap_or(today);
        let from = if self.days > MAX_EMPTY_DAYS { since.max(first) } else { since };
        self.activity.series(from, today, MAX_DAYS)
    }

    /// Returns the overview: first messages and durations, then costs.
    pub(super) fn overview(&self) -> [Vec<Fact>; 2] {
        let total = &self.told.total;
        let (said, used, time) = (total.messages, &total.usage, self.told.time);
        let sessions = |count: u64| (count > 0).then(|| plural(count, "sessions"));
        let mut talk = vec![
            Fact::new("conversations", "conversations", number(total.conversations)),
            Fact::new("  sessions", "sessions", number(total.sessions)),
            Fact::new("messages", "messages", number(said.all())),
            Fact::new("  yours", "messages from you", number(said.user)),
            Fact::new("  the model's", "messages from the model", number(said.assistant)),
            Fact::new("  of tools", "messages from tools", number(said.tool)),
            Fact::new("tool calls", "tool calls", number(total.tool_calls)),
        ];
        if time.conversations > 0 {
            let average = time.seconds / time.conversations as f64;
            talk.push(Fact::new("time", "total time", duration(time.seconds)));
            talk.push(Fact::new("  on average", "time per conversation", duration(average)));
        }
        let known = total.cost_usd.map_or_else(|| "unknown".to_owned(), dollars);
        let mut cost = vec![Fact::new("cost", "cost", known)];
        let billed = used.actual_cost_usd.filter(|cost| *cost != 0.0).map(dollars);
        cost.extend(billed.map(|billed| Fact::new("  billed", "billed cost", billed)));
        let unknown = sessions(total.unknown_cost_sessions);
        cost.extend(unknown.map(|text| Fact::new("  price unknown", "at an unknown price", text)));
        let included = sessions(total.included_cost_sessions);
        cost.extend(included.map(|text| Fact::new("  in a plan", "paid by a plan", text)));
        cost.extend([
            Fact::new("tokens", "tokens", short(total.tokens())),
            Fact::new("  input", "input tokens", short(used.input_tokens)),
            Fact::new("  output", "output tokens", short(used.output_tokens)),
            Fact::new("  cache read", "tokens read from cache", short(used.cache_read_tokens)),
            Fact::new("  cache written", "tokens written to cache", short(used.cache_write_tokens)),
        ]);
        let average = |sum: f64| sum / total.conversations.max(1) as f64;
        let messages = format!("{:.1}", average(said.all() as f64));
        let messages = Fact::new("per conversation", "messages per conversation", messages);
        let tokens = short(average(total.tokens() as f64) as i64);
        let tokens = Fact::new("", "tokens per conversation", tokens);
        cost.extend([Fact { unit: " messages", ..messages }, Fact { unit: " tokens", ..tokens }]);
        [talk, cost]
    }

    /// Returns the hours with the most starts, at most `most` of them.
    pub(super) fn peak_hours(&self, most: usize) -> Vec<String> {
        let mut hours: Vec<(usize, u64)> = self.activity.hours.iter().copied().enumerate().collect();
        hours.retain(|(_, count)| *count > 0);
        hours.sort_by_key(|(hour, count)| (Reverse(*count), *hour));
        hours.into_iter().take(most).map(|(hour, count)| format!("{hour:02}:00 ({count})")).collect()
    }
}

/// A number of the overview.
#[derive(Debug, Clone)]
pub(super) struct Fact {
    /// The name in a column, indented under what it is a part of.
    pub(super) name: &'static str,
    /// The name where it stands alone.
    pub(super) whole_name: &'static str,
    pub(super) value: String,
    /// The unit, if only `whole_name` says it.
    pub(super) unit: &'static str,
}

impl Fact {
    const fn new(name: &'static str, whole_name: &'static str, value: String) -> Self {
        Self { name, whole_name, value, unit: "" }
    }
}

/// Returns the property a conversation stands out for.
pub(super) const fn distinction(notable: &Notable) -> &'static str {
    match notable.distinction {
        Distinction::Longest => "Longest",
        Distinction::Messages => "Most messages",
        Distinction::Tokens => "Most tokens",
        Distinction::ToolCalls => "Most tool calls",
        Distinction::Cost => "Highest cost",
    }
}

/// Returns the name of that property for programs.
pub(super) const fn distinction_name(notable: &Notable) -> &'static str {
    match notable.distinction {
        Distinction::Longest => "longest",
        Distinction::Messages => "messages",
        Distinction::Tokens => "tokens",
        Distinction::ToolCalls => "tool_calls",
        Distinction::Cost => "cost",
    }
}

/// Returns the amount of that property.
pub(super) fn value(notable: &Notable) -> String {
    match notable.distinction {
        Distinction::Longest => duration(notable.value),
        Distinction::Cost => dollars(notable.value),
        Distinction::Tokens => short(notable.value as i64),
        Distinction::Messages | Distinction::ToolCalls => number(notable.value as u64),
    }
}

/// Returns a part in percent.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

/// Formats a duration as the agent does: `40s`, `12m`, `3h 5m`, `1.5d`.
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole {
        0..60 => format!("{whole}s"),
        60..3_600 => format!("{}m", whole / 60),
        3_600..86_400 if whole % 3_600 < 60 => format!("{}h", whole / 3_600),
        3_600..86_400 => format!("{}h {}m", whole / 3_600, whole % 3_600 / 60),
        _ => format!("{:.1}d", seconds / 86_400.0),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use hermes_session::insights::{Gathering, MessageCounts, SessionFacts};
    use hermes_session::{Relation, SessionId, Source, Usage};
    use jiff::tz::TimeZone;

    /// 2025-03-05 11:15:23 in a zone two hours east.
    pub(in crate::ui) fn now() -> Now {
        Now { at: Timestamp::from_seconds(1_741_166_123.0).unwrap(), zone: TimeZone::fixed(jiff::tz::offset(2)) }
    }

    pub(in crate::ui) fn session(name: &str, source: &str, hours_ago: f64) -> SessionFacts {
        let started_at = now().at.plus(-hours_ago * 3_600.0);
        SessionFacts {
            id: SessionId::from_stored(name),
            conversation: SessionId::from_stored(name),
            parent: None,
            relation: Relation::Root,
            is_aside: false,
            source: Source::from_stored(source),
            model: Some("vendor/big".into()),
            title: Some(format!("Title of {name}")),
            started_at,
            ended_at: Some(started_at.plus(1_500.0)),
            last_active: started_at,
            messages: MessageCounts { user: 2, assistant: 3, tool: 1, other: 0 },
            tool_calls: 2,
            usage: Usage {
                input_tokens: 12_000,
                output_tokens: 345,
                estimated_cost_usd: Some(0.125),
                ..Usage::default()
            },
        }
    }

    /// Conversations of three days, with tools and a skill.
    pub(in crate::ui) fn told() -> Insights {
        let mut gathering = Gathering::new();
        for (name, hours_ago) in [("a", 1.0), ("b", 2.0), ("c", 26.0), ("d", 100.0)] {
            gathering.session(session(name, if name == "d" { "telegram" } else { "cli" }, hours_ago));
        }
        gathering.results("terminal", 3);
        gathering.calls(
            r#"[{"function": {"name": "skill_view", "arguments": "{\"name\": \"pdf\"}"}}]"#,
            Some(now().at.plus(-3_600.0)),
        );
        gathering.finish()
    }

    #[test]
    fn times_are_short() {
        for (seconds, expect) in [
            (-5.0, "0s"),
            (59.9, "59s"),
            (60.0, "1m"),
            (3_599.0, "59m"),
            (3_600.0, "1h"),
            (3_660.0, "1h 1m"),
            (86_399.0, "23h 59m"),
            (129_600.0, "1.5d"),
        ] {
            assert_eq!(duration(seconds), expect, "{seconds}");
        }
    }

    #[test]
    fn the_terminal_alone_is_no_table_of_sources() {
        let (told, now) = (told(), now());
        let report = Report::new(30, None, &told, &now);
        let names: Vec<&str> = report.platforms().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["cli", "telegram"]);
        let mut gathering = Gathering::new();
        gathering.session(session("a", "cli", 1.0));
        let alone = gathering.finish();
        assert_eq!(Report::new(30, None, &alone, &now).platforms().len(), 0);
    }

    #[test]
    fn a_long_span_begins_with_the_first_conversation() {
        let (told, now) = (told(), now());
        let days = |days| Report::new(days, None, &told, &now).series().len();
        assert_eq!((days(1), days(30), days(366), days(367), days(36_500)), (2, 31, 367, 5, 5));
    }
}
