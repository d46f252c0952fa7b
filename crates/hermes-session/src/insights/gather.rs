//! Counts the data that a provider passes.

use super::calls::{SkillAction, calls};
use super::{Distinction, Insights, Notable, SessionFacts, SkillUse, Tally, ToolUse};
use crate::{SessionId, Timestamp};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Insights under construction. Input is counted and dropped, except for a few facts about each conversation.
#[derive(Debug, Default)]
pub struct Gathering {
    insights: Insights,
    conversations: BTreeMap<SessionId, Conversation>,
    /// The models used by each conversation.
    models: HashSet<(SessionId, Option<String>)>,
    /// By name. There are few tools and many calls, so each name is copied once.
    tools: HashMap<String, ToolUse>,
}

/// Facts kept about a conversation.
#[derive(Debug, Default)]
struct Conversation {
    /// Its first start within the span.
    started_at: Option<Timestamp>,
    segments: Vec<Segment>,
    /// Duration of its chain within the span, in seconds.
    seconds: f64,
    messages: u64,
    tokens: i64,
    tool_calls: u64,
    cost: f64,
}

/// A session of a conversation.
#[derive(Debug)]
struct Segment {
    id: SessionId,
    is_aside: bool,
    title: Option<String>,
    started_at: Timestamp,
    seconds: f64,
}

impl Gathering {
    /// Starts without any data.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts results that name a tool. An empty name is ignored.
    pub fn results(&mut self, tool: &str, count: u64) {
        if !tool.is_empty() {
            self.tool(tool, |used| used.results += count);
        }
    }

    /// Counts the calls in the stored `tool_calls` of a model's message, and the skills that they use. Returns the
    /// number of calls.
    pub fn calls(&mut self, stored: &str, said_at: Option<Timestamp>) -> u64 {
        let found = calls(stored);
        let count = found.len() as u64;
        for call in found {
            if let Some(tool) = &call.tool {
                self.tool(tool, |used| used.calls += 1);
            }
            if let Some((action, name)) = call.skill {
                let SkillUse { loads, edits, last_used } = self.insights.skills.entry(name).or_default();
                *match action {
                    SkillAction::Load => loads,
                    SkillAction::Edit => edits,
                } += 1;
                *last_used = (*last_used).max(said_at);
            }
        }
        count
    }

    fn tool(&mut self, name: &str, count: impl FnOnce(&mut ToolUse)) {
        match self.tools.get_mut(name) {
            Some(used) => count(used),
            None => count(self.tools.entry(name.to_owned()).or_default()),
        }
    }

    /// Counts a session that matches the request. Floating-point sums depend on the order of the calls, which is by id.
    pub fn session(&mut self, facts: SessionFacts) {
        let is_first_on_model = self.models.insert((facts.conversation.clone(), facts.model.clone()));
        let conversation = self.conversations.entry(facts.conversation.clone()).or_default();
        let is_first = conversation.started_at.is_none();
        add(&mut self.insights.total, &facts, is_first);
        add(self.insights.sources.entry(facts.source.clone()).or_default(), &facts, is_first);
        add(self.insights.models.entry(facts.model.clone()).or_default(), &facts, is_first_on_model);
        conversation.add(facts);
    }

    /// Returns the result.
    pub fn finish(mut self) -> Insights {
        for conversation in self.conversations.values_mut() {
            conversation.seconds = conversation.chain().fold(0.0, |sum, segment| sum + segment.seconds);
        }
        for conversation in self.conversations.values().filter(|conversation| conversation.seconds > 0.0) {
            self.insights.time.conversations += 1;
            self.insights.time.seconds += conversation.seconds;
        }
        self.insights.tools = self.tools.into_iter().collect();
        self.insights.starts = self.conversations.values().filter_map(|conversation| conversation.started_at).collect();
        self.insights.starts.sort();
        self.insights.notable = notable(&self.conversations);
        self.insights
    }
}

fn add(tally: &mut Tally, facts: &SessionFacts, is_first: bool) {
    tally.conversations += u64::from(is_first);
    tally.sessions += 1;
    let counts = &facts.messages;
    tally.messages.user += counts.user;
    tally.messages.assistant += counts.assistant;
    tally.messages.tool += counts.tool;
    tally.messages.other += counts.other;
    tally.tool_calls += facts.tool_calls;
    tally.usage = std::mem::take(&mut tally.usage).plus(&facts.usage);
    let status = facts.usage.cost_status.as_deref();
    tally.included_cost_sessions += u64::from(status == Some("included"));
    match known_cost(facts) {
        Some(cost) => tally.cost_usd = Some(tally.cost_usd.unwrap_or(0.0) + cost),
        None => {
            let used = &facts.usage;
            let tokens = [used.input_tokens, used.output_tokens, used.cache_read_tokens, used.cache_write_tokens];
            tally.unknown_cost_sessions += u64::from(tokens.iter().any(|tokens| *tokens > 0));
        }
    }
}

/// Returns the cost of a session, if it is known. For a model without a price the agent writes 0 and the status
/// `unknown`.
fn known_cost(facts: &SessionFacts) -> Option<f64> {
    let is_unknown = facts.usage.cost_status.as_deref() == Some("unknown");
    facts.usage.cost().filter(|cost| cost.is_finite() && !(is_unknown && *cost == 0.0))
}

impl Conversation {
    fn add(&mut self, facts: SessionFacts) {
        let start = facts.started_at;
        self.started_at = Some(self.started_at.map_or(start, |known| known.min(start)));
        self.messages += facts.messages.all();
        self.tokens = self.tokens.saturating_add(facts.usage.input_tokens).saturating_add(facts.usage.output_tokens);
        self.tool_calls += facts.tool_calls;
        self.cost += known_cost(&facts).unwrap_or(0.0);
        self.segments.push(Segment {
            // A clock that was set back counts as zero time.
            seconds: facts.ended_at.unwrap_or(facts.last_active).since(start).max(0.0),
            id: facts.id,
            is_aside: facts.is_aside,
            title: facts.title,
            started_at: start,
        });
    }

    /// Returns its sessions without delegates and their continuations.
    fn chain(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| !segment.is_aside)
    }

    fn value(&self, distinction: Distinction) -> f64 {
        match distinction {
            Distinction::Longest => self.seconds,
            Distinction::Messages => self.messages as f64,
            Distinction::Tokens => self.tokens as f64,
            Distinction::ToolCalls => self.tool_calls as f64,
            Distinction::Cost => self.cost,
        }
    }
}

/// Returns the top conversation for each distinction. Ties go to the one that started last, then to the greatest id.
fn notable(conversations: &BTreeMap<SessionId, Conversation>) -> Vec<Notable> {
    use Distinction::{Cost, Longest, Messages, Tokens, ToolCalls};
    let mut found = Vec::new();
    for distinction in [Longest, Messages, Tokens, ToolCalls, Cost] {
        let most = conversations.iter().max_by(|(_, one), (_, other)| {
            let by_value = one.value(distinction).total_cmp(&other.value(distinction));
            by_value.then_with(|| one.started_at.cmp(&other.started_at))
        });
        let Some((first, most)) = most.filter(|(_, most)| most.value(distinction) > 0.0) else { continue };
        let tip = most.chain().max_by_key(|segment| (segment.started_at, &segment.id));
        // Possibly only its delegates are within the span.
        let (id, title) = tip.map_or((first, &None), |tip| (&tip.id, &tip.title));
        let Some(started_at) = most.started_at else { continue };
        found.push(Notable {
            distinction,
            id: id.clone(),
            title: title.clone(),
            started_at,
            value: most.value(distinction),
        });
    }
    found
}
