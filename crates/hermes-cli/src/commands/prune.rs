//! `hermes sessions prune`

use crate::context::Context;
use crate::error::CliError;
use crate::narrowing::note_missing_source;
use crate::stop::Stop;
use crate::ui::changes::PruneRow;
use crate::ui::{changes, json};
use crate::warnings;
use hermes_app::retention::{PruneReport, prune};
use hermes_session::retention::{Candidate, Plan, Pruned, RetentionPolicy, plan_all};
use hermes_session::{
    Invalid, ListRequest, MAX_PAGE, Maintenance, Order, PageRequest, SessionFilter, SessionId, Source, StoreError,
    View, quoted,
};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Candidates whose previews are read at once.
const CANDIDATES_AT_ONCE: usize = 500;

/// Delete old conversations for good (not to the trash)
///
/// Whole conversations are deleted, and only if all their sessions have ended. Their age is the time since the last
/// message in any of the sessions. Pinned conversations are kept.
#[derive(clap::Args)]
pub(crate) struct PruneArgs {
    /// Only conversations without activity for this long: 90, 90d, 12w or 36h [default: sessions.retention_days, which
    /// is 90]
    #[arg(long, value_name = "DAYS", allow_hyphen_values = true)]
    older_than: Option<String>,
    /// Only conversations from this source, such as cron
    #[arg(short, long, value_name = "SOURCE")]
    source: Option<String>,
    /// Only list what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(short, long)]
    yes: bool,
    /// Print one JSON object
    #[arg(short, long)]
    json: bool,
}

impl PruneArgs {
    fn policy(&self, default_days: u64) -> Result<RetentionPolicy, Invalid> {
        let days = self.older_than.as_deref().map_or(Ok(default_days as f64), days)?;
        RetentionPolicy::new(days, self.source.as_ref().map(Source::parse).transpose()?)
    }
}

/// Parses a duration as days. A number without a unit is days.
fn days(text: &str) -> Result<f64, Invalid> {
    let wrong =
        |why: String| Invalid::new("--older-than", why, "give days such as 90 or 90d, or 12w for weeks, 36h for hours");
    let trimmed = text.trim();
    let (digits, unit) = match trimmed.char_indices().next_back() {
        Some((at, unit)) if unit.is_ascii_alphabetic() => (&trimmed[..at], unit.to_ascii_lowercase()),
        _ => (trimmed, 'd'),
    };
    let per_day = match unit {
        'h' => 1.0 / 24.0,
        'd' => 1.0,
        'w' => 7.0,
        _ => return Err(wrong(format!("{} is not a number of days", quoted(text)))),
    };
    if digits.starts_with('-') && digits.parse::<f64>().is_ok() {
        return Err(wrong(format!("{} is negative", quoted(text))));
    }
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let count: f64 = digits
        .parse()
        .ok()
        .filter(|_| is_number)
        .ok_or_else(|| wrong(format!("{} is not a number of days", quoted(text))))?;
    Ok(count * per_day)
}

pub(crate) async fn run(context: &Context, args: PruneArgs) -> Result<(), CliError> {
    let policy = args.policy(context.settings()?.sessions.retention_days.value).map_err(CliError::usage)?;
    let opened = if args.dry_run { context.open_for_reading().await? } else { context.open_for_writing().await? };
    let (store, transcripts) = (&opened.store, opened.transcripts());
    let Plan { candidates, pinned, not_ended } = plan_all(&**store, &policy, context.now.at).await?;
    if candidates.is_empty() && !args.json {
        note_missing_source(context, &**store, args.source.as_slice()).await?;
    }
    let rows = rows(&**store, &candidates).await?;
    let kept = changes::pinned(pinned).into_iter().chain(changes::not_ended(not_ended, candidates.len()));
    if args.dry_run {
        return match args.json {
            true => context.ui.json(&json::changes::prune_plan(&rows, pinned)),
            false => {
                let lines = changes::prune_rows(&rows, &context.now, context.ui.table_width());
                let total = [changes::prune_total(&rows)].into_iter().chain(kept);
                context.ui.print(lines.into_iter().chain(context.ui.sentences(total)))
            }
        };
    }
    if !candidates.is_empty() {
        let about = changes::prune_question(&rows, &context.now, context.ui.width());
        context.ui.consent(args.yes, about, &changes::prune_asked(rows.len() as u64, policy.older_than()))?;
    }
    let stop = Stop::watch();
    let (bar, total) = (context.ui.progress(), candidates.len() as u64);
    let mut progress = |pruned: &Pruned| {
        bar.show("deleting", pruned.looked_at, total);
        if stop.asked().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let PruneReport { pruned, transcripts: removed } =
        prune(&**store, &candidates, &policy, context.now.at, transcripts.as_ref(), &mut progress).await?;
    drop(bar);
    warnings::left_behind(context, &removed);
    if args.json {
        context.ui.json_done(&json::changes::pruned(&pruned, removed.files, pinned))?;
    } else {
        let lines = changes::pruned(&pruned, removed.files).into_iter().chain(kept);
        context.ui.print_done(context.ui.sentences(lines))?;
    }
    match stop.asked() {
        Some(signal) if pruned.looked_at < candidates.len() as u64 => Err(stopped(signal, &pruned, &candidates)),
        _ => Ok(()),
    }
}

/// Returns a row for each conversation that pruning would delete.
async fn rows(store: &dyn Maintenance, candidates: &[Candidate]) -> Result<Vec<PruneRow>, StoreError> {
    let mut rows = Vec::with_capacity(candidates.len());
    let previews = previews(store, candidates).await?;
    for candidate in candidates {
        // A session that is deleted in the meantime, or can't be read, is shown by its id alone.
        let tip = match candidate.members.len() {
            1 => candidate.conversation.clone(),
            _ => match store.lineage(&candidate.conversation).await {
                Ok(lineage) => lineage.tip(&candidate.conversation),
                Err(error) => {
                    tracing::debug!(error = error.kind(), "lineage of a candidate not read");
                    candidate.conversation.clone()
                }
            },
        };
        let session = store.session(&tip).await.unwrap_or_else(|error| {
            tracing::debug!(session = ?tip.as_str(), error = error.kind(), "candidate not read");
            None
        });
        let preview = [&candidate.conversation, &tip].iter().find_map(|id| previews.get(*id)).cloned();
        rows.push(PruneRow {
            preview: preview.unwrap_or_default(),
            source: session.as_ref().map(|session| session.source.to_string()).unwrap_or_default(),
            title: session.and_then(|session| session.title),
            id: tip,
            candidate: candidate.clone(),
        });
    }
    Ok(rows)
}

/// Returns the previews of the sessions of conversations, as far as they have one.
async fn previews(
    store: &dyn Maintenance,
    candidates: &[Candidate],
) -> Result<BTreeMap<SessionId, String>, StoreError> {
    let mut previews = BTreeMap::new();
    for some in candidates.chunks(CANDIDATES_AT_ONCE) {
        let ids = some.iter().map(|candidate| candidate.conversation.clone()).collect();
        let mut request = ListRequest {
            // A list of conversations would leave out archived ones.
            view: View::Sessions,
            filter: SessionFilter { conversations: Some(ids), ..SessionFilter::default() },
            order: Order::Id,
            page: PageRequest::first(MAX_PAGE),
            after: None,
        };
        loop {
            let page = store.list(&request).await?;
            let with_preview = page.rows.into_iter().filter(|row| !row.preview.is_empty());
            previews.extend(with_preview.map(|row| (row.id, row.preview)));
            match page.next {
                Some(next) => request.after = Some(next),
                None => break,
            }
        }
    }
    Ok(previews)
}

fn stopped(signal: u8, pruned: &Pruned, candidates: &[Candidate]) -> CliError {
    let next = usize::try_from(pruned.looked_at).ok().and_then(|next| candidates.get(next));
    let before = next.map_or_else(String::new, |next| format!(", before {}", next.conversation));
    let text =
        format!("stopped after {} of {}{before}", pruned.looked_at, changes::conversations(candidates.len() as u64));
    CliError::stopped(signal, text, "conversations are deleted whole; run the same command again to continue")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_alone_is_days() {
        for (text, expect) in [("90", 90.0), ("90d", 90.0), (" 2W ", 14.0), ("36h", 1.5), ("0", 0.0), ("0.5", 0.5)] {
            assert_eq!(days(text), Ok(expect), "{text}");
        }
        for text in ["", "d", "-1", "-1d", "1e3", "inf", "NaN", "90 days", "9m", "大", "1.2.3"] {
            assert!(days(text).is_err(), "{text}");
        }
        assert_eq!(days("-5d").unwrap_err().to_string(), "--older-than \"-5d\" is negative");
    }
}
