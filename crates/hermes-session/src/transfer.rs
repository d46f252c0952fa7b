//! Transfer: copies everything from one store to another of any kind, and proves that it arrived.
//!
//! [`copy`] reads sessions in the order of their ids and sends them in pieces
//! ([`Maintenance::import`](crate::Maintenance::import)), so that only a few messages are held in memory, and a session
//! becomes visible in the target when it is complete. It can be run again after it was killed at any point: complete
//! sessions are skipped, incomplete ones are copied again. The source is only read. [`prove`] reads both sides again
//! and compares everything.

mod beside;
mod carry;
mod catch_up;
mod checkpoint;
mod compare;
mod link;
mod live;
mod meanwhile;
mod pages;
mod portable;
mod proof;
mod report;
mod sample;
mod spot;

pub use proof::{Mismatch, Proof, Proving, SpotQuery, prove};
pub use report::{Finding, FindingKind, MAX_FINDINGS, Phase, Progress, TransferError, TransferReport};

use crate::Store;
use carry::Carrier;
use checkpoint::Checkpoint;
use pages::Rows;
use std::ops::ControlFlow;

/// Default number of messages per call. Each call waits for the disk of the target once.
pub const BATCH: u32 = 2_000;

/// Options of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TransferOptions {
    /// Maximum number of messages per call.
    pub batch: u32,
    /// Whether only to report what would happen. Nothing is written then.
    pub is_rehearsal: bool,
    /// Whether to continue an unfinished transfer. If there is none, it starts from the beginning.
    pub is_resumed: bool,
    /// Whether the target may hold sessions that the source does not have.
    pub is_merge: bool,
}

impl Default for TransferOptions {
    fn default() -> Self {
        Self { batch: BATCH, is_rehearsal: false, is_resumed: false, is_merge: false }
    }
}

/// Progress callback. It may break, which ends the transfer between two steps.
pub type Watch<'a> = &'a mut (dyn FnMut(Progress) -> ControlFlow<()> + Send);

/// Copies everything from one store to another.
///
/// * Sessions are copied with their messages, times, counters, costs, titles, relations and bytes; message ids are kept
///   if they are free.
/// * A session that exists with the same content is skipped. One that exists in an earlier state is caught up. One that
///   exists with other content is reported as a conflict and left unchanged.
/// * Parents may come after their children. A parent that does not exist, or that would close a cycle, is left out and
///   reported.
/// * Values beside the sessions, topics of chats, pins and tags, and live data are copied too; existing ones stay
///   unchanged. Leases stay behind.
/// * Everything that can't be copied is reported with the reason.
///
/// # Errors
/// [`TransferError::OtherData`] if the target holds other sessions and the options do not permit it; nothing is written
/// then. If a store fails, sessions copied by then stay.
pub async fn copy(
    from: &dyn Store,
    to: &dyn Store,
    options: &TransferOptions,
    watch: Watch<'_>,
) -> Result<TransferReport, TransferError> {
    let location = from.status().await?.location;
    let unfinished = Checkpoint::read(to).await?.filter(|_| options.is_resumed);
    if let Some(checkpoint) = &unfinished
        && checkpoint.from != location
    {
        return Err(TransferError::OtherSource { from: checkpoint.from.clone() });
    }
    let is_merge = options.is_merge || unfinished.as_ref().is_some_and(|checkpoint| checkpoint.is_merge);
    if !is_merge {
        refuse_other_data(from, to, watch).await?;
    }
    let checkpoint = unfinished.unwrap_or(Checkpoint { from: location, is_merge, after: None });
    let mut report = TransferReport { resumed_after: checkpoint.after.clone(), ..TransferReport::default() };
    if Checkpoint::read(from).await?.is_some() {
        let what = "the source is itself the target of an unfinished transfer: something may be missing in it";
        report.find(FindingKind::Value, None, what);
    }
    if !options.is_rehearsal {
        checkpoint.write(to).await?;
    }
    let report = Carrier::new(from, to, *options, checkpoint, report).run(watch).await?;
    let mut report = link::link_all(from, to, options.is_rehearsal, report, watch).await?;
    beside::values(from, to, options.is_rehearsal, &mut report).await?;
    beside::topics(from, to, options.is_rehearsal, &mut report).await?;
    beside::pins_and_tags(from, to, options.is_rehearsal, &mut report).await?;
    live::copy(from, to, options.is_rehearsal, &mut report).await?;
    beside::foreign(from, &mut report).await?;
    if !options.is_rehearsal {
        Checkpoint::remove(to).await?;
    }
    Ok(report)
}

/// Checks that the target holds no session that the source does not have.
async fn refuse_other_data(from: &dyn Store, to: &dyn Store, watch: Watch<'_>) -> Result<(), TransferError> {
    let (mut source, mut target) = (Rows::new(from, None), Rows::new(to, None));
    let (mut count, mut example, mut looked) = (0_u64, None, 0);
    while let Some(row) = target.next().await? {
        let is_there = source.find(&row.id, &mut |_| {}).await?.is_some();
        // A row of the source that can't be listed may still exist.
        if !is_there && !source.unreadable.iter().any(|unreadable| unreadable.id == row.id.as_str()) {
            count += 1;
            example.get_or_insert(row.id);
        }
        looked += 1;
        if looked % 1_000 == 0 {
            go_on(watch, Progress { phase: Phase::Looking, done: looked, total: 0 })?;
        }
    }
    match example {
        Some(example) => Err(TransferError::OtherData { count, example }),
        None => Ok(()),
    }
}

fn go_on(watch: Watch<'_>, progress: Progress) -> Result<(), TransferError> {
    match watch(progress) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(TransferError::Stopped),
    }
}
