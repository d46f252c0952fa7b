//! Lines of conversations that are in the trash: they are imported, then moved there as a whole.

use super::fields::{Fields, missing};
use super::link::{Waiting, link_all};
use super::report::{FindingKind, ImportReport};
use crate::{Invalid, Maintenance, Request, SessionId, StoreError, Timestamp};
use std::collections::BTreeSet;

/// The entry of the trash that a line belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InTrash {
    /// The session that the conversation goes on in.
    pub conversation: SessionId,
    /// When it was deleted.
    pub deleted_at: Timestamp,
    /// Until when it can come back.
    pub kept_until: Timestamp,
}

impl InTrash {
    /// Reads the member `trash` of a line.
    pub(super) fn read(text: &str) -> Result<Self, Invalid> {
        let fields = Fields::of("trash", text)?;
        let time = |key| fields.time(key)?.ok_or_else(|| missing(key));
        let conversation = fields.text("conversation")?.ok_or_else(|| missing("conversation"))?;
        Ok(Self {
            conversation: SessionId::parse(conversation)?,
            deleted_at: time("deleted_at")?,
            kept_until: time("kept_until")?,
        })
    }

    fn key(&self) -> (SessionId, u64) {
        (self.conversation.clone(), self.deleted_at.seconds().to_bits())
    }
}

/// The conversation whose lines are being read.
#[derive(Default)]
pub(super) struct Binning {
    entry: Option<Entry>,
    /// What was in the trash at the start, once anybody asked.
    known: Option<BTreeSet<(SessionId, u64)>>,
}

struct Entry {
    trash: InTrash,
    line: u64,
    members: BTreeSet<SessionId>,
    is_whole: bool,
    /// Whether any of its sessions was not there before.
    has_new: bool,
}

impl Binning {
    /// Whether a line belongs to another conversation than the lines before it.
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
            is_whole: true,
            has_new: false,
        });
        entry.members.insert(session.clone());
        Ok(true)
    }

    /// Notes that a line of the conversation brings a session that was not there.
    pub(super) fn brings(&mut self) {
        if let Some(entry) = &mut self.entry {
            entry.has_new = true;
        }
    }

    /// Notes that a line of the conversation could not be imported.
    pub(super) fn fail(&mut self) {
        if let Some(entry) = &mut self.entry {
            entry.is_whole = false;
        }
    }

    /// Moves the conversation to the trash, once all of its sessions are there.
    pub(super) async fn finish(
        &mut self,
        store: &dyn Maintenance,
        waiting: &mut Vec<Waiting>,
        report: &mut ImportReport,
    ) -> Result<(), StoreError> {
        let Some(Entry { trash, line, members, is_whole, has_new }) = self.entry.take() else { return Ok(()) };
        let (own, others) = std::mem::take(waiting).into_iter().partition(|wait| members.contains(&wait.child));
        *waiting = others;
        link_all(store, own, report).await?;
        let id = &trash.conversation;
        if is_whole && !has_new {
            // Somebody restored it since, or an import ended before it was moved.
            let what = "it is here already, so that it was not moved to the trash".to_owned();
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
            let what = "it was not moved to the trash: its conversation is another one here".to_owned();
            report.find(line, Some(id), FindingKind::Conflict, what);
            return Ok(());
        }
        store.trash_chain(id, trash.kept_until, &Request::at(trash.deleted_at)).await?;
        report.trashed += 1;
        Ok(())
    }
}
