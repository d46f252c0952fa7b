//! Deletion, pruning and maintenance.

use crate::call::{Answer, Call, NONE, or_nothing, yes};
use crate::fail::Fail;
use crate::listing::source_of;
use hermes_app::Transcripts;
use hermes_app::retention::{self, AutoPruneOptions};
use hermes_session::retention::{AutoPrune, RetentionPolicy, plan};
use hermes_session::{DeleteExtent, Optimizing, SessionFilter, StoreError};
use hermes_wire::{rpc, to_string};
use std::ops::ControlFlow;

/// `delete_session`: deletes the session alone, as the agent does. Its children stay and lose their parent.
pub(crate) async fn delete(call: &Call<'_>) -> Answer {
    let Some(id) = call.args.lookup("session_id") else { return yes(false) };
    // Called even if the session does not exist: a repeated request gets the first answer again.
    if or_nothing(call.store.delete(&id, DeleteExtent::Session, &call.request()).await)?.is_none() {
        return yes(false);
    }
    if let Some(transcripts) = transcripts(call)? {
        transcripts.remove(&[id]);
    }
    yes(true)
}

/// `prune_sessions`: deletes each session that has ended and was inactive for `older_than_days`. Its children stay and
/// lose their parent. Returns the number of deleted sessions.
pub(crate) async fn prune(call: &Call<'_>) -> Answer {
    let days =
        call.args.double("older_than_days")?.ok_or_else(|| Fail::wrong_type("older_than_days is not a number"))?;
    let source = call.args.filled("source")?.map(|source| source_of(&source));
    let policy = RetentionPolicy::new(days, source)?.each_session();
    Ok(prune_by(call, &policy).await?.to_string())
}

/// Prunes, and removes the transcript files of deleted sessions.
async fn prune_by(call: &Call<'_>, policy: &RetentionPolicy) -> Result<u64, Fail> {
    let planned = plan(call.store, policy, call.now).await?;
    let (transcripts, mut progress) = (transcripts(call)?, |_: &_| ControlFlow::Continue(()));
    let report = retention::prune(call.store, &planned, policy, call.now, transcripts.as_ref(), &mut progress).await?;
    Ok(report.pruned.sessions)
}

/// `prune_empty_ghost_sessions`: deletes sessions that a terminal created and left without a message. Returns their
/// number.
pub(crate) async fn prune_ghosts(call: &Call<'_>) -> Answer {
    Ok(prune_by(call, &RetentionPolicy::ghosts()).await?.to_string())
}

/// `finalize_orphaned_compression_sessions`: ends sessions that a compression created and that were never continued.
/// Returns their number.
pub(crate) async fn end_orphans(call: &Call<'_>) -> Answer {
    Ok(hermes_session::retention::end_orphans(call.store, call.now).await?.to_string())
}

/// `maybe_auto_prune_and_vacuum`: prunes if that was not done recently. An error is part of the answer.
pub(crate) async fn auto_prune(call: &Call<'_>) -> Answer {
    let answer = match auto_pruned(call).await {
        Ok(None) => rpc::AutoPruned { skipped: true, ..rpc::AutoPruned::default() },
        Ok(Some(pruned)) => {
            let vacuumed = match pruned > 0 && call.args.flag("vacuum") {
                true => {
                    let vacuumed = vacuum(call).await;
                    if let Err(fail) = &vacuumed {
                        tracing::warn!(error = fail.error.name(), "free space not returned after auto-prune");
                    }
                    vacuumed.is_ok()
                }
                false => false,
            };
            rpc::AutoPruned { pruned, vacuumed, ..rpc::AutoPruned::default() }
        }
        Err(fail) => rpc::AutoPruned { error: Some(fail.text), ..rpc::AutoPruned::default() },
    };
    Ok(to_string(&answer))
}

/// Returns the number of deleted sessions, or `None` if pruning was done recently or another process does it.
async fn auto_pruned(call: &Call<'_>) -> Result<Option<u64>, Fail> {
    let number =
        |name: &str| call.args.double(name)?.ok_or_else(|| Fail::wrong_type(format!("{name} is not a number")));
    let policy = RetentionPolicy::new(number("retention_days")?, None)?.each_session();
    let rule = AutoPrune::new(policy, number("min_interval_hours")?);
    // The agent requests the vacuum separately, and its failure is not a failure of pruning.
    let options = AutoPruneOptions { rule, time_limit: None, is_vacuumed: false };
    let report = retention::auto_prune(call.store, &options, transcripts(call)?.as_ref(), call.now).await?;
    Ok(report.map(|report| report.pruned.sessions))
}

/// Returns the transcript files in the folder that the call names, or `None` if it names none.
fn transcripts(call: &Call<'_>) -> Result<Option<Transcripts>, Fail> {
    Ok(call.args.filled("sessions_dir")?.map(Transcripts::in_folder))
}

/// `vacuum`: does all outstanding maintenance, including giving back free space.
pub(crate) async fn vacuum(call: &Call<'_>) -> Answer {
    while call.store.upkeep().await? {}
    Ok(NONE.into())
}

/// `optimize`: optimizes the store. Returns its size before and after.
pub(crate) async fn optimize(call: &Call<'_>) -> Answer {
    let before = call.store.status().await?;
    while call.store.optimize().await? != Optimizing::Done {}
    while call.store.upkeep().await? {}
    let after = call.store.status().await?;
    Ok(to_string(&rpc::Optimized { bytes_before: before.bytes, bytes_after: after.bytes }))
}

pub(crate) async fn verify(call: &Call<'_>) -> Answer {
    Ok(to_string(&rpc::VerifyReport::from(&call.store.verify().await?)))
}

/// `status`: the kind of the store, its counts, and the state of its indexes.
pub(crate) async fn status(call: &Call<'_>) -> Answer {
    let status = call.store.status().await?;
    let counts = call.store.counts(&SessionFilter::default()).await?;
    Ok(to_string(&rpc::Status::new(&status, &counts)))
}

/// Returns the description of a store for the first line.
pub(crate) async fn info(
    store: &dyn hermes_session::Store,
    protocol: i64,
    version: &str,
) -> Result<String, StoreError> {
    let status = store.status().await?;
    let (provider, location, schema_version) = (status.provider, status.location.as_str(), status.schema_version);
    Ok(to_string(&rpc::Info { protocol, version, provider, location, schema_version }))
}
