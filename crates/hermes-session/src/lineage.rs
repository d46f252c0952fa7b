//! Lineage: which sessions belong together, independent of chain length and clocks.

use crate::{Json, NewChild, NewSession, Relation, Session, SessionId, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the relation of a new child that does not state it, from the state of its parent.
///
/// The agent ends a session with `compression` or `branched` and then creates the child, so at that time the parent's
/// end reason determines the relation. Newer agents write the relation into the child's settings, which takes
/// precedence. A second child of a compressed session can't be its continuation: it is a branch, so that nothing hides
/// it.
pub fn relation_at_birth(parent: ParentAtBirth<'_>, model_config: Option<&Json>) -> Relation {
    let says = |key: &str| model_config.is_some_and(|config| config.as_str().contains(key));
    match parent.end_reason {
        _ if says("\"_branched_from\": ") => Relation::Branch,
        _ if says("\"_delegate_from\": ") => Relation::Delegate,
        Some("compression") if !parent.has_continuation => Relation::Continuation,
        Some("compression" | "branched") => Relation::Branch,
        _ => Relation::Delegate,
    }
}

/// Key in a session's settings by which newer agents recognise a branch.
const BRANCHED_FROM: &str = "_branched_from";

/// Returns the settings of a branch from `parent`: the parent's, and the key by which newer agents recognise a branch.
/// Without it they take the branch for a delegate, hide it, and delete it with its parent.
pub fn settings_of_branch(settings: Option<&Json>, parent: &SessionId) -> Option<Json> {
    let mark = Json::string(parent.as_str());
    let none = Json::from_value(&serde_json::Value::Object(serde_json::Map::new()));
    let settings = settings.unwrap_or(&none);
    Some(settings.with_member(BRANCHED_FROM, &mark).unwrap_or_else(|| settings.clone()))
}

/// Returns the settings of a continuation: those of its parent without the branch key, which stays with the first
/// session of the chain.
pub fn settings_of_continuation(settings: Option<&Json>) -> Option<Json> {
    let settings = settings?;
    let carried_on = settings.without_member(BRANCHED_FROM).unwrap_or_else(|| settings.clone());
    Some(carried_on).filter(|settings| !settings.is_falsy())
}

/// Returns a child with the values it inherits from its parent: source, user, settings, and model and instructions
/// unless it has its own.
pub fn child_of(parent: &Session, child: &NewChild, relation: Relation, started_at: Timestamp) -> NewSession {
    NewSession {
        user_id: parent.user_id.clone(),
        model: child.model.clone().or_else(|| parent.model.clone()),
        model_config: match relation {
            Relation::Branch => settings_of_branch(parent.model_config.as_ref(), &parent.id),
            _ => settings_of_continuation(parent.model_config.as_ref()),
        },
        system_prompt: child.system_prompt.clone().or_else(|| parent.system_prompt.clone()),
        started_at: Some(started_at),
        ..NewSession::new(child.id.clone(), parent.source.clone()).child_of(parent.id.clone(), relation)
    }
}

/// State of a parent when a child is created.
#[derive(Debug, Clone, Copy)]
pub struct ParentAtBirth<'a> {
    /// Its end reason, if it has ended.
    pub end_reason: Option<&'a str>,
    /// Whether it has a continuation already.
    pub has_continuation: bool,
}

/// Position of one session in a lineage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The session.
    pub id: SessionId,
    /// Its parent, which may have been deleted.
    pub parent: Option<SessionId>,
    /// Its relation to the parent.
    pub relation: Relation,
    /// Start time; orders siblings.
    pub started_at: Timestamp,
}

/// Sessions linked by parent, in either direction, from one of them.
///
/// Every result is finite and deterministic, even if a foreign writer left a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lineage {
    links: BTreeMap<SessionId, Link>,
    children: BTreeMap<SessionId, BTreeSet<(Timestamp, SessionId)>>,
}

impl Lineage {
    /// Builds a lineage from its links, in any order.
    pub fn new(links: impl IntoIterator<Item = Link>) -> Self {
        let mut lineage = Self::default();
        for link in links {
            if let Some(parent) = &link.parent {
                lineage.children.entry(parent.clone()).or_default().insert((link.started_at, link.id.clone()));
            }
            lineage.links.insert(link.id.clone(), link);
        }
        lineage
    }

    /// Returns every link, by id.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.links.values()
    }

    /// Returns the link of one session.
    pub fn link(&self, id: &SessionId) -> Option<&Link> {
        self.links.get(id)
    }

    /// Returns the ancestors of `id`, oldest first, without `id`.
    pub fn ancestors(&self, id: &SessionId) -> Vec<SessionId> {
        self.climb(id, |_| true)
    }

    /// Returns the oldest ancestor of `id` by any kind of link; `id` itself if it has no parent.
    pub fn root(&self, id: &SessionId) -> SessionId {
        self.ancestors(id).into_iter().next().unwrap_or_else(|| id.clone())
    }

    /// Returns the sessions whose contexts were compressed into that of `id`, oldest first, without `id`.
    pub fn compressed_into(&self, id: &SessionId) -> Vec<SessionId> {
        self.climb(id, |link| link.relation == Relation::Continuation)
    }

    /// Returns the first session of the conversation of `id`. A cycle has no start; its smallest id stands for it.
    pub fn conversation_root(&self, id: &SessionId) -> SessionId {
        let belongs = |link: &Link| !link.relation.starts_conversation();
        let mut path = self.climb(id, belongs);
        path.push(id.clone());
        let above = self.links.get(&path[0]).filter(|link| belongs(link)).and_then(|link| link.parent.as_ref());
        let cycle = above.and_then(|parent| path.iter().position(|seen| seen == parent)).unwrap_or(0);
        path.swap_remove((0..=cycle).min_by_key(|place| &path[*place]).unwrap_or(0))
    }

    /// Returns the last continuation of `id`; `id` itself if there is none.
    ///
    /// Of two continuations that a foreign writer made, it follows the later one.
    pub fn tip(&self, id: &SessionId) -> SessionId {
        let (mut at, mut seen) = (id.clone(), BTreeSet::from([id.clone()]));
        while let Some(next) = self.continuation(&at) {
            if !seen.insert(next.clone()) {
                break;
            }
            at = next;
        }
        at
    }

    /// Returns the conversation of `id`: the chain from root to tip, then its delegates, each chain in order.
    pub fn conversation(&self, id: &SessionId) -> Vec<SessionId> {
        self.below(&self.conversation_root(id), |link| !link.relation.starts_conversation())
    }

    /// Returns the chain of `id` from its first session to its tip, then the delegates of all these, each chain in
    /// order. That is the whole conversation, unless the chain is that of a delegate.
    pub fn chain(&self, id: &SessionId) -> Vec<SessionId> {
        let first = self.compressed_into(id).into_iter().next().unwrap_or_else(|| id.clone());
        self.below(&first, |link| !link.relation.starts_conversation())
    }

    /// Returns all descendants of `id` by any kind of link, parents before children, without `id`.
    pub fn descendants(&self, id: &SessionId) -> Vec<SessionId> {
        self.below(id, |_| true).into_iter().filter(|other| other != id).collect()
    }

    /// Returns the lineage without these sessions. Children of a removed session become roots.
    pub fn without(&self, gone: &[SessionId]) -> Self {
        let gone: BTreeSet<&SessionId> = gone.iter().collect();
        Self::new(self.links.values().filter(|link| !gone.contains(&link.id)).map(|link| {
            match link.parent.as_ref().is_some_and(|parent| gone.contains(parent)) {
                true => Link { parent: None, relation: Relation::Root, ..link.clone() },
                false => link.clone(),
            }
        }))
    }

    fn continuation(&self, id: &SessionId) -> Option<SessionId> {
        let children = self.children.get(id)?;
        let carries_on = |(_, child): &&(Timestamp, SessionId)| {
            self.links.get(child).is_some_and(|link| link.relation == Relation::Continuation)
        };
        children.iter().rev().find(carries_on).map(|(_, child)| child.clone())
    }

    /// Returns the existing ancestors of `id`, oldest first, climbing as long as `follow` holds for the child.
    fn climb(&self, id: &SessionId, follow: impl Fn(&Link) -> bool) -> Vec<SessionId> {
        let mut path = Vec::new();
        let mut seen = BTreeSet::from([id]);
        let mut at = self.links.get(id);
        while let Some(link) = at.filter(|link| follow(link)) {
            at =
                link.parent.as_ref().and_then(|parent| self.links.get(parent)).filter(|parent| seen.insert(&parent.id));
            path.extend(at.map(|parent| parent.id.clone()));
        }
        path.reverse();
        path
    }

    /// Returns `id` and its descendants, the continuations of a session before its other children.
    fn below(&self, id: &SessionId, follow: impl Fn(&Link) -> bool) -> Vec<SessionId> {
        let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
        let mut todo = vec![id.clone()];
        while let Some(next) = todo.pop() {
            if !seen.insert(next.clone()) {
                continue;
            }
            let children =
                self.children.get(&next).into_iter().flatten().filter_map(|(_, child)| self.links.get(child));
            let (on, others): (Vec<&Link>, Vec<&Link>) =
                children.filter(|link| follow(link)).partition(|link| link.relation == Relation::Continuation);
            todo.extend(others.into_iter().rev().chain(on.into_iter().rev()).map(|link| link.id.clone()));
            found.push(next);
        }
        found
    }
}

#[cfg(test)]
mod tests;
