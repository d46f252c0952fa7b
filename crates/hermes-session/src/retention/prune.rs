//! Pruning: what [`plan`](super::plan) selects, deleted in steps.

use super::{RetentionPolicy, plan};
use crate::{Maintenance, SessionId, StoreError, Timestamp};

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
    /// Conversations that stay, because something happened in them since they were selected.
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
    let (mut pruned, total) = (Pruned::default(), conversations.len());
    let mut left = conversations.as_slice();
    while !left.is_empty() {
        let step = store.prune(&left[..left.len().min(HANDED)], policy, now).await?;
        pruned.add(step);
        let done = usize::try_from(step.looked_at).unwrap_or(usize::MAX).clamp(1, left.len());
        left = &left[done..];
        progress((total - left.len()) as u64, total as u64);
    }
    Ok(pruned)
}
