//! Imported sessions.

use super::State;
use hermes_session::import::{ImportPiece, Imported, MAX_KEPT_ID};
use hermes_session::live::Kinds;
use hermes_session::{Invalid, Message, MessageId, Relation, Session, SessionId, StoreError, Title};

impl State {
    pub(super) fn import(&mut self, piece: &ImportPiece) -> Imported {
        let id = &piece.session.id;
        if self.sessions.contains_key(id) {
            return Imported::Exists;
        }
        if piece.start == 0 {
            self.coming.insert(id.clone(), Vec::new());
        }
        if self.coming.get(id).is_none_or(|messages| messages.len() as u64 != piece.start) {
            return Imported::Exists;
        }
        for message in &piece.messages {
            let message = Message { id: self.id_for(id, message.id), ..message.clone() };
            self.coming.entry(id.clone()).or_default().push(message);
        }
        if !piece.is_last {
            return Imported::Partly(piece.messages.len() as u64);
        }
        let messages = self.coming.remove(id).unwrap_or_default();
        if !messages.is_empty() {
            self.transcripts.insert(id.clone(), messages);
        }
        let title = self.free_title(&piece.session);
        let parent = piece.session.parent_session_id.clone().filter(|parent| self.sessions.contains_key(parent));
        let session = Session {
            relation: if parent.is_some() { piece.session.relation } else { Relation::Root },
            parent_session_id: parent.clone(),
            title: title.clone(),
            ..piece.session.clone()
        };
        self.sessions.insert(id.clone(), session);
        self.note(id, Kinds::CREATED);
        Imported::Whole { title, parent }
    }

    /// Returns the id of the next message of a session: its own, if that is free and greater than the last one.
    fn id_for(&mut self, session: &SessionId, had: MessageId) -> MessageId {
        let last = self.coming[session].last().map_or(MessageId(0), |message| message.id);
        let mut all = self.transcripts.values().chain(self.coming.values()).flatten();
        let is_kept = had > last && had <= MAX_KEPT_ID && all.all(|message| message.id != had);
        let id = if is_kept { had } else { MessageId(self.last_message_id + 1) };
        self.last_message_id = self.last_message_id.max(id.0);
        id
    }

    fn free_title(&self, session: &Session) -> Option<String> {
        let title = session.title.as_ref()?;
        let titles = || self.sessions.values().filter_map(|other| other.title.as_deref());
        if titles().all(|other| other != title) {
            return Some(title.clone());
        }
        Some(Title::clean(title).ok().flatten()?.next(titles()).as_str().to_owned())
    }

    pub(super) fn link(
        &mut self,
        child: &SessionId,
        parent: &SessionId,
        relation: Relation,
    ) -> Result<bool, StoreError> {
        let has_parent = self.existing(child)?.parent_session_id.is_some();
        self.existing(parent)?;
        if has_parent {
            return Ok(false);
        }
        if self.links().ancestors(parent).contains(child) {
            return Err(Invalid::new("parent session", "comes from the session itself", "name another").into());
        }
        let child = self.existing_mut(child)?;
        child.parent_session_id = Some(parent.clone());
        child.relation = relation;
        let child = child.id.clone();
        self.note(&child, Kinds::SESSION);
        Ok(true)
    }
}
