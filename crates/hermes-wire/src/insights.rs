//! Usage of an agent.

use crate::usage::Tokens;
use hermes_session::insights::Tally;
use schemars::JsonSchema;
use serde::Serialize;

/// Usage of an agent.
///
/// Messages and tool calls are counted in active and compacted messages, not in undone ones. Messages that the agent
/// wrote again when it compacted or compressed a context, or copied into a branch, count once.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Insights<'a> {
    /// The requested number of days.
    pub days: u32,
    /// The requested source; `null` for all sources but `tool`.
    pub source_filter: Option<&'a str>,
    /// Whether no session started in that period.
    pub empty: bool,
    /// When this was computed.
    pub generated_at: f64,
    /// The sums over everything.
    pub overview: Overview<'a>,
    /// The sums of each model, by name.
    pub models: Vec<ModelTally<'a>>,
    /// The sums of each source of conversations, by name.
    pub platforms: Vec<PlatformTally<'a>>,
    /// The tools, most used first.
    pub tools: Vec<ToolUse<'a>>,
    /// The skills.
    pub skills: Skills<'a>,
    /// When conversations started, in the local time zone.
    pub activity: Activity,
    /// Sessions that stand out.
    pub top_sessions: Vec<TopSession<'a>>,
}

/// Sums and averages.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Overview<'a> {
    /// The sums.
    #[serde(flatten)]
    pub sums: Sums,
    /// Cost in US dollars by a price list.
    pub estimated_cost_usd: Option<f64>,
    /// Cost in US dollars as billed.
    pub actual_cost_usd: Option<f64>,
    /// Models with a session whose cost is known.
    pub models_with_cost: Vec<&'a str>,
    /// Models that used tokens at an unknown price; a model may be in both lists.
    pub models_without_cost: Vec<&'a str>,
    /// The time of all conversations, in hours.
    pub total_hours: f64,
    /// The average time of a conversation, in seconds.
    pub avg_conversation_seconds: f64,
    /// The average number of messages of a conversation.
    pub avg_messages_per_conversation: f64,
    /// The average number of tokens of a conversation.
    pub avg_tokens_per_conversation: f64,
    /// The first start.
    pub first_start: Option<f64>,
    /// The last start.
    pub last_start: Option<f64>,
}

/// Sums over conversations.
#[derive(Debug, Clone, Copy, Serialize, JsonSchema)]
pub struct Sums {
    /// Conversations.
    pub conversations: u64,
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
    /// Messages of the person.
    pub user_messages: u64,
    /// Messages of the model.
    pub assistant_messages: u64,
    /// Results of tools.
    pub tool_messages: u64,
    /// Tool calls.
    pub tool_calls: u64,
    /// The token counters.
    #[serde(flatten)]
    pub tokens: Tokens,
    /// Tokens sent, received, and read from and written to the cache.
    pub total_tokens: i64,
    /// Cost in US dollars as billed, or the estimate where nothing was billed; `null` if no cost is known.
    pub cost_usd: Option<f64>,
    /// Sessions whose cost is unknown.
    pub unknown_cost_sessions: u64,
    /// Sessions whose cost is included in a plan.
    pub included_cost_sessions: u64,
}

impl From<&Tally> for Sums {
    fn from(tally: &Tally) -> Self {
        Self {
            conversations: tally.conversations,
            sessions: tally.sessions,
            messages: tally.messages.all(),
            user_messages: tally.messages.user,
            assistant_messages: tally.messages.assistant,
            tool_messages: tally.messages.tool,
            tool_calls: tally.tool_calls,
            tokens: (&tally.usage).into(),
            total_tokens: tally.tokens(),
            cost_usd: tally.cost_usd,
            unknown_cost_sessions: tally.unknown_cost_sessions,
            included_cost_sessions: tally.included_cost_sessions,
        }
    }
}

/// The sums of a model.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelTally<'a> {
    /// The model; `null` for sessions that name none.
    pub model: Option<&'a str>,
    /// The sums.
    #[serde(flatten)]
    pub sums: Sums,
}

/// The sums of a source.
#[derive(Debug, Serialize, JsonSchema)]
pub struct PlatformTally<'a> {
    /// The source.
    pub platform: &'a str,
    /// The sums.
    #[serde(flatten)]
    pub sums: Sums,
}

/// How often a tool was used.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ToolUse<'a> {
    /// The tool.
    pub tool: &'a str,
    /// How often it was called.
    pub count: u64,
    /// Its share of all calls, in percent.
    pub percentage: f64,
}

/// How skills were used.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Skills<'a> {
    /// The sums.
    pub summary: SkillSummary,
    /// The skills, most used first.
    pub top_skills: Vec<SkillUse<'a>>,
}

/// Sums over skills.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SkillSummary {
    /// How often skills were read.
    pub total_skill_loads: u64,
    /// How often skills were changed.
    pub total_skill_edits: u64,
    /// Both together.
    pub total_skill_actions: u64,
    /// How many skills were used.
    pub distinct_skills_used: usize,
}

/// How often a skill was used.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SkillUse<'a> {
    /// The skill.
    pub skill: &'a str,
    /// How often it was read.
    pub view_count: u64,
    /// How often it was changed.
    pub manage_count: u64,
    /// Both together.
    pub total_count: u64,
    /// Its share of all uses, in percent.
    pub percentage: f64,
    /// When it was last used.
    pub last_used_at: Option<f64>,
}

/// When conversations started.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Activity {
    /// Starts by day of the week.
    pub by_day: Vec<DayCount>,
    /// Starts by hour of the day.
    pub by_hour: Vec<HourCount>,
    /// Starts by date; only days with any.
    pub by_date: Vec<DateCount>,
    /// The day of the week with most starts.
    pub busiest_day: Option<DayCount>,
    /// The hour with most starts.
    pub busiest_hour: Option<HourCount>,
    /// How many days had a start.
    pub active_days: usize,
    /// The longest run of days in a row that had one.
    pub max_streak: u64,
}

/// Starts on a day of the week.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DayCount {
    /// `Mon` to `Sun`.
    pub day: &'static str,
    /// Number of starts.
    pub count: u64,
}

/// Starts in an hour of the day.
#[derive(Debug, Serialize, JsonSchema)]
pub struct HourCount {
    /// The hour, 0 to 23.
    pub hour: usize,
    /// Number of starts.
    pub count: u64,
}

/// Starts on a date.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DateCount {
    /// The date, `YYYY-MM-DD`.
    pub date: String,
    /// Number of starts.
    pub count: u64,
}

/// A session that stands out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TopSession<'a> {
    /// The distinction: `longest`, `messages`, `tokens`, `tool_calls` or `cost`.
    pub label: &'static str,
    /// The session.
    pub session_id: &'a str,
    /// Its title.
    pub title: Option<&'a str>,
    /// When it started.
    pub started_at: f64,
    /// The value: seconds, a count or US dollars.
    pub value: f64,
}
