//! Dry run of an import: reads the store and remembers what the earlier lines would have created.

use super::compare::Comparison;
use super::line::Parsed;
use super::link::Waiting;
use super::report::{FindingKind, ImportReport};
use crate::{ConversationStore, Message, MessageId, SessionId, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Sessions that earlier lines would have created. Only the id, the title and a digest of each are kept.
#[derive(Default)]
pub(super) struct Rehearsal {
    sessions: BTreeMap<SessionId, u64>,
    titles: BTreeSet<String>,
}

impl Rehearsal {
    /// Compares a line with an earlier line of the same id; `None` if there was none.
    pub(super) fn compare(&self, line: &Parsed<'_>) -> Option<Comparison> {
        let before = self.sessions.get(&line.session.id)?;
        Some(match *before == digest(line) {
            true => Comparison::Same,
            false => Comparison::Other("a line before it differs".into()),
        })
    }

    /// Remembers a session that would be created, and reports if its title would have to change.
    pub(super) async fn take(
        &mut self,
        store: &dyn ConversationStore,
        line: u64,
        parsed: &Parsed<'_>,
        report: &mut ImportReport,
    ) -> Result<(), StoreError> {
        let id = &parsed.session.id;
        if let Some(title) = &parsed.session.title {
            let is_taken = |other: &crate::Titled| other.title == *title && other.id != *id;
            if !self.titles.insert(title.clone()) || store.titled(title).await?.iter().any(is_taken) {
                let what = format!("its title {title:?} is taken; it would get the next free one");
                report.find(line, Some(id), FindingKind::Title, what);
            }
        }
        self.sessions.insert(id.clone(), digest(parsed));
        Ok(())
    }

    /// Reports sessions whose parent would not exist.
    pub(super) async fn link_all(
        &self,
        store: &dyn ConversationStore,
        waiting: &[Waiting],
        report: &mut ImportReport,
    ) -> Result<(), StoreError> {
        for one in waiting {
            if !self.sessions.contains_key(&one.parent) && store.session(&one.parent).await?.is_none() {
                let what = format!("its parent {} does not exist", one.parent);
                report.find(one.line, Some(&one.child), FindingKind::Parent, what);
            }
        }
        Ok(())
    }
}

/// Returns a digest that is equal for lines of equal content. Collisions are acceptable in a preview.
fn digest(line: &Parsed<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{:?}", line.session).hash(&mut hasher);
    for place in 0..line.messages.len() {
        // Message ids do not count as content.
        let message = line.messages.read(place, &mut Vec::new()).map(|message| Message { id: MessageId(0), ..message });
        format!("{message:?}").hash(&mut hasher);
    }
    hasher.finish()
}
