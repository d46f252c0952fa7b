//! Pruning: deletes the selection of [`plan`](super::plan) in steps.

use super::{RetentionPolicy, plan};
use crate::{Maintenance, SessionId, StoreError, Timestamp};
use std::ops::ControlFlow;

/// Conversations per call of the store.
const HANDED: usize = 500;

/// Result of pruning, of one step or in total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Conversations that were processed. Those neither deleted nor kept were gone already.
    pub looked_at: u64,
    /// Conversations that were deleted.
    pub conversations: u64,
    /// Their sessions.
    pub sessions: u64,
    /// Their messages.
    pub messages: u64,
    /// Conversations that stay because they were active since they were selected, or because they are pinned.
    pub kept: u64,
}

impl Pruned {
    fn add(&mut self, step: Self) {
        self.looked_at += step.looked_at;
        self.conversations += step.conversations;
        self.sessions += step.sessions;
        self.messages += step.messages;
        self.kept += step.kept;
    }
}

/// Deletes the conversations that the policy selects, the longest inactive first. `progress` gets the number processed
/// and the total.
///
/// If it is interrupted, deleted conversations stay deleted, and it can be run again. A dry run is [`plan`] alone: the
/// list is the same.
///
/// # Errors
/// If the store fails. Conversations deleted by then stay deleted.
pub async fn prune(
    store: &dyn Maintenance,
    policy: &RetentionPolicy,
    now: Timestamp,
    progress: &mut (dyn FnMut(u64, u64) + Send),
) -> Result<Pruned, StoreError> {
    let planned = plan(store, policy, now).await?;
    let conversations: Vec<SessionId> = planned.into_iter().map(|candidate| candidate.conversation).collect();
    let total = conversations.len() as u64;
    let mut goes_on = |pruned: &Pruned| {
        progress(pruned.looked_at, total);
        ControlFlow::Continue(())
    };
    prune_planned(store, &conversations, policy, now, &mut goes_on).await
}

/// Deletes those of `conversations`, as named by [`plan`], that may still be deleted. `progress` gets the result so far
/// after each step and may break; nothing further is touched then.
///
/// # Errors
/// If the store fails. Conversations deleted by then stay deleted.
pub async fn prune_planned(
    store: &dyn Maintenance,
    conversations: &[SessionId],
    policy: &RetentionPolicy,
    now: Timestamp,
    progress: &mut (dyn FnMut(&Pruned) -> ControlFlow<()> + Send),
) -> Result<Pruned, StoreError> {
    let mut pruned = Pruned::default();
    let mut left = conversations;
    while !left.is_empty() {
        let step = store.prune(&left[..left.len().min(HANDED)], policy, now).await?;
        let done = usize::try_from(step.looked_at).unwrap_or(usize::MAX).clamp(1, left.len());
        pruned.add(Pruned { looked_at: done as u64, ..step });
        left = &left[done..];
        if progress(&pruned).is_break() {
            break;
        }
    }
    Ok(pruned)
}
