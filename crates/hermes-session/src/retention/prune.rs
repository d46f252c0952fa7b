//! Pruning: what [`plan`](super::plan) selects, deleted in steps.

use super::{RetentionPolicy, plan};
use crate::{Maintenance, SessionId, StoreError, Timestamp};
use std::ops::ControlFlow;

/// How many conversations are handed over at once.
const HANDED: usize = 500;

/// What pruning came to, in one step or as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Conversations that were looked at. What was neither deleted nor kept was gone already.
    pub looked_at: u64,
    /// Conversations that were deleted.
    pub conversations: u64,
    /// The sessions in them.
    pub sessions: u64,
    /// The messages in those.
    pub messages: u64,
    /// Conversations that stay, because something happened in them since they were selected, or because they are pinned.
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

/// Deletes the conversations that may go, the longest inactive first. `progress` is told how many of how many were looked at.
///
/// Interrupted, what is deleted is deleted, and it can be run again. A dry run is [`plan`] alone: the list is the same.
///
/// # Errors
/// If the store fails; what was deleted by then stays deleted.
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

/// Deletes those of `conversations`, as [`plan`] named them, that may still go. After each step `progress` is told what was done so far, and
/// may say that this is enough: nothing further is touched then.
///
/// # Errors
/// If the store fails; what was deleted by then stays deleted.
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
