//! Chains of continuations in a span. A chain may have begun before the span, so the provider is asked for the earlier
//! sessions.

use super::SessionFacts;
use crate::{Lineage, Link, Relation, SessionId};
use std::collections::{BTreeMap, BTreeSet};

/// The sessions of a span, and the earlier sessions that they continue.
#[derive(Debug, Default)]
pub struct Chains {
    links: BTreeMap<SessionId, Link>,
    asked: BTreeSet<SessionId>,
}

impl Chains {
    /// Takes the sessions of the span alone.
    pub fn of(sessions: &[SessionFacts]) -> Self {
        let link = |facts: &SessionFacts| Link {
            id: facts.id.clone(),
            parent: facts.parent.clone(),
            relation: facts.relation,
            started_at: facts.started_at,
        };
        let links = sessions.iter().map(|facts| (facts.id.clone(), link(facts))).collect();
        Self { links, asked: BTreeSet::new() }
    }

    /// Returns parents of continuations that were neither added nor returned before. The caller looks them up and
    /// [adds](Self::add) them, until none is returned.
    pub fn missing(&mut self) -> Vec<SessionId> {
        let carried = self.links.values().filter(|link| link.relation == Relation::Continuation);
        let parents: BTreeSet<&SessionId> = carried.filter_map(|link| link.parent.as_ref()).collect();
        let is_new = |id: &&&SessionId| !self.links.contains_key(**id) && !self.asked.contains(**id);
        let missing: Vec<SessionId> = parents.iter().filter(is_new).map(|id| (*id).clone()).collect();
        self.asked.extend(missing.iter().cloned());
        missing
    }

    /// Adds one of the missing sessions.
    pub fn add(&mut self, link: Link) {
        self.links.insert(link.id.clone(), link);
    }

    /// Sets [`SessionFacts::is_aside`] of each session.
    pub fn set_aside(&self, sessions: &mut [SessionFacts]) {
        let lineage = self.lineage();
        for facts in sessions {
            let first = lineage.compressed_into(&facts.id).into_iter().next();
            let relation = first.and_then(|first| lineage.link(&first)).map_or(facts.relation, |link| link.relation);
            facts.is_aside = relation == Relation::Delegate;
        }
    }

    /// Returns every chain in which a session of the span continues another one, oldest first, beginning with the last
    /// session before the span.
    pub fn carried_on(&self, sessions: &[SessionFacts]) -> Vec<Vec<SessionId>> {
        let lineage = self.lineage();
        let carries_on = |facts: &&SessionFacts| facts.relation == Relation::Continuation;
        let within: BTreeSet<&SessionId> = sessions.iter().map(|facts| &facts.id).collect();
        let parents: BTreeSet<&SessionId> =
            sessions.iter().filter(carries_on).filter_map(|facts| facts.parent.as_ref()).collect();
        let tips = sessions.iter().filter(carries_on).filter(|facts| !parents.contains(&facts.id));
        let chain = |tip: &SessionFacts| {
            let mut chain = lineage.compressed_into(&tip.id);
            chain.push(tip.id.clone());
            let first = chain.iter().position(|id| within.contains(id)).unwrap_or(0);
            chain.split_off(first.saturating_sub(1))
        };
        tips.map(chain).collect()
    }

    fn lineage(&self) -> Lineage {
        Lineage::new(self.links.values().cloned())
    }
}
