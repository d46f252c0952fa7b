//! Links children that came before their parents.

use super::report::{FindingKind, ImportReport};
use crate::lineage::{ParentAtBirth, relation_at_birth};
use crate::{Maintenance, Relation, SessionId, StoreError, Timestamp};

/// A session that was imported without its parent.
pub(super) struct Waiting {
    pub(super) line: u64,
    pub(super) child: SessionId,
    pub(super) parent: SessionId,
    /// Relation to the parent, if the line gives it.
    pub(super) relation: Option<Relation>,
    pub(super) started_at: Timestamp,
}

/// Links all sessions whose parent exists now, the oldest first: of the children of a compressed session the first is
/// its continuation.
pub(super) async fn link_all(
    store: &dyn Maintenance,
    mut waiting: Vec<Waiting>,
    report: &mut ImportReport,
) -> Result<(), StoreError> {
    waiting.sort_by(|a, b| (a.started_at, &a.child).cmp(&(b.started_at, &b.child)));
    for one in waiting {
        let linked = match relation(store, &one).await? {
            None => Ok(false),
            Some(relation) => store.link(&one.child, &one.parent, relation).await,
        };
        let what = match linked {
            Ok(true) => continue,
            Ok(false) | Err(StoreError::NotFound(_)) => format!("its parent {} does not exist", one.parent),
            Err(StoreError::Invalid(why)) => format!("its parent {} is left out: {why}", one.parent),
            Err(error) => return Err(error),
        };
        report.find(one.line, Some(&one.child), FindingKind::Parent, what);
    }
    Ok(())
}

/// Returns the relation of a session to its parent; `None` if one of them does not exist.
async fn relation(store: &dyn Maintenance, one: &Waiting) -> Result<Option<Relation>, StoreError> {
    let Some(parent) = store.session(&one.parent).await? else { return Ok(None) };
    if one.relation.is_some() {
        return Ok(one.relation);
    }
    let Some(child) = store.session(&one.child).await? else { return Ok(None) };
    // A child that started before the parent's end did not result from that end.
    let is_after = parent.ended_at.is_some_and(|ended_at| child.started_at >= ended_at);
    let end_reason = parent.end_reason.as_ref().filter(|_| is_after).map(|reason| reason.as_str());
    let lineage = store.lineage(&parent.id).await?;
    let has_continuation =
        lineage.links().any(|link| link.parent.as_ref() == Some(&parent.id) && link.relation == Relation::Continuation);
    Ok(Some(relation_at_birth(ParentAtBirth { end_reason, has_continuation }, child.model_config.as_ref())))
}
