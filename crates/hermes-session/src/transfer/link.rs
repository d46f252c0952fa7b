//! Links children that were copied before their parents.

use super::pages::Rows;
use super::report::{FindingKind, Phase, Progress, TransferError, TransferReport};
use super::{Watch, go_on};
use crate::{Relation, SessionSummary, Store, StoreError};

/// Links every session that has no parent in the target and has one in the source. It walks both sides completely, so
/// that it does not matter which transfer copied them.
pub(super) async fn link_all(
    from: &dyn Store,
    to: &dyn Store,
    is_rehearsal: bool,
    mut report: TransferReport,
    watch: Watch<'_>,
) -> Result<TransferReport, TransferError> {
    let (mut source, mut target) = (Rows::new(from, None), Rows::new(to, None));
    let mut done = 0;
    while let Some(row) = source.next().await? {
        done += 1;
        if done % 100 == 0 {
            go_on(watch, Progress { phase: Phase::Linking, done, total: 0 })?;
        }
        if row.relation == Relation::Root || row.parent_session_id.is_none() {
            continue;
        }
        let there = if is_rehearsal { None } else { target.find(&row.id, &mut |_| {}).await? };
        let is_waiting = there.is_some_and(|there| there.parent_session_id.is_none());
        if is_rehearsal || (is_waiting && !report.conflicts.contains(&row.id)) {
            link(from, to, &row, is_rehearsal, &mut report).await?;
        }
    }
    Ok(report)
}

async fn link(
    from: &dyn Store,
    to: &dyn Store,
    row: &SessionSummary,
    is_rehearsal: bool,
    report: &mut TransferReport,
) -> Result<(), StoreError> {
    let Some(parent) = &row.parent_session_id else { return Ok(()) };
    let linked = match is_rehearsal {
        true => match from.session(parent).await? {
            Some(_) => Ok(true),
            None => to.session(parent).await.map(|there| there.is_some()),
        },
        false => to.link(&row.id, parent, row.relation).await,
    };
    let what = match linked {
        Ok(true) => return Ok(()),
        Ok(false) | Err(StoreError::NotFound(_)) => format!("its parent {parent} does not exist"),
        Err(StoreError::Invalid(why)) => format!("its parent {parent} is left out: {why}"),
        Err(error) => return Err(error),
    };
    report.find(FindingKind::Parent, Some(&row.id), what);
    Ok(())
}
