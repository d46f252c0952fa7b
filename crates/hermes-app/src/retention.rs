//! Prune and auto-prune, together with the transcript files of the deleted sessions.

use crate::transcripts::{Removed, Transcripts};
use crate::trash;
use hermes_config::Sessions;
use hermes_session::retention::{self, AutoPrune, AutoPruneOutcome, Candidate, Pruned, RetentionPolicy, prune_planned};
use hermes_session::{Maintenance, SessionId, StoreError, Timestamp};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};
use tracing::{debug, info, warn};

/// How long auto-prune may delete after a command has printed its output.
pub const AFTER_OUTPUT: Duration = Duration::from_millis(500);

/// Conversations that were pruned.
#[derive(Debug, Default)]
pub struct PruneReport {
    /// Counts reported by the store.
    pub pruned: Pruned,
    /// Transcript files that were removed, and those that could not be.
    pub transcripts: Removed,
}

/// Deletes the candidates that may still be deleted, step by step until `progress` breaks, and their transcripts.
///
/// # Errors
/// If the store fails; deletions up to then are kept.
pub async fn prune(
    store: &dyn Maintenance,
    candidates: &[Candidate],
    policy: &RetentionPolicy,
    now: Timestamp,
    transcripts: Option<&Transcripts>,
    progress: &mut (dyn FnMut(&Pruned) -> ControlFlow<()> + Send),
) -> Result<PruneReport, StoreError> {
    let conversations: Vec<SessionId> = candidates.iter().map(|candidate| candidate.conversation.clone()).collect();
    let pruned = prune_planned(store, &conversations, policy, now, progress).await?;
    let looked_at = usize::try_from(pruned.looked_at).unwrap_or(usize::MAX).min(candidates.len());
    let transcripts = remove_transcripts(store, &candidates[..looked_at], transcripts).await;
    Ok(PruneReport { pruned, transcripts })
}

/// Options of auto-prune.
#[derive(Debug, Clone, PartialEq)]
pub struct AutoPruneOptions {
    /// Which conversations are deleted, and how often.
    pub rule: AutoPrune,
    /// How long it may delete; `None` until it is finished. At least one step is done. Planning is not counted.
    pub time_limit: Option<Duration>,
    /// Whether free space is given back afterwards, within the same limit.
    pub is_vacuumed: bool,
}

/// Result of auto-prune.
#[derive(Debug)]
pub struct AutoPruneReport {
    /// Counts reported by the store.
    pub pruned: Pruned,
    /// Transcript files that were removed, and those that could not be.
    pub transcripts: Removed,
    /// Whether it ran for the first time on this store.
    pub is_first: bool,
    /// Whether all old conversations are gone. Otherwise it stays due, and the next run continues.
    pub is_finished: bool,
}

/// Deletes old conversations and their transcripts if that is due. Of concurrent processes one does it; the others get
/// `None`.
///
/// # Errors
/// If the store fails; deletions up to then are kept, and it stays due.
pub async fn auto_prune(
    store: &dyn Maintenance,
    options: &AutoPruneOptions,
    transcripts: Option<&Transcripts>,
    now: Timestamp,
) -> Result<Option<AutoPruneReport>, StoreError> {
    let start = Instant::now();
    let mut limit = Limit { time: options.time_limit, end: None };
    let mut progress = |_: &Pruned| if limit.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let run = match retention::auto_prune(store, &options.rule, now, &mut progress).await? {
        AutoPruneOutcome::Ran(run) => run,
        AutoPruneOutcome::NotDue => {
            debug!("auto-prune skipped: not due");
            return Ok(None);
        }
        AutoPruneOutcome::ClaimedElsewhere => {
            debug!("auto-prune skipped: another process claimed it");
            return Ok(None);
        }
    };
    let Pruned { conversations, sessions, messages, looked_at, .. } = run.pruned;
    let (took, is_first) = (start.elapsed(), run.is_first);
    match run.is_finished {
        true => info!(conversations, sessions, messages, looked_at, is_first, ?took, "auto-prune finished"),
        false => {
            info!(conversations, sessions, messages, looked_at, is_first, ?took, "auto-prune stopped; it stays due")
        }
    }
    let transcripts = remove_transcripts(store, &run.candidates, transcripts).await;
    while options.is_vacuumed && run.pruned.conversations > 0 && !limit.is_over() {
        if !store.upkeep().await? {
            break;
        }
    }
    let (is_first, is_finished) = (run.is_first, run.is_finished);
    Ok(Some(AutoPruneReport { pruned: run.pruned, transcripts, is_first, is_finished }))
}

/// A time limit that starts at the first check.
struct Limit {
    time: Option<Duration>,
    end: Option<Instant>,
}

impl Limit {
    fn is_over(&mut self) -> bool {
        let Some(time) = self.time else { return false };
        let now = Instant::now();
        *self.end.get_or_insert(now + time) <= now
    }
}

/// Does the work that is due after a command that wrote: permanently deletes expired entries of the trash, and old
/// conversations if `sessions.auto_prune` is on. Returns the result of auto-prune, or `None` if it was not due or
/// failed: the command itself has succeeded.
pub async fn after_writing(
    store: &dyn Maintenance,
    sessions: &Sessions,
    transcripts: Option<&Transcripts>,
    now: Timestamp,
) -> Option<AutoPruneReport> {
    if let Err(error) = trash::empty_expired(store, transcripts, now).await {
        warn!(error = error.kind(), "expired entries of the trash not deleted");
    }
    if !sessions.auto_prune.value {
        return None;
    }
    let days = sessions.retention_days.value;
    let policy = match RetentionPolicy::new(days as f64, None) {
        Ok(policy) => policy,
        Err(_) => {
            warn!(days, "auto-prune skipped: retention_days can't be used");
            return None;
        }
    };
    let options = AutoPruneOptions {
        rule: AutoPrune { policy, interval_hours: sessions.min_interval_hours.value as f64, clears_leftovers: true },
        time_limit: Some(AFTER_OUTPUT),
        is_vacuumed: sessions.vacuum_after_prune.value,
    };
    match auto_prune(store, &options, transcripts, now).await {
        Ok(report) => report,
        Err(error) => {
            warn!(error = error.kind(), "auto-prune failed");
            None
        }
    }
}

/// Removes the transcripts of sessions that are gone. A conversation that was kept keeps its transcripts.
async fn remove_transcripts(
    store: &dyn Maintenance,
    candidates: &[Candidate],
    transcripts: Option<&Transcripts>,
) -> Removed {
    let Some(transcripts) = transcripts else { return Removed::default() };
    let mut gone = Vec::new();
    for member in candidates.iter().flat_map(|candidate| &candidate.members) {
        match store.session(member).await {
            Ok(None) => gone.push(member.clone()),
            Ok(Some(_)) => {}
            Err(error) => {
                warn!(session = ?member.as_str(), error = error.kind(), "transcripts kept: not known whether the session is gone");
            }
        }
    }
    transcripts.remove(&gone)
}
