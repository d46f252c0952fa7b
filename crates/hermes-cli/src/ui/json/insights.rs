//! How an agent was used, for programs.

use super::super::insights::{Report, WEEKDAYS, distinction_name, share};
use super::{SCHEMA, array, boolean, double, time, tokens};
use hermes_session::Json;
use hermes_session::insights::Tally;
use hermes_session::json::ObjectWriter;

/// The whole report. Nothing is left out that a person is not shown.
pub(crate) fn insights(report: &Report<'_>) -> String {
    let mut object = ObjectWriter::new();
    object
        .raw("schema", &SCHEMA.to_string())
        .raw("days", &report.days.to_string())
        .text("source_filter", report.source)
        .raw("empty", boolean(report.is_empty()))
        .raw("generated_at", &time(Some(report.now.at)))
        .raw("overview", &overview(report))
        .raw("models", &array(report.told.models.iter().map(|(model, tally)| named("model", model.as_deref(), tally))))
        .raw(
            "platforms",
            &array(report.told.sources.iter().map(|(source, tally)| named("platform", Some(source.as_str()), tally))),
        )
        .raw("tools", &tools(report))
        .raw("skills", &skills(report))
        .raw("activity", &activity(report))
        .raw("top_sessions", &notable(report));
    object.finish()
}

fn overview(report: &Report<'_>) -> String {
    let (told, total) = (report.told, &report.told.total);
    let (spent, said) = (told.time, total.messages);
    let average = |sum: f64, count: u64| double(Some(if count == 0 { 0.0 } else { sum / count as f64 }));
    let mut object = ObjectWriter::new();
    counted(&mut object, total);
    object
        .raw("estimated_cost_usd", &double(total.usage.estimated_cost_usd))
        .raw("actual_cost_usd", &double(total.usage.actual_cost_usd))
        .raw("models_with_cost", &names(report.models_by_cost(true)))
        .raw("models_without_cost", &names(report.models_by_cost(false)))
        .raw("total_hours", &double(Some(spent.seconds / 3_600.0)))
        .raw("avg_conversation_seconds", &average(spent.seconds, spent.conversations))
        .raw("avg_messages_per_conversation", &average(said.all() as f64, total.conversations))
        .raw("avg_tokens_per_conversation", &average(total.tokens() as f64, total.conversations))
        .raw("first_start", &time(told.starts.first().copied()))
        .raw("last_start", &time(told.starts.last().copied()));
    object.finish()
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    array(names.map(|name| Json::string(name).as_str().to_owned()))
}

fn named(key: &str, name: Option<&str>, tally: &Tally) -> String {
    let mut object = ObjectWriter::new();
    object.text(key, name);
    counted(&mut object, tally);
    object.finish()
}

fn counted(object: &mut ObjectWriter, tally: &Tally) {
    let said = tally.messages;
    object
        .raw("conversations", &tally.conversations.to_string())
        .raw("sessions", &tally.sessions.to_string())
        .raw("messages", &said.all().to_string())
        .raw("user_messages", &said.user.to_string())
        .raw("assistant_messages", &said.assistant.to_string())
        .raw("tool_messages", &said.tool.to_string())
        .raw("tool_calls", &tally.tool_calls.to_string());
    tokens(object, &tally.usage);
    object
        .raw("total_tokens", &tally.tokens().to_string())
        .raw("cost_usd", &double(tally.cost_usd))
        .raw("unknown_cost_sessions", &tally.unknown_cost_sessions.to_string())
        .raw("included_cost_sessions", &tally.included_cost_sessions.to_string());
}

fn tools(report: &Report<'_>) -> String {
    let tools = report.tools();
    let total = tools.iter().map(|(_, count)| count).sum();
    array(tools.into_iter().map(|(name, count)| {
        let mut object = ObjectWriter::new();
        object
            .text("tool", Some(name))
            .raw("count", &count.to_string())
            .raw("percentage", &double(Some(share(count, total))));
        object.finish()
    }))
}

fn skills(report: &Report<'_>) -> String {
    let (loads, edits) = report.skill_totals();
    let all = report.skills();
    let mut summary = ObjectWriter::new();
    summary
        .raw("total_skill_loads", &loads.to_string())
        .raw("total_skill_edits", &edits.to_string())
        .raw("total_skill_actions", &(loads + edits).to_string())
        .raw("distinct_skills_used", &all.len().to_string());
    let top = all.into_iter().map(|(name, used)| {
        let count = used.loads + used.edits;
        let mut object = ObjectWriter::new();
        object
            .text("skill", Some(name))
            .raw("view_count", &used.loads.to_string())
            .raw("manage_count", &used.edits.to_string())
            .raw("total_count", &count.to_string())
            .raw("percentage", &double(Some(share(count, loads + edits))))
            .raw("last_used_at", &time(used.last_used));
        object.finish()
    });
    let top = array(top);
    let mut object = ObjectWriter::new();
    object.raw("summary", &summary.finish()).raw("top_skills", &top);
    object.finish()
}

fn activity(report: &Report<'_>) -> String {
    let activity = &report.activity;
    let counted = |key: &str, name: String, count: u64| {
        let mut object = ObjectWriter::new();
        object.raw(key, &name).raw("count", &count.to_string());
        object.finish()
    };
    let weekday = |day: usize| counted("day", format!("\"{}\"", WEEKDAYS[day]), activity.weekdays[day]);
    let hour = |hour: usize| counted("hour", hour.to_string(), activity.hours[hour]);
    let dates = activity.days.iter().map(|(date, count)| counted("date", format!("\"{date}\""), *count));
    let none = || "null".to_owned();
    let mut object = ObjectWriter::new();
    object
        .raw("by_day", &array((0..7).map(weekday)))
        .raw("by_hour", &array((0..24).map(hour)))
        .raw("by_date", &array(dates))
        .raw("busiest_day", &activity.busiest_weekday().map_or_else(none, weekday))
        .raw("busiest_hour", &activity.busiest_hour().map_or_else(none, hour))
        .raw("active_days", &activity.days.len().to_string())
        .raw("max_streak", &activity.longest_streak().to_string());
    object.finish()
}

fn notable(report: &Report<'_>) -> String {
    array(report.told.notable.iter().map(|notable| {
        let mut object = ObjectWriter::new();
        object
            .text("label", Some(distinction_name(notable)))
            .text("session_id", Some(notable.id.as_str()))
            .text("title", notable.title.as_deref())
            .raw("started_at", &time(Some(notable.started_at)))
            .raw("value", &double(Some(notable.value)));
        object.finish()
    }))
}
