//! Chores after a command that wrote: entries of the trash whose time is over are deleted for good; and if `sessions.auto_prune` is on, old
//! conversations are deleted, now and then and for a short time.
//!
//! They come after the output, in short steps, and end when their time is up; the next such command goes on. What they do is printed as a
//! note. A failure is not an error of the command. A command that only looks is never followed by them.

use crate::commands::prune::carry_out;
use crate::commands::trash;
use crate::context::{Access, Context};
use crate::error::CliError;
use crate::transcripts::Transcripts;
use crate::ui::changes;
use hermes_config::{Sessions, Settings};
use hermes_session::retention::{Pruned, RetentionPolicy, plan};
use hermes_session::{
    EndReason, ListRequest, Maintenance, Order, PageRequest, Relation, Request, SessionFilter, SessionSummary, Source,
    StoreError, Timestamp, View,
};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// When it was done last, as the agent writes it and reads it, in seconds.
const LAST: &str = "last_auto_prune";
/// That the agent, or we, took away empty sessions of the terminal interface once.
const GHOSTS: &str = "ghost_session_prune_v1";
/// That the agent, or we, ended continuations that nobody went on with, once.
const ORPHANS: &str = "orphaned_compression_finalize_v1";
/// How long somebody who has their output already may be kept.
const TIME: Duration = Duration::from_millis(500);
const HOUR: f64 = 3_600.0;
const DAY: f64 = 24.0 * HOUR;

/// Does what is due. Whatever goes wrong is a matter for a command that is asked for, such as `verify`.
pub(crate) async fn run(context: &Context) {
    let Ok(settings) = context.settings() else { return };
    _ = empty_trash(context, &settings).await;
    if !settings.sessions.auto_prune.value {
        return;
    }
    if let Ok(Some(done)) = due(context, &settings).await {
        tell(context, &settings.sessions, &done);
    }
}

/// Takes what is over out of the trash for good. Who deleted it was told until when it could come back.
async fn empty_trash(context: &Context, settings: &Settings) -> Result<(), CliError> {
    let url = context.configured_url(settings)?;
    let store = context.open_quietly(settings, &url, Access::Write).await?;
    // Reading waits for nobody, and as a rule nothing is over.
    let mut over = trash::all(&*store).await?;
    over.retain(|entry| entry.until <= context.now.at);
    trash::carry_out(&*store, over, Transcripts::of(settings, &url).as_ref()).await.map(drop)
}

/// What was done.
struct Done {
    pruned: Pruned,
    files: u64,
    is_first: bool,
    is_all: bool,
}

async fn due(context: &Context, settings: &Settings) -> Result<Option<Done>, CliError> {
    let url = context.configured_url(settings)?;
    let store = context.open_quietly(settings, &url, Access::Write).await?;
    let now = context.now.at;
    let last = store.meta(LAST).await?.and_then(|text| text.trim().parse::<f64>().ok());
    if !is_due(last, now, settings.sessions.min_interval_hours.value) {
        return Ok(None);
    }
    once(&*store, GHOSTS, ghosts(&*store, now)).await?;
    once(&*store, ORPHANS, orphans(&*store, now)).await?;
    let policy = RetentionPolicy::new(settings.sessions.retention_days.value as f64, None).map_err(CliError::usage)?;
    let candidates = plan(&*store, &policy, now).await?;
    let transcripts = Transcripts::of(settings, &url);
    let start = Instant::now();
    let mut progress =
        |_: &Pruned| if start.elapsed() < TIME { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let (pruned, removed) = carry_out(&*store, &candidates, &policy, now, transcripts.as_ref(), &mut progress).await?;
    let is_all = pruned.looked_at >= candidates.len() as u64;
    match (is_all, last) {
        (true, _) => store.set_meta(LAST, Some(&now.seconds().to_string())).await?,
        // Begun and announced, and still due.
        (false, None) => store.set_meta(LAST, Some("0.0")).await?,
        (false, Some(_)) => {}
    }
    while settings.sessions.vacuum_after_prune.value && pruned.conversations > 0 && start.elapsed() < TIME {
        if !store.upkeep().await? {
            break;
        }
    }
    Ok(Some(Done { pruned, files: removed.files, is_first: last.is_none(), is_all }))
}

/// Whether enough time has passed. A time that is not there, is none, or is to come, is no reason to wait.
fn is_due(last: Option<f64>, now: Timestamp, hours: u64) -> bool {
    last.is_none_or(|last| !(0.0..hours as f64 * HOUR).contains(&(now.seconds() - last)))
}

/// Does something that is done once in the life of a store, by whoever comes first.
async fn once(
    store: &dyn Maintenance,
    mark: &str,
    work: impl Future<Output = Result<(), StoreError>>,
) -> Result<(), StoreError> {
    if store.meta(mark).await?.is_some() {
        return Ok(());
    }
    work.await?;
    store.set_meta(mark, Some("1")).await
}

/// Takes away sessions of the terminal interface that were opened and left: ended, without a title and without a message, for a day.
async fn ghosts(store: &dyn Maintenance, now: Timestamp) -> Result<(), StoreError> {
    let tui = Source::from_stored("tui");
    let policy = RetentionPolicy::new(1.0, Some(tui.clone()))?;
    let filter = SessionFilter { sources: Some(vec![tui]), ..SessionFilter::default() };
    let is_ghost = |row: &SessionSummary| {
        row.segments == 1 && row.title.is_none() && row.message_count == 0 && row.ended_at.is_some()
    };
    let ghosts = rows(store, View::Conversations, filter, &is_ghost).await?;
    let mut left: Vec<_> = ghosts.into_iter().map(|row| row.conversation).collect();
    while !left.is_empty() {
        let step = store.prune(&left, &policy, now).await?;
        let done = usize::try_from(step.looked_at).unwrap_or(usize::MAX).clamp(1, left.len());
        left.drain(..done);
    }
    Ok(())
}

/// Ends continuations that nobody went on with: they have messages, but no call of a model, for a week.
async fn orphans(store: &dyn Maintenance, now: Timestamp) -> Result<(), StoreError> {
    let reason = EndReason::parse("orphaned_compression")?;
    let is_orphan = |row: &SessionSummary| {
        row.relation == Relation::Continuation
            && row.ended_at.is_none()
            && row.message_count > 0
            && row.usage.api_call_count == 0
            && now.since(row.started_at) > 7.0 * DAY
    };
    for row in rows(store, View::Sessions, SessionFilter::default(), &is_orphan).await? {
        store.end(&row.id, &reason, &Request::at(now)).await?;
    }
    Ok(())
}

/// The rows that are meant; the others are not held.
async fn rows(
    store: &dyn Maintenance,
    view: View,
    filter: SessionFilter,
    is_meant: &(dyn Fn(&SessionSummary) -> bool + Sync),
) -> Result<Vec<SessionSummary>, StoreError> {
    let mut request = ListRequest { view, filter, order: Order::Id, page: PageRequest::first(1000), after: None };
    let mut rows = Vec::new();
    loop {
        let page = store.list(&request).await?;
        rows.extend(page.rows.into_iter().filter(is_meant));
        match page.next {
            Some(next) => request.after = Some(next),
            None => return Ok(rows),
        }
    }
}

/// Tells what was deleted, and the first time also that this will happen again.
fn tell(context: &Context, sessions: &Sessions, done: &Done) {
    let days = sessions.retention_days.value;
    let more = if done.is_all { "" } else { "; the next command goes on" };
    if done.pruned.conversations > 0 {
        let taken = changes::taken(&done.pruned, done.files);
        context.ui.note(&format!("deleted {taken}, without activity for {days} days (sessions.auto_prune){more}"));
    }
    if done.is_first {
        let text = format!(
            "sessions.auto_prune is on, set by {}: conversations that have ended are deleted {days} days after their last message; `hermes sessions prune --dry-run` shows which are next",
            sessions.auto_prune.origin
        );
        context.ui.note(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_due_once_in_an_interval() {
        let now = Timestamp::from_seconds(1_000_000.0).unwrap();
        for (last, hours, expect) in [
            (None, 24, true),
            (Some(1_000_000.0 - 23.9 * HOUR), 24, false),
            (Some(1_000_000.0 - 24.0 * HOUR), 24, true),
            (Some(1_000_000.0), 0, true),
            (Some(1_000_060.0), 24, true),
            (Some(f64::NAN), 24, true),
        ] {
            assert_eq!(is_due(last, now, hours), expect, "{last:?} {hours}");
        }
    }
}
