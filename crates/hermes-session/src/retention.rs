//! Retention: selects conversations that are old enough to delete, and deletes them. A dry run and a real run use the
//! same list.

mod chores;
mod prune;

pub use chores::{AutoPrune, AutoPruneOutcome, AutoPruneRun, LAST_AUTO_PRUNE, auto_prune, end_orphans, prune_ghosts};
pub use prune::{Pruned, prune, prune_planned};

use crate::{
    ConversationStore, Invalid, ListRequest, Order, PageRequest, SessionId, SessionSummary, Source, StoreError,
    Timestamp, View,
};
use std::collections::{BTreeMap, BTreeSet};

const SECONDS_PER_DAY: f64 = 86_400.0;

/// Sessions per page.
const PAGE: u32 = 1000;

/// Policy that selects the conversations to delete.
#[derive(Debug, Clone, PartialEq)]
pub struct RetentionPolicy {
    older_than: f64,
    source: Option<Source>,
    only_ghosts: bool,
    each_session: bool,
}

impl RetentionPolicy {
    /// Selects sessions that a terminal started more than a day ago and that have neither a message nor a title.
    pub fn ghosts() -> Self {
        Self { older_than: 1.0, source: Some(Source::from_stored("tui")), only_ghosts: true, each_session: false }
    }

    /// Returns whether only sessions without a message and a title are selected.
    pub const fn only_ghosts(&self) -> bool {
        self.only_ghosts
    }

    /// Selects conversations without activity for more than `older_than` days (fractions count), and only those of
    /// `source` if it is given.
    ///
    /// # Errors
    /// If the days are negative or not a number: that would select everything.
    pub fn new(older_than: f64, source: Option<Source>) -> Result<Self, Invalid> {
        let refuse =
            |why: &str| Err(Invalid::new("days", format!("{older_than} {why}"), "give 0 or more days, such as 90"));
        match older_than {
            days if !days.is_finite() => refuse("is not a finite number"),
            days if days < 0.0 => refuse("is negative"),
            _ => Ok(Self { older_than, source, only_ghosts: false, each_session: false }),
        }
    }

    /// Judges and deletes each session by itself, as the agent prunes. A child of a deleted session stays, without a
    /// parent, if it is not old enough. A session of a pinned conversation stays.
    pub fn each_session(self) -> Self {
        Self { each_session: true, ..self }
    }

    /// Returns whether each session is judged and deleted by itself.
    pub const fn takes_each_session(&self) -> bool {
        self.each_session
    }

    /// Returns the days without activity after which a conversation is selected.
    pub const fn older_than(&self) -> f64 {
        self.older_than
    }

    /// Returns the source to which the policy is limited.
    pub const fn source(&self) -> Option<&Source> {
        self.source.as_ref()
    }

    /// Returns whether a conversation with this last activity is old enough.
    pub fn admits(&self, last_active: Timestamp, now: Timestamp) -> bool {
        // Compared as a distance, because a point in time that many days ago may not exist.
        now.since(last_active) > self.older_than * SECONDS_PER_DAY
    }
}

/// A conversation that may be deleted, as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Its first session; for a policy that judges each session by itself, that session.
    pub conversation: SessionId,
    /// All its sessions, by id.
    pub members: Vec<SessionId>,
    /// Number of their messages.
    pub messages: u64,
    /// Last activity in any of them.
    pub last_active: Timestamp,
}

/// Selects the conversations that may be deleted, the longest inactive first, then by id.
///
/// `rows` are all sessions of a store, one by one ([`View::Sessions`]), in any order. A conversation is deleted as a
/// whole or not at all: it stays as long as any of its sessions is active or was active lately, or its first session is
/// not among the rows. Its source is that of its first session. A pinned conversation stays.
pub fn select(policy: &RetentionPolicy, now: Timestamp, rows: &[SessionSummary]) -> Vec<Candidate> {
    let mut tally = Tally::new(policy);
    rows.iter().for_each(|row| tally.add(row));
    tally.select(policy, now).candidates
}

/// Result of a selection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    /// Conversations that may be deleted, as [`select`] orders them.
    pub candidates: Vec<Candidate>,
    /// Number of conversations that are old enough and stay because they are pinned.
    pub pinned: u64,
    /// Number of conversations that are old enough and not pinned, and stay because a session has not ended.
    pub not_ended: u64,
}

/// Reads every session of a store and selects the conversations that may be deleted, as [`select`] does.
///
/// A conversation with an unreadable session stays, because it is unknown whether that session has ended.
pub async fn plan(
    store: &dyn ConversationStore,
    policy: &RetentionPolicy,
    now: Timestamp,
) -> Result<Vec<Candidate>, StoreError> {
    Ok(plan_all(store, policy, now).await?.candidates)
}

/// Does the same as [`plan`], and also counts the conversations that stay because they are pinned.
///
/// # Errors
/// If the store fails.
pub async fn plan_all(
    store: &dyn ConversationStore,
    policy: &RetentionPolicy,
    now: Timestamp,
) -> Result<Plan, StoreError> {
    // Not filtered by source: a member with another source may keep its conversation.
    let mut request = ListRequest {
        view: View::Sessions,
        order: Order::Id,
        page: PageRequest::first(PAGE),
        ..ListRequest::default()
    };
    let (mut tally, mut is_readable) = (Tally::new(policy), true);
    loop {
        let page = store.list(&request).await?;
        page.rows.iter().for_each(|row| tally.add(row));
        is_readable &= page.unreadable.is_empty();
        match page.next {
            Some(next) => request.after = Some(next),
            None => break,
        }
    }
    let plan = tally.select(policy, now);
    if is_readable || policy.each_session {
        return Ok(plan);
    }
    let mut whole = Plan { candidates: Vec::new(), ..plan };
    for candidate in plan.candidates {
        let linked = store.lineage(&candidate.conversation).await?.conversation(&candidate.conversation);
        if linked.into_iter().collect::<BTreeSet<_>>().iter().eq(&candidate.members) {
            whole.candidates.push(candidate);
        }
    }
    Ok(whole)
}

/// Facts about each conversation, without the rows.
#[derive(Debug)]
struct Tally {
    groups: BTreeMap<SessionId, Group>,
    each_session: bool,
}

#[derive(Debug)]
struct Group {
    /// By id. A list, because most have one member: with hundreds of thousands of conversations a tree for each would
    /// take most of the memory.
    members: Vec<SessionId>,
    /// Source of the first session; `None` until that row was seen.
    source: Option<Source>,
    is_active: bool,
    is_titled: bool,
    is_pinned: bool,
    messages: u64,
    last_active: Timestamp,
}

impl Tally {
    fn new(policy: &RetentionPolicy) -> Self {
        Self { groups: BTreeMap::new(), each_session: policy.each_session }
    }

    fn add(&mut self, row: &SessionSummary) {
        let first = if self.each_session { &row.id } else { &row.conversation };
        let group = self.groups.entry(first.clone()).or_insert_with(|| Group {
            members: Vec::with_capacity(1),
            source: None,
            is_active: false,
            is_titled: false,
            is_pinned: false,
            messages: 0,
            last_active: row.last_active,
        });
        match group.members.binary_search(&row.id) {
            Ok(_) => return,
            Err(place) => group.members.insert(place, row.id.clone()),
        }
        if row.id == *first {
            group.source = Some(row.source.clone());
        }
        group.is_active |= row.ended_at.is_none();
        group.is_titled |= row.title.is_some();
        group.is_pinned |= row.pinned_at.is_some();
        group.messages = group.messages.saturating_add(u64::try_from(row.message_count).unwrap_or(0));
        group.last_active = group.last_active.max(row.last_active);
    }

    fn select(self, policy: &RetentionPolicy, now: Timestamp) -> Plan {
        let may_go = |group: &Group| {
            let is_meant =
                group.source.as_ref().is_some_and(|own| policy.source.as_ref().is_none_or(|only| only == own));
            let is_kept = policy.only_ghosts && (group.messages > 0 || group.is_titled);
            is_meant && !is_kept && policy.admits(group.last_active, now)
        };
        let candidate = |(conversation, group): (SessionId, Group)| Candidate {
            conversation,
            members: group.members,
            messages: group.messages,
            last_active: group.last_active,
        };
        let mut plan = Plan::default();
        for (conversation, group) in self.groups.into_iter().filter(|(_, group)| may_go(group)) {
            match (group.is_active, group.is_pinned) {
                (true, true) => {}
                (true, false) => plan.not_ended += 1,
                (false, true) => plan.pinned += 1,
                (false, false) => plan.candidates.push(candidate((conversation, group))),
            }
        }
        // The sort is stable and the map was in the order of ids.
        plan.candidates.sort_by_key(|candidate| candidate.last_active);
        plan
    }
}

#[cfg(test)]
mod tests;
