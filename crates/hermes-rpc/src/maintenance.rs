//! Deleting, pruning, and keeping the store in order.

use crate::call::{Answer, Call, NONE, list, or_nothing, yes};
use crate::fail::Fail;
use crate::files;
use crate::listing::source_of;
use hermes_session::json::ObjectWriter;
use hermes_session::retention::{self, AutoPruned, Candidate, LAST_AUTO_PRUNE, RetentionPolicy, plan, prune_planned};
use hermes_session::{
    DeleteExtent, IndexHealth, Json, Optimizing, Report, SessionFilter, SessionId, StoreError, StoreStatus,
};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// `delete_session`: deletes the session alone, as the agent does. Its children stay, without a parent.
pub(crate) async fn delete(call: &Call<'_>) -> Answer {
    let Some(id) = call.args.lookup("session_id") else { return yes(false) };
    // Also if it is gone: a repeated request gets the first answer again.
    if or_nothing(call.store.delete(&id, DeleteExtent::Session, &call.request()).await)?.is_none() {
        return yes(false);
    }
    if let Some(folder) = folder(call)? {
        files::remove(&folder, &[id]);
    }
    yes(true)
}

/// `prune_sessions`: deletes each session that has ended and was not active for so long. Its children stay, without a parent. Returns how
/// many sessions went.
pub(crate) async fn prune(call: &Call<'_>) -> Answer {
    let days = call.args.double("older_than_days")?.ok_or_else(|| Fail::wrong_type("older_than_days is no number"))?;
    let source = call.args.filled("source")?.map(|source| source_of(&source));
    let policy = RetentionPolicy::new(days, source)?.each_session();
    Ok(prune_by(call, &policy).await?.to_string())
}

/// Prunes, and removes the files of what is gone.
async fn prune_by(call: &Call<'_>, policy: &RetentionPolicy) -> Result<u64, Fail> {
    let planned = plan(call.store, policy, call.now).await?;
    let conversations: Vec<SessionId> = planned.iter().map(|candidate| candidate.conversation.clone()).collect();
    let pruned =
        prune_planned(call.store, &conversations, policy, call.now, &mut |_| ControlFlow::Continue(())).await?;
    if let Some(folder) = folder(call)? {
        remove_files_of_gone(call, &folder, planned).await?;
    }
    Ok(pruned.sessions)
}

/// `prune_empty_ghost_sessions`: sessions that a terminal began and left without a word; how many.
pub(crate) async fn prune_ghosts(call: &Call<'_>) -> Answer {
    Ok(prune_by(call, &RetentionPolicy::ghosts()).await?.to_string())
}

/// `finalize_orphaned_compression_sessions`: ends what a compression made and nobody went on with; how many.
pub(crate) async fn end_orphans(call: &Call<'_>) -> Answer {
    Ok(retention::end_orphans(call.store, call.now).await?.to_string())
}

/// `maybe_auto_prune_and_vacuum`: prunes if that was not done lately. What goes wrong is part of the answer.
pub(crate) async fn auto_prune(call: &Call<'_>) -> Answer {
    let mut out = ObjectWriter::new();
    match auto_pruned(call).await {
        Ok(None) => _ = out.raw("skipped", "true").raw("pruned", "0").raw("vacuumed", "false"),
        Ok(Some(pruned)) => {
            let is_vacuumed = pruned > 0 && call.args.flag("vacuum") && vacuum(call).await.is_ok();
            out.raw("skipped", "false").raw("pruned", &pruned.to_string()).raw("vacuumed", &is_vacuumed.to_string());
        }
        Err(fail) => {
            out.raw("skipped", "false").raw("pruned", "0").raw("vacuumed", "false").text("error", Some(&fail.text));
        }
    }
    Ok(out.finish())
}

/// How many sessions went; nothing if it was done lately.
async fn auto_pruned(call: &Call<'_>) -> Result<Option<u64>, Fail> {
    let number = |name: &str| call.args.double(name)?.ok_or_else(|| Fail::wrong_type(format!("{name} is no number")));
    let policy = RetentionPolicy::new(number("retention_days")?, None)?.each_session();
    let hours = number("min_interval_hours")?;
    let folder = folder(call)?;
    // Whose files are to go can't be told any more when they are gone.
    let planned = match &folder {
        Some(_) if is_due(call, hours).await? => plan(call.store, &policy, call.now).await?,
        _ => Vec::new(),
    };
    let AutoPruned::Done(pruned) = retention::auto_prune(call.store, &policy, hours, call.now).await? else {
        return Ok(None);
    };
    if let Some(folder) = folder {
        remove_files_of_gone(call, &folder, planned).await?;
    }
    Ok(Some(pruned.sessions))
}

/// Whether it may be time; the store decides.
async fn is_due(call: &Call<'_>, hours: f64) -> Result<bool, Fail> {
    let last = call.store.meta(LAST_AUTO_PRUNE).await?.and_then(|text| text.trim().parse::<f64>().ok());
    Ok(last.is_none_or(|last| !(0.0..hours * 3_600.0).contains(&(call.now.seconds() - last))))
}

/// Removes the files of those sessions that are gone.
async fn remove_files_of_gone(call: &Call<'_>, folder: &Path, planned: Vec<Candidate>) -> Result<(), Fail> {
    let mut gone = Vec::new();
    for id in planned.into_iter().flat_map(|candidate| candidate.members) {
        if call.store.session(&id).await?.is_none() {
            gone.push(id);
        }
    }
    files::remove(folder, &gone);
    Ok(())
}

fn folder(call: &Call<'_>) -> Result<Option<PathBuf>, Fail> {
    Ok(call.args.filled("sessions_dir")?.map(PathBuf::from))
}

/// `vacuum`: does what is outstanding, the giving back of room included.
pub(crate) async fn vacuum(call: &Call<'_>) -> Answer {
    while call.store.upkeep().await? {}
    Ok(NONE.into())
}

/// `optimize`: brings the store into its best form; how large it was and is.
pub(crate) async fn optimize(call: &Call<'_>) -> Answer {
    let before = call.store.status().await?;
    while call.store.optimize().await? != Optimizing::Done {}
    while call.store.upkeep().await? {}
    let after = call.store.status().await?;
    let mut out = ObjectWriter::new();
    out.raw("bytes_before", &before.bytes.to_string()).raw("bytes_after", &after.bytes.to_string());
    Ok(out.finish())
}

pub(crate) async fn verify(call: &Call<'_>) -> Answer {
    let report = call.store.verify().await?;
    let mut out = ObjectWriter::new();
    out.raw("sound", &report.is_sound().to_string())
        .raw("problems", &report.problems().to_string())
        .raw("checks", &checks(&report));
    Ok(out.finish())
}

fn checks(report: &Report) -> String {
    list(report.checks.iter().map(|check| {
        let findings = list(check.findings.iter().map(|finding| {
            let mut out = ObjectWriter::new();
            out.text("object", Some(&finding.object))
                .text("what", Some(&finding.what))
                .text("severity", Some(finding.severity.as_str()));
            out.finish()
        }));
        let mut out = ObjectWriter::new();
        out.text("name", Some(check.name))
            .raw("looked_at", &check.looked_at.to_string())
            .text("things", Some(check.things))
            .raw("problems", &check.problems.to_string())
            .raw("notes", &check.notes.to_string())
            .raw("findings", &findings);
        out.finish()
    }))
}

/// `status`: what the store is, how much it holds, and what its indexes are good for.
pub(crate) async fn status(call: &Call<'_>) -> Answer {
    let status = call.store.status().await?;
    let counts = call.store.counts(&SessionFilter::default()).await?;
    let mut out = ObjectWriter::new();
    out.text("provider", Some(status.provider))
        .text("version", Some(&status.version))
        .text("location", Some(&status.location))
        .integer("schema_version", Some(status.schema_version))
        .text("schema", status.schema.as_deref())
        .raw("bytes", &status.bytes.to_string())
        .raw("free_bytes", &status.free_bytes.to_string())
        .raw("indexes", &indexes(&status))
        .raw("conversations", &counts.conversations.to_string())
        .raw("sessions", &counts.sessions.to_string())
        .raw("messages", &counts.messages.to_string());
    Ok(out.finish())
}

fn indexes(status: &StoreStatus) -> String {
    let mut out = ObjectWriter::new();
    match &status.indexes {
        IndexHealth::Whole => _ = out.text("state", Some("whole")),
        IndexHealth::Behind { messages } => {
            out.text("state", Some("behind")).raw("messages", &messages.to_string());
        }
        IndexHealth::Broken { why } => _ = out.text("state", Some("broken")).text("why", Some(why)),
    }
    out.finish()
}

/// What a store is, as the first line tells it.
pub(crate) async fn info(
    store: &dyn hermes_session::Store,
    protocol: i64,
    version: &str,
) -> Result<String, StoreError> {
    let status = store.status().await?;
    let mut out = ObjectWriter::new();
    out.integer("protocol", Some(protocol))
        .raw("version", Json::string(version).as_str())
        .text("provider", Some(status.provider))
        .text("location", Some(&status.location))
        .integer("schema_version", Some(status.schema_version));
    Ok(out.finish())
}
