//! What is cleared away now and then without being asked for: ghosts, orphans, and what is old.

use super::{Pruned, RetentionPolicy, prune};
use crate::{
    ConversationStore, EndReason, ListRequest, Maintenance, Order, PageRequest, Request, SessionSummary, StoreError,
    Timestamp, View,
};

/// Where the store keeps when old conversations were last cleared away, as the agent does.
pub const LAST_AUTO_PRUNE: &str = "last_auto_prune";

/// An orphan is older than that, in seconds.
const ORPHAN_AGE: f64 = 7.0 * 86_400.0;

/// Deletes sessions that a terminal began and left without a word ([`RetentionPolicy::ghosts`]).
///
/// # Errors
/// If the store fails; what was deleted by then stays deleted.
pub async fn prune_ghosts(store: &dyn Maintenance, now: Timestamp) -> Result<Pruned, StoreError> {
    prune(store, &RetentionPolicy::ghosts(), now, &mut |_, _| {}).await
}

/// Ends sessions that a compression made a week ago or more and in which the model never was asked; how many.
///
/// # Errors
/// If the store fails; what was ended by then stays ended.
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

/// What clearing away without being asked came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AutoPruned {
    /// It was done not long ago, or somebody else does it now.
    Skipped,
    /// It was done.
    Done(Pruned),
}

/// Deletes what is old ([`prune`]), if that was not done within so many hours. Of several processes that come at once one does it.
///
/// A time in the future, or one that can't be read, holds nobody up. If it fails, the next one tries again.
///
/// # Errors
/// If the store fails; what was deleted by then stays deleted.
pub async fn auto_prune(
    store: &dyn Maintenance,
    policy: &RetentionPolicy,
    hours: f64,
    now: Timestamp,
) -> Result<AutoPruned, StoreError> {
    let last = store.meta(LAST_AUTO_PRUNE).await?;
    let age = last.as_deref().and_then(|text| text.trim().parse::<f64>().ok()).map(|last| now.seconds() - last);
    if age.is_some_and(|age| age >= 0.0 && age < hours * 3_600.0) {
        return Ok(AutoPruned::Skipped);
    }
    let mine = now.seconds().to_string();
    if !store.swap_meta(LAST_AUTO_PRUNE, last.as_deref(), Some(&mine)).await? {
        return Ok(AutoPruned::Skipped);
    }
    match prune(store, policy, now, &mut |_, _| {}).await {
        Ok(pruned) => Ok(AutoPruned::Done(pruned)),
        Err(error) => {
            // As it was, so that it is tried again; if that fails as well, it waits its time.
            _ = store.swap_meta(LAST_AUTO_PRUNE, Some(&mine), last.as_deref()).await;
            Err(error)
        }
    }
}
