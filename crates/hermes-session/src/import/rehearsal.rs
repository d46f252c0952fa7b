//! What an import would do: the store is asked, and what would be there by now is remembered.

use super::compare::Comparison;
use super::line::Parsed;
use super::link::Waiting;
use super::report::{FindingKind, ImportReport};
use crate::{ConversationStore, Message, MessageId, SessionId, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The sessions that lines before would have made. Of each only its id, its title and a digest of it is kept.
#[derive(Default)]
pub(super) struct Rehearsal {
    sessions: BTreeMap<SessionId, u64>,
    titles: BTreeSet<String>,
}

impl Rehearsal {
    /// How a line stands to one before it of the same id; nothing if there was none.
    pub(super) fn compare(&self, line: &Parsed<'_>) -> Option<Comparison> {
        let before = self.sessions.get(&line.session.id)?;
        Some(match *before == digest(line) {
            true => Comparison::Same,
            false => Comparison::Other("a line before it differs".into()),
        })
    }

    /// Remembers a session that would be made, and tells if its title would have to give way.
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

    /// Tells whose parents would be nowhere.
    pub(super) async fn link_all(
        &self,
        store: &dyn ConversationStore,
        waiting: &[Waiting],
        report: &mut ImportReport,
    ) -> Result<(), StoreError> {
        for one in waiting {
            if !self.sessions.contains_key(&one.parent) && store.session(&one.parent).await?.is_none() {
                let what = format!("its parent {} is not there", one.parent);
                report.find(one.line, Some(&one.child), FindingKind::Parent, what);
            }
        }
        Ok(())
    }
}

/// The same for lines that hold the same; collisions are no matter for a preview.
fn digest(line: &Parsed<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{:?}", line.session).hash(&mut hasher);
    for place in 0..line.messages.len() {
        // The ids of messages are no content.
        let message = line.messages.read(place, &mut Vec::new()).map(|message| Message { id: MessageId(0), ..message });
        format!("{message:?}").hash(&mut hasher);
    }
    hasher.finish()
}
