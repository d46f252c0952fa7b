//! What was deleted and can come back.

use super::{ModelStore, State};
use async_trait::async_trait;
use hermes_session::import::ImportPiece;
use hermes_session::{
    Conflict, Deleted, Emptying, Marks, Message, Request, Restored, Retitled, Session, SessionId, StoreError,
    Timestamp, TrashStore, Trashed, change,
};

/// An entry, with its sessions in the order in which they come back.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    entry: Trashed,
    sessions: Vec<(Session, Vec<Message>)>,
    /// What is kept with the first of them.
    marks: Marks,
}

#[async_trait]
impl TrashStore for ModelStore {
    async fn trash_chain(&self, id: &SessionId, until: Timestamp, request: &Request) -> Result<Deleted, StoreError> {
        self.once(request, change::trash_chain(id), id, |state| state.trash_chain(id, until, request.at))
    }

    async fn trash(&self, older_than: Option<&Trashed>, limit: u32) -> Result<Vec<Trashed>, StoreError> {
        let state = self.state();
        let older =
            state.trash.iter().rev().filter(|kept| older_than.is_none_or(|than| kept.entry.number < than.number));
        Ok(older.take(limit as usize).map(|kept| kept.entry.clone()).collect())
    }

    async fn trashed(&self, id: &SessionId) -> Result<Option<(Trashed, Vec<SessionId>)>, StoreError> {
        let state = self.state();
        Ok(state.kept(id).map(|place| {
            let kept = &state.trash[place];
            (kept.entry.clone(), kept.sessions.iter().map(|(session, _)| session.id.clone()).collect())
        }))
    }

    async fn restore(&self, id: &SessionId, request: &Request) -> Result<Restored, StoreError> {
        self.once(request, change::restore(id), id, |state| state.restore(id))
    }

    async fn empty_trash(&self, which: &Emptying) -> Result<Vec<Trashed>, StoreError> {
        let mut state = self.state();
        if let Emptying::One(id) = which {
            let place = state.kept(id).ok_or_else(|| StoreError::no_session(id))?;
            return Ok(vec![state.trash.remove(place).entry]);
        }
        let goes = |kept: &Kept| match which {
            Emptying::Over(now) => kept.entry.until <= *now,
            Emptying::These(seen) => seen.contains(&kept.entry),
            Emptying::All | Emptying::One(_) => true,
        };
        let (gone, stays): (Vec<Kept>, Vec<Kept>) = state.trash.drain(..).partition(goes);
        state.trash = stays;
        Ok(gone.into_iter().rev().map(|kept| kept.entry).collect())
    }
}

impl State {
    /// Where the newest entry is that holds a session.
    fn kept(&self, id: &SessionId) -> Option<usize> {
        self.trash.iter().rposition(|kept| kept.sessions.iter().any(|(session, _)| session.id == *id))
    }

    fn trash_chain(&mut self, id: &SessionId, until: Timestamp, at: Timestamp) -> Result<Deleted, StoreError> {
        self.existing(id)?;
        let links = self.links();
        let members = links.chain(id);
        let copy = |id: &SessionId| (self.sessions[id].clone(), self.transcripts.get(id).cloned().unwrap_or_default());
        let sessions: Vec<(Session, Vec<Message>)> = members.iter().map(copy).collect();
        let tip = links.tip(&members[0]);
        let title = self.sessions[&tip].title.clone();
        let marks = self.marks_of(&members[0]);
        let deleted = self.delete_chain(id)?;
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
        self.trash.push(Kept { entry, sessions, marks });
        Ok(deleted)
    }

    fn restore(&mut self, id: &SessionId) -> Result<Restored, StoreError> {
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
        if kept.marks != Marks::default() {
            self.marks.insert(kept.sessions[0].0.id.clone(), kept.marks);
        }
        self.trash.remove(place);
        Ok(Restored { id: kept.entry.id, sessions: kept.entry.sessions, messages, retitled })
    }
}
