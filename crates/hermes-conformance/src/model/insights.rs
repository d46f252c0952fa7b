//! Usage of an agent, computed from every session and every message.

use super::State;
use hermes_session::insights::{Chains, Gathering, MessageCounts, SessionFacts, Trace, repeats};
use hermes_session::{
    Insights, InsightsRequest, Json, MessageId, MessageState, Role, SessionFilter, SessionId, SessionSummary, View,
};
use std::collections::HashSet;

impl State {
    pub(super) fn insights(&self, request: &InsightsRequest) -> Insights {
        let mut gathering = Gathering::new();
        let mut sessions = self.facts(request);
        let mut chains = Chains::of(&sessions);
        self.links().links().for_each(|link| chains.add(link.clone()));
        chains.set_aside(&mut sessions);
        let mut carried_on = chains.carried_on(&sessions);
        let there: HashSet<SessionId> = carried_on.iter().flatten().cloned().collect();
        let is_compacted = |facts: &&SessionFacts| !there.contains(&facts.id) && self.compacted(&facts.id) > 0;
        carried_on.extend(sessions.iter().filter(is_compacted).map(|facts| vec![facts.id.clone()]));
        let repeated = self.repeated(&carried_on);
        for mut facts in sessions {
            let from = facts.counts_from();
            for message in self.transcripts.get(&facts.id).into_iter().flatten() {
                if from.is_some_and(|from| message.timestamp < from)
                    || !message.state.is_said()
                    || repeated.contains(&message.id)
                {
                    continue;
                }
                facts.messages.count(message.body.role.as_str(), 1);
                match &message.body.role {
                    Role::Assistant => {
                        let calls = message.body.tool_calls.as_ref().map(Json::as_str);
                        facts.tool_calls += calls.map_or(0, |calls| gathering.calls(calls, Some(message.timestamp)));
                    }
                    Role::Tool => gathering.results(message.body.tool_name.as_deref().unwrap_or(""), 1),
                    _ => {}
                }
            }
            gathering.session(facts);
        }
        gathering.finish()
    }

    /// Returns the messages of these chains that were copied from the previous session.
    fn repeated(&self, chains: &[Vec<SessionId>]) -> HashSet<MessageId> {
        let mut repeated = HashSet::new();
        for chain in chains {
            let mut before = Vec::new();
            for id in chain {
                let said = self.transcripts.get(id).into_iter().flatten().filter(|message| message.state.is_said());
                let said: Vec<Trace> = said.map(Trace::of).collect();
                repeated.extend(repeats(&before, &said, self.compacted(id)));
                before = if said.is_empty() { before } else { said };
            }
        }
        repeated
    }

    /// Returns the number of compacted messages of a session.
    fn compacted(&self, id: &SessionId) -> usize {
        let all = self.transcripts.get(id).into_iter().flatten();
        all.filter(|message| message.state == MessageState::Compacted).count()
    }

    /// Returns the sessions of a span by id, without their messages.
    fn facts(&self, request: &InsightsRequest) -> Vec<SessionFacts> {
        let mut rows = self.rows(View::Sessions, &SessionFilter::default());
        rows.sort_by(|one, other| one.id.cmp(&other.id));
        let source = |row: &SessionSummary| self.sessions[&row.conversation].source.clone();
        rows.retain(|row| row.started_at >= request.since);
        rows.retain(|row| request.source.as_ref().is_none_or(|asked| *asked == source(row)));
        rows.retain(|row| !request.exclude_sources.contains(&source(row)));
        let facts = |row: SessionSummary| SessionFacts {
            source: source(&row),
            id: row.id,
            conversation: row.conversation,
            parent: row.parent_session_id,
            relation: row.relation,
            is_aside: false,
            model: row.model,
            title: row.title,
            started_at: row.started_at,
            ended_at: row.ended_at,
            last_active: row.last_active,
            messages: MessageCounts::default(),
            tool_calls: 0,
            usage: row.usage,
        };
        rows.into_iter().map(facts).collect()
    }
}
