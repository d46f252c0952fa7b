//! Conversations in the trash: their lines are imported, then the conversation is moved to the trash as a whole.

use super::fields::{Fields, missing};
use super::link::{Waiting, link_all};
use super::report::{FindingKind, ImportReport};
use super::rows::{self, TableRow};
use crate::{Invalid, Maintenance, Request, SessionId, StoreError, Timestamp};
use std::collections::BTreeSet;

/// The trash entry that a line belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InTrash {
    /// Tip of the conversation.
    pub conversation: SessionId,
    /// Time of the deletion.
    pub deleted_at: Timestamp,
    /// Time until which it can be restored.
    pub kept_until: Timestamp,
}

impl InTrash {
    /// Reads the member `trash` of a line: the entry, and the rows of other tables that refer to the line's session.
    pub(super) fn read(text: &str) -> Result<(Self, Vec<TableRow>), Invalid> {
        let fields = Fields::of("trash", text)?;
        let time = |key| fields.time(key)?.ok_or_else(|| missing(key));
        let conversation = fields.text("conversation")?.ok_or_else(|| missing("conversation"))?;
        let rows = fields.raw("tables").map(rows::read).transpose()?.unwrap_or_default();
        let entry = Self {
            conversation: SessionId::parse(conversation)?,
            deleted_at: time("deleted_at")?,
            kept_until: time("kept_until")?,
        };
        Ok((entry, rows))
    }

    fn key(&self) -> (SessionId, u64) {
        (self.conversation.clone(), self.deleted_at.seconds().to_bits())
    }
}

/// The conversation of the trash whose lines are being read.
#[derive(Default)]
pub(super) struct Binning {
    entry: Option<Entry>,
    /// Trash entries that existed before the import, read on first use.
    known: Option<BTreeSet<(SessionId, u64)>>,
}

struct Entry {
    trash: InTrash,
    line: u64,
    members: BTreeSet<SessionId>,
    /// Rows of other tables, with the line and the session that they came with.
    rows: Vec<(u64, SessionId, Vec<TableRow>)>,
    is_whole: bool,
    /// Whether any of its sessions did not exist before.
    has_new: bool,
}

impl Binning {
    /// Returns whether a line belongs to another conversation than the lines before it.
    pub(super) fn is_over(&self, next: Option<&InTrash>) -> bool {
        self.entry.as_ref().is_some_and(|entry| Some(&entry.trash) != next)
    }

    /// Takes in a line. Returns `false` if its conversation is in the trash already.
    pub(super) async fn take(
        &mut self,
        store: &dyn Maintenance,
        line: u64,
        trash: &InTrash,
        session: &SessionId,
        rows: &[TableRow],
    ) -> Result<bool, StoreError> {
        if self.known.is_none() {
            let there = store.trash(None, u32::MAX).await?;
            let key = |entry: &crate::Trashed| (entry.id.clone(), entry.deleted_at.seconds().to_bits());
            self.known = Some(there.iter().map(key).collect());
        }
        if self.known.as_ref().is_some_and(|known| known.contains(&trash.key())) {
            return Ok(false);
        }
        let entry = self.entry.get_or_insert_with(|| Entry {
            trash: trash.clone(),
            line,
            members: BTreeSet::new(),
            rows: Vec::new(),
            is_whole: true,
            has_new: false,
        });
        entry.members.insert(session.clone());
        if !rows.is_empty() {
            entry.rows.push((line, session.clone(), rows.to_vec()));
        }
        Ok(true)
    }

    /// Records that a line of the conversation adds a session that did not exist.
    pub(super) fn brings(&mut self) {
        if let Some(entry) = &mut self.entry {
            entry.has_new = true;
        }
    }

    /// Records that a line of the conversation could not be imported.
    pub(super) fn fail(&mut self) {
        if let Some(entry) = &mut self.entry {
            entry.is_whole = false;
        }
    }

    /// Moves the conversation to the trash once all of its sessions exist.
    pub(super) async fn finish(
        &mut self,
        store: &dyn Maintenance,
        waiting: &mut Vec<Waiting>,
        report: &mut ImportReport,
    ) -> Result<(), StoreError> {
        let Some(Entry { trash, line, members, rows, is_whole, has_new }) = self.entry.take() else { return Ok(()) };
        let (own, others) = std::mem::take(waiting).into_iter().partition(|wait| members.contains(&wait.child));
        *waiting = others;
        link_all(store, own, report).await?;
        let id = &trash.conversation;
        if is_whole && !has_new {
            // It was restored since, or an earlier import stopped before moving it.
            let what = "it already exists here, so it was not moved to the trash".to_owned();
            report.find(line, Some(id), FindingKind::Conflict, what);
            return Ok(());
        }
        let chain = match store.lineage(id).await {
            Ok(lineage) => lineage.chain(id),
            Err(StoreError::NotFound(_)) => Vec::new(),
            Err(error) => return Err(error),
        };
        let is_meant = !chain.is_empty() && chain.iter().all(|member| members.contains(member));
        if !is_whole || !is_meant {
            let what = "it was not moved to the trash: here it belongs to another conversation".to_owned();
            report.find(line, Some(id), FindingKind::Conflict, what);
            return Ok(());
        }
        // They go to the trash with their session.
        for (line, session, rows) in rows {
            for left in store.import_rows(&session, &rows).await? {
                report.find(line, Some(&session), FindingKind::Column, left.to_string());
            }
        }
        store.trash_chain(id, trash.kept_until, &Request::at(trash.deleted_at)).await?;
        report.trashed += 1;
        Ok(())
    }
}
