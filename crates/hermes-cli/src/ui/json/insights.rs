//! The document of `insights`.

use super::super::insights::{Report, WEEKDAYS, distinction_name, share};
use hermes_session::Timestamp;
use hermes_wire::{document, insights as wire};

/// Returns the whole report, including everything that the page for people leaves out.
pub(crate) fn insights(report: &Report<'_>) -> String {
    let models = report.told.models.iter();
    let platforms = report.told.sources.iter();
    document(&wire::Insights {
        days: report.days,
        source_filter: report.source,
        empty: report.is_empty(),
        generated_at: report.now.at.seconds(),
        overview: overview(report),
        models: models.map(|(model, tally)| wire::ModelTally { model: model.as_deref(), sums: tally.into() }).collect(),
        platforms: platforms
            .map(|(source, tally)| wire::PlatformTally { platform: source.as_str(), sums: tally.into() })
            .collect(),
        tools: tools(report),
        skills: skills(report),
        activity: activity(report),
        top_sessions: top_sessions(report),
    })
}

fn overview<'a>(report: &'a Report<'_>) -> wire::Overview<'a> {
    let (told, total) = (report.told, &report.told.total);
    let average = |sum: f64, count: u64| if count == 0 { 0.0 } else { sum / count as f64 };
    wire::Overview {
        sums: total.into(),
        estimated_cost_usd: total.usage.estimated_cost_usd,
        actual_cost_usd: total.usage.actual_cost_usd,
        models_with_cost: report.models_by_cost(true).collect(),
        models_without_cost: report.models_by_cost(false).collect(),
        total_hours: told.time.seconds / 3_600.0,
        avg_conversation_seconds: average(told.time.seconds, told.time.conversations),
        avg_messages_per_conversation: average(total.messages.all() as f64, total.conversations),
        avg_tokens_per_conversation: average(total.tokens() as f64, total.conversations),
        first_start: told.starts.first().copied().map(Timestamp::seconds),
        last_start: told.starts.last().copied().map(Timestamp::seconds),
    }
}

fn tools<'a>(report: &'a Report<'_>) -> Vec<wire::ToolUse<'a>> {
    let tools = report.tools();
    let total = tools.iter().map(|(_, count)| count).sum();
    let tool = |(tool, count)| wire::ToolUse { tool, count, percentage: share(count, total) };
    tools.into_iter().map(tool).collect()
}

fn skills<'a>(report: &'a Report<'_>) -> wire::Skills<'a> {
    let (loads, edits) = report.skill_totals();
    let all = report.skills();
    let summary = wire::SkillSummary {
        total_skill_loads: loads,
        total_skill_edits: edits,
        total_skill_actions: loads + edits,
        distinct_skills_used: all.len(),
    };
    let top = all.into_iter().map(|(skill, used)| wire::SkillUse {
        skill,
        view_count: used.loads,
        manage_count: used.edits,
        total_count: used.loads + used.edits,
        percentage: share(used.loads + used.edits, loads + edits),
        last_used_at: used.last_used.map(Timestamp::seconds),
    });
    wire::Skills { summary, top_skills: top.collect() }
}

fn activity(report: &Report<'_>) -> wire::Activity {
    let activity = &report.activity;
    let weekday = |day: usize| wire::DayCount { day: WEEKDAYS[day], count: activity.weekdays[day] };
    let hour = |hour: usize| wire::HourCount { hour, count: activity.hours[hour] };
    let dates = activity.days.iter().map(|(date, count)| wire::DateCount { date: date.to_string(), count: *count });
    wire::Activity {
        by_day: (0..7).map(weekday).collect(),
        by_hour: (0..24).map(hour).collect(),
        by_date: dates.collect(),
        busiest_day: activity.busiest_weekday().map(weekday),
        busiest_hour: activity.busiest_hour().map(hour),
        active_days: activity.days.len(),
        max_streak: activity.longest_streak(),
    }
}

fn top_sessions<'a>(report: &'a Report<'_>) -> Vec<wire::TopSession<'a>> {
    let top = report.told.notable.iter().map(|notable| wire::TopSession {
        label: distinction_name(notable),
        session_id: notable.id.as_str(),
        title: notable.title.as_deref(),
        started_at: notable.started_at.seconds(),
        value: notable.value,
    });
    top.collect()
}
