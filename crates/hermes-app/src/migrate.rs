//! Copies a store to another one and proves that everything is there.

use crate::open::{Access, OpenStore};
use crate::{AppError, Workspace};
use hermes_session::transfer::{Progress, Proof, Proving, TransferError, TransferOptions, TransferReport, copy, prove};
use hermes_session::{IndexHealth, SessionFilter, Store, StoreError};
use hermes_store::{Adopt, StoreUrl};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Maximum number of proofs. Before each but the first, messages that arrived meanwhile are copied too.
const MAX_ROUNDS: u32 = 3;

/// A step of a migration.
#[derive(Debug, Clone, PartialEq)]
pub enum MigrateEvent {
    /// Progress of copying or proving.
    Transfer(Progress),
    /// Copied messages are put into the search indexes.
    Indexing,
    /// The source changed while it was copied; the new messages are being copied.
    CatchingUp,
    /// The target has a notice for a person, such as where a copy is kept.
    Notice(String),
}

/// Callback for each event. It returns whether to continue.
pub type OnEvent<'a> = &'a mut (dyn FnMut(MigrateEvent) -> ControlFlow<()> + Send);

/// Result of a migration.
#[derive(Debug)]
pub struct Migrated {
    /// The source.
    pub from: String,
    /// The target.
    pub to: String,
    /// Whether nothing was written.
    pub is_rehearsal: bool,
    /// Counts of the copied data.
    pub report: TransferReport,
    /// The proof; `None` for a rehearsal.
    pub proof: Option<Proof>,
    /// How many messages the search indexes of the target hold.
    pub fts_entries: u64,
    /// How long it took.
    pub took: Duration,
}

/// Reason why a migration did not finish.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// Source and target are the same store.
    #[error("the source and the target are the same store, {0}")]
    SameStore(StoreUrl),
    /// One of the stores can't be opened.
    #[error(transparent)]
    Open(#[from] AppError),
    /// Copying or proving failed, or was stopped.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// Stopped while copied messages were being indexed: everything is copied, nothing is proven.
    #[error("stopped before the copy was compared with its source")]
    StoppedIndexing,
}

impl From<StoreError> for MigrateError {
    fn from(error: StoreError) -> Self {
        Self::Transfer(TransferError::Store(error))
    }
}

/// Copies everything from one store to another, or continues an interrupted copy, and proves the copy. The source is
/// only read.
///
/// # Errors
/// If both are the same store, one of them can't be opened or fails, the target holds other data, or `on_event` breaks.
pub async fn migrate(
    workspace: &Workspace,
    from: &StoreUrl,
    to: &StoreUrl,
    options: TransferOptions,
    on_event: OnEvent<'_>,
) -> Result<Migrated, MigrateError> {
    if is_same(from, to) {
        return Err(MigrateError::SameStore(from.clone()));
    }
    let start = Instant::now();
    let source = open_source(workspace, from).await?;
    let mut target = workspace.open_target(to, options.is_rehearsal).await?;
    let outcome = {
        if !options.is_rehearsal {
            report_notices(&mut target.store, on_event);
        }
        carry(workspace, from, source, &target.store, options, on_event).await
    };
    if !options.is_rehearsal {
        report_notices(&mut target.store, on_event);
    }
    let (report, proof) = outcome?;
    Ok(Migrated {
        from: from.to_string(),
        to: to.to_string(),
        is_rehearsal: options.is_rehearsal,
        fts_entries: indexed(&*target.store).await?,
        report,
        proof,
        took: start.elapsed(),
    })
}

async fn carry(
    workspace: &Workspace,
    from: &StoreUrl,
    source: OpenStore,
    target: &OpenStore,
    options: TransferOptions,
    on_event: OnEvent<'_>,
) -> Result<(TransferReport, Option<Proof>), MigrateError> {
    let mut report =
        copy(&*source, &**target, &options, &mut |progress| on_event(MigrateEvent::Transfer(progress))).await?;
    drop(source);
    let (sessions, messages) = (report.sessions, report.messages);
    tracing::info!(sessions, messages, is_rehearsal = options.is_rehearsal, "sessions copied");
    if options.is_rehearsal {
        return Ok((report, None));
    }
    index(&**target, on_event).await?;
    let proof = prove_all(workspace, from, &**target, options, &mut report, on_event).await?;
    Ok((report, Some(proof)))
}

/// Proves the copy. If the source changed meanwhile, copies and proves the new messages too.
async fn prove_all(
    workspace: &Workspace,
    from: &StoreUrl,
    target: &dyn Store,
    options: TransferOptions,
    report: &mut TransferReport,
    on_event: OnEvent<'_>,
) -> Result<Proof, MigrateError> {
    let mut round = 1;
    loop {
        // Opened again, because a file that is not adopted is read as of the time when it was opened.
        let source = open_source(workspace, from).await?;
        let proving = Proving::but(&report.conflicts);
        let proof =
            prove(&*source, target, proving, &mut |progress| on_event(MigrateEvent::Transfer(progress))).await?;
        let is_behind = proof.found.iter().any(|mismatch| mismatch.is_behind);
        tracing::info!(round, mismatches = proof.found.len(), is_behind, "copy compared with its source");
        if !is_behind || round == MAX_ROUNDS {
            return Ok(proof);
        }
        round += 1;
        tracing::info!(round, "the source changed meanwhile; copying what is new");
        // A request to stop is not lost: the copy checks for it at its first step.
        _ = on_event(MigrateEvent::CatchingUp);
        let more = TransferOptions { is_resumed: false, is_merge: true, ..options };
        let since = copy(&*source, target, &more, &mut |progress| on_event(MigrateEvent::Transfer(progress))).await?;
        report.sessions += since.sessions;
        report.messages += since.messages;
        report.states.add_all(since.states);
        report.caught_up += since.caught_up;
        report.conflicts.extend(since.conflicts);
        index(target, on_event).await?;
    }
}

async fn open_source(workspace: &Workspace, from: &StoreUrl) -> Result<OpenStore, AppError> {
    workspace.open_url(from, Access::Read, Adopt::OnFirstWrite).await
}

/// Indexes the copied messages for search.
async fn index(store: &dyn Store, on_event: OnEvent<'_>) -> Result<(), MigrateError> {
    let (start, mut steps) = (Instant::now(), 0_u64);
    while store.upkeep().await? {
        steps += 1;
        if on_event(MigrateEvent::Indexing).is_break() {
            return Err(MigrateError::StoppedIndexing);
        }
    }
    tracing::info!(steps, took = ?start.elapsed(), "copied messages indexed");
    Ok(())
}

async fn indexed(store: &dyn Store) -> Result<u64, StoreError> {
    let messages = store.counts(&SessionFilter::default()).await?.messages;
    Ok(match store.status().await?.indexes {
        IndexHealth::Whole => messages,
        IndexHealth::Behind { messages: behind } => messages.saturating_sub(behind),
        IndexHealth::Broken { .. } => 0,
    })
}

fn report_notices(store: &mut OpenStore, on_event: OnEvent<'_>) {
    for notice in store.take_notices() {
        // Notices are shown even after a request to stop; the next step checks for it again.
        _ = on_event(MigrateEvent::Notice(notice));
    }
}

/// Returns whether two URLs name the same store, as far as can be seen from the URLs.
fn is_same(one: &StoreUrl, other: &StoreUrl) -> bool {
    let real = |path: &Path| -> PathBuf {
        path.canonicalize().or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_owned())
    };
    match (one.file(), other.file()) {
        (Some(one), Some(other)) => real(one) == real(other),
        (None, None) => server(one) == server(other),
        _ => false,
    }
}

/// Returns a server's kind, and its URL without the scheme, because there are two names for the scheme.
fn server(url: &StoreUrl) -> Option<(u8, &str)> {
    let (kind, server) = match url {
        StoreUrl::Postgresql(server) => (0, server),
        StoreUrl::Mysql(server) => (1, server),
        StoreUrl::Sqlite(_) => return None,
    };
    server.reveal().split_once("://").map(|(_, place)| (kind, place))
}
