//! Live data: routes, cursors, open turns, mail, causes of resets.

use super::proof::Proof;
use super::report::{FindingKind, TransferReport};
use crate::live::{Carried, LiveKind, LiveRecord};
use crate::{SessionId, Store, StoreError};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeSet, HashMap};

/// Records read or written at once.
const PAGE: u32 = 500;

/// All live data of a store, read page by page.
struct Records<'a> {
    store: &'a dyn Store,
    after: Option<LiveRecord>,
}

impl<'a> Records<'a> {
    const fn of(store: &'a dyn Store) -> Self {
        Self { store, after: None }
    }

    /// Returns the next page; empty at the end.
    async fn next(&mut self) -> Result<Vec<LiveRecord>, StoreError> {
        let page = self.store.live_records(self.after.as_ref(), PAGE).await?;
        if let Some(last) = page.last() {
            self.after = Some(last.clone());
        }
        Ok(page)
    }
}

/// Copies live data, after all sessions were copied.
pub(super) async fn copy(
    from: &dyn Store,
    to: &dyn Store,
    is_rehearsal: bool,
    report: &mut TransferReport,
) -> Result<(), StoreError> {
    let mut records = Records::of(from);
    loop {
        let page = records.next().await?;
        if page.is_empty() {
            return Ok(());
        }
        if is_rehearsal {
            report.live += page.len() as u64;
            continue;
        }
        for (record, carried) in page.iter().zip(to.import_live(&page).await?) {
            match carried {
                Carried::Stored => report.live += 1,
                Carried::Known => {}
                Carried::Left(why) => {
                    report.find(FindingKind::Live, session_of(record), format!("{} is left out: {why}", name(record)));
                }
            }
        }
    }
}

/// Checks that all live data of sound sessions is in the target, unchanged. The target may have more.
pub(super) async fn compare(
    from: &dyn Store,
    to: &dyn Store,
    unsound: &BTreeSet<SessionId>,
    proof: &mut Proof,
) -> Result<(), StoreError> {
    let mut there: HashMap<[u8; 32], [u8; 32]> = HashMap::new();
    let mut records = Records::of(to);
    loop {
        let page = records.next().await?;
        if page.is_empty() {
            break;
        }
        there.extend(page.into_iter().map(hashes));
    }
    let mut records = Records::of(from);
    loop {
        let page = records.next().await?;
        if page.is_empty() {
            return Ok(());
        }
        let sound = page.into_iter().filter(|record| session_of(record).is_none_or(|id| !unsound.contains(id)));
        for (identity, content) in sound.map(hashes) {
            proof.live += 1;
            proof.live_missing += u64::from(there.get(&identity) != Some(&content));
        }
    }
}

/// Returns the hashes of a record's identity and of its content in any store.
fn hashes(record: LiveRecord) -> ([u8; 32], [u8; 32]) {
    let identity = Sha256::digest(format!("{:?}", record.identity()));
    let content = Sha256::digest(format!("{:?}", record.portable()));
    (identity.into(), content.into())
}

fn session_of(record: &LiveRecord) -> Option<&SessionId> {
    match record {
        LiveRecord::Route(route) => Some(&route.session),
        LiveRecord::Turn(turn) => Some(&turn.session),
        LiveRecord::Inbox(item) => item.inbound.session.as_ref(),
        LiveRecord::Outbound(part) => part.session.as_ref(),
        LiveRecord::Cause { session, .. } => Some(session),
        LiveRecord::Alias { .. } | LiveRecord::Cursor { .. } => None,
    }
}

/// Returns a name of the record for people.
fn name(record: &LiveRecord) -> String {
    let kind = match record.kind() {
        LiveKind::Route => "the route",
        LiveKind::Alias => "the former route",
        LiveKind::Cursor => "the cursor of",
        LiveKind::Turn => "the open turn of",
        LiveKind::Inbox => "the received message",
        LiveKind::Outbound => "the reply to",
        LiveKind::Cause => "the cause of the reset of",
    };
    format!("{kind} {}", record.identity().1.join(" "))
}
