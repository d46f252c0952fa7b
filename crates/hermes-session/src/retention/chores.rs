//! Periodic cleanup that runs without being requested: deletes ghosts and old conversations, and ends orphans.

use super::{Candidate, Pruned, RetentionPolicy, plan, prune, prune_planned};
use crate::{
    ConversationStore, EndReason, ListRequest, Maintenance, Order, PageRequest, Request, SessionId, SessionSummary,
    StoreError, Timestamp, View,
};
use std::ops::ControlFlow;

/// Key of the value that holds the time of the last automatic pruning, in seconds. The agent reads and writes it too.
pub const LAST_AUTO_PRUNE: &str = "last_auto_prune";
/// Key of the value that records that ghosts were deleted once. The agent reads and writes it too.
const GHOSTS_PRUNED: &str = "ghost_session_prune_v1";
/// Key of the value that records that orphans were ended once. The agent reads and writes it too.
const ORPHANS_ENDED: &str = "orphaned_compression_finalize_v1";

/// Minimum age of an orphan, in seconds.
const ORPHAN_AGE: f64 = 7.0 * 86_400.0;

/// Deletes sessions that a terminal started and left without a message ([`RetentionPolicy::ghosts`]).
///
/// # Errors
/// If the store fails. Sessions deleted by then stay deleted.
pub async fn prune_ghosts(store: &dyn Maintenance, now: Timestamp) -> Result<Pruned, StoreError> {
    prune(store, &RetentionPolicy::ghosts(), now, &mut |_, _| {}).await
}

/// Ends active sessions that a compression created more than a week ago, that have messages, and in which the model was
/// never called. Returns their number.
///
/// # Errors
/// If the store fails. Sessions ended by then stay ended.
pub async fn end_orphans(store: &dyn ConversationStore, now: Timestamp) -> Result<u64, StoreError> {
    const PAGE: u32 = 1_000;
    let page = PageRequest::first(PAGE);
    let mut request = ListRequest { view: View::Sessions, order: Order::Id, page, ..ListRequest::default() };
    let mut ended = 0;
    loop {
        let found = store.list(&request).await?;
        for row in found.rows.iter().filter(|row| may_be_orphan(row, now)) {
            let Some(parent) = &row.parent_session_id else { continue };
            let parent = store.session(parent).await?;
            let is_compressed = parent.is_some_and(|parent| {
                parent.ended_at.is_some()
                    && parent.end_reason.is_some_and(|reason| reason.as_str() == EndReason::COMPRESSION)
            });
            let reason = EndReason::from_stored(EndReason::ORPHANED_COMPRESSION);
            if is_compressed && store.end(&row.id, &reason, &Request::at(now)).await? {
                ended += 1;
            }
        }
        match found.next {
            Some(next) => request.after = Some(next),
            None => return Ok(ended),
        }
    }
}

fn may_be_orphan(row: &SessionSummary, now: Timestamp) -> bool {
    row.ended_at.is_none()
        && row.usage.api_call_count == 0
        && row.message_count > 0
        && now.since(row.started_at) > ORPHAN_AGE
}

/// Rule for pruning old conversations automatically.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoPrune {
    /// Policy that selects them.
    pub policy: RetentionPolicy,
    /// Minimum time between two runs, in hours.
    pub interval_hours: f64,
    /// Whether ghosts and orphans are cleaned up first, once in the lifetime of a store.
    pub clears_leftovers: bool,
}

impl AutoPrune {
    /// Creates a rule that only prunes by the policy, at most once in `interval_hours`.
    pub const fn new(policy: RetentionPolicy, interval_hours: f64) -> Self {
        Self { policy, interval_hours, clears_leftovers: false }
    }
}

/// A run of [`auto_prune`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AutoPruneRun {
    /// Result of pruning by the policy, without ghosts.
    pub pruned: Pruned,
    /// Conversations that were processed, ghosts included. Those that no longer exist were deleted.
    pub candidates: Vec<Candidate>,
    /// Whether this is the first run in this store.
    pub is_first: bool,
    /// Whether every candidate was processed. If not, the run stays due.
    pub is_finished: bool,
}

/// Outcome of [`auto_prune`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AutoPruneOutcome {
    /// It ran, to its end or until it was stopped.
    Ran(AutoPruneRun),
    /// It is not due.
    NotDue,
    /// Another process claimed the run.
    ClaimedElsewhere,
}

impl AutoPruneOutcome {
    /// Returns the run, or `None` if it was skipped.
    pub fn run(self) -> Option<AutoPruneRun> {
        match self {
            Self::Ran(run) => Some(run),
            Self::NotDue | Self::ClaimedElsewhere => None,
        }
    }
}

/// Prunes old conversations ([`prune_planned`]) if a run is due. The run is claimed by a compare-and-set of
/// [`LAST_AUTO_PRUNE`], so that only one of several processes does it.
///
/// A time in the future, or one that can't be parsed, counts as due. `progress` may break after any step; the run then
/// stays due, as it does if it fails.
///
/// # Errors
/// If the store fails. Conversations deleted by then stay deleted.
pub async fn auto_prune(
    store: &dyn Maintenance,
    rule: &AutoPrune,
    now: Timestamp,
    progress: &mut (dyn FnMut(&Pruned) -> ControlFlow<()> + Send),
) -> Result<AutoPruneOutcome, StoreError> {
    let previous = store.meta(LAST_AUTO_PRUNE).await?;
    let last = previous.as_deref().and_then(|text| text.trim().parse::<f64>().ok());
    if !is_due(last, now, rule.interval_hours) {
        return Ok(AutoPruneOutcome::NotDue);
    }
    let mine = now.seconds().to_string();
    if !store.swap_meta(LAST_AUTO_PRUNE, previous.as_deref(), Some(&mine)).await? {
        return Ok(AutoPruneOutcome::ClaimedElsewhere);
    }
    match run(store, rule, now, last.is_none(), progress).await {
        Ok(run) if run.is_finished => Ok(AutoPruneOutcome::Ran(run)),
        Ok(run) => {
            // A first run was reported as such, so the next one must not be the first again.
            let due = if run.is_first { Some("0.0") } else { previous.as_deref() };
            store.swap_meta(LAST_AUTO_PRUNE, Some(&mine), due).await?;
            Ok(AutoPruneOutcome::Ran(run))
        }
        Err(error) => {
            // The caller gets the first error. If releasing the claim fails too, the next run is due after the
            // interval.
            _ = store.swap_meta(LAST_AUTO_PRUNE, Some(&mine), previous.as_deref()).await;
            Err(error)
        }
    }
}

/// Returns whether enough time has passed since the last run.
fn is_due(last: Option<f64>, now: Timestamp, hours: f64) -> bool {
    last.is_none_or(|last| !(0.0..hours * 3_600.0).contains(&(now.seconds() - last)))
}

async fn run(
    store: &dyn Maintenance,
    rule: &AutoPrune,
    now: Timestamp,
    is_first: bool,
    progress: &mut (dyn FnMut(&Pruned) -> ControlFlow<()> + Send),
) -> Result<AutoPruneRun, StoreError> {
    let mut run = AutoPruneRun { pruned: Pruned::default(), candidates: Vec::new(), is_first, is_finished: false };
    if rule.clears_leftovers && store.meta(GHOSTS_PRUNED).await?.is_none() {
        let (_, is_finished) = pruned(store, &RetentionPolicy::ghosts(), now, &mut run.candidates, progress).await?;
        if !is_finished {
            return Ok(run);
        }
        store.set_meta(GHOSTS_PRUNED, Some("1")).await?;
    }
    if rule.clears_leftovers && store.meta(ORPHANS_ENDED).await?.is_none() {
        end_orphans(store, now).await?;
        store.set_meta(ORPHANS_ENDED, Some("1")).await?;
    }
    (run.pruned, run.is_finished) = pruned(store, &rule.policy, now, &mut run.candidates, progress).await?;
    Ok(run)
}

/// Plans and prunes by a policy, and adds the processed conversations to `candidates`. Returns the result and whether
/// everything was processed.
async fn pruned(
    store: &dyn Maintenance,
    policy: &RetentionPolicy,
    now: Timestamp,
    candidates: &mut Vec<Candidate>,
    progress: &mut (dyn FnMut(&Pruned) -> ControlFlow<()> + Send),
) -> Result<(Pruned, bool), StoreError> {
    let mut planned = plan(store, policy, now).await?;
    let conversations: Vec<SessionId> = planned.iter().map(|candidate| candidate.conversation.clone()).collect();
    let pruned = prune_planned(store, &conversations, policy, now, progress).await?;
    let looked_at = usize::try_from(pruned.looked_at).unwrap_or(usize::MAX);
    let is_all = looked_at >= planned.len();
    planned.truncate(looked_at);
    candidates.append(&mut planned);
    Ok((pruned, is_all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_once_in_an_interval() {
        const HOUR: f64 = 3_600.0;
        let now = Timestamp::from_seconds(1_000_000.0).unwrap();
        for (last, hours, expect) in [
            (None, 24.0, true),
            (Some(1_000_000.0 - 23.9 * HOUR), 24.0, false),
            (Some(1_000_000.0 - 24.0 * HOUR), 24.0, true),
            (Some(1_000_000.0), 0.0, true),
            (Some(1_000_060.0), 24.0, true),
            (Some(f64::NAN), 24.0, true),
        ] {
            assert_eq!(is_due(last, now, hours), expect, "{last:?} {hours}");
        }
    }
}
