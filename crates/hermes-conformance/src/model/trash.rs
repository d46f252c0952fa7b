//! Deleted conversations that can be restored.

use super::State;
use hermes_session::import::ImportPiece;
use hermes_session::{
    Conflict, DeleteExtent, Deleted, Message, PinAndTags, Restored, Retitled, Session, SessionId, StoreError,
    Timestamp, Trashed,
};

/// An entry, with its sessions in the order in which they are restored.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) entry: Trashed,
    pub(super) sessions: Vec<(Session, Vec<Message>)>,
    /// Pins and tags, which are stored with the first of them.
    pins_and_tags: PinAndTags,
}

impl State {
    /// Returns the index of the newest entry that holds a session.
    pub(super) fn kept(&self, id: &SessionId) -> Option<usize> {
        self.trash.iter().rposition(|kept| kept.sessions.iter().any(|(session, _)| session.id == *id))
    }

    pub(super) fn trash_chain(
        &mut self,
        id: &SessionId,
        until: Timestamp,
        at: Timestamp,
    ) -> Result<Deleted, StoreError> {
        self.existing(id)?;
        let links = self.links();
        let members = links.chain(id);
        let copy = |id: &SessionId| (self.sessions[id].clone(), self.transcripts.get(id).cloned().unwrap_or_default());
        let sessions: Vec<(Session, Vec<Message>)> = members.iter().map(copy).collect();
        let tip = links.tip(&members[0]);
        let title = self.sessions[&tip].title.clone();
        let pins_and_tags = self.pins_and_tags_of(&members[0]);
        let deleted = self.delete(id, DeleteExtent::Chain, at)?;
        self.last_trash_number += 1;
        let entry = Trashed {
            number: self.last_trash_number,
            id: tip,
            title,
            source: sessions[0].0.source.as_str().to_owned(),
            deleted_at: at,
            until,
            sessions: deleted.sessions,
            messages: deleted.messages,
        };
        self.trash.push(Kept { entry, sessions, pins_and_tags });
        Ok(deleted)
    }

    pub(super) fn restore(&mut self, id: &SessionId) -> Result<Restored, StoreError> {
        let place = self.kept(id).ok_or_else(|| StoreError::no_session(id))?;
        let kept = self.trash[place].clone();
        if let Some((taken, _)) = kept.sessions.iter().find(|(session, _)| self.sessions.contains_key(&session.id)) {
            return Err(Conflict::Exists(taken.id.clone()).into());
        }
        let (mut messages, mut retitled) = (0, Vec::new());
        for (session, said) in &kept.sessions {
            messages += said.len() as u64;
            let piece = ImportPiece { session: session.clone(), start: 0, messages: said.clone(), is_last: true };
            self.import(&piece);
            let has = self.sessions[&session.id].title.clone();
            if has != session.title {
                let had = session.title.clone().unwrap_or_default();
                retitled.push(Retitled { id: session.id.clone(), had, has });
            }
        }
        if kept.pins_and_tags != PinAndTags::default() {
            self.pins_and_tags.insert(kept.sessions[0].0.id.clone(), kept.pins_and_tags);
        }
        self.trash.remove(place);
        Ok(Restored { id: kept.entry.id, sessions: kept.entry.sessions, messages, retitled })
    }
}
