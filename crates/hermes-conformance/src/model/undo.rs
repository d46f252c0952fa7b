//! Undone messages.

use super::{Life, State};
use hermes_session::live::undo::not_in_transcript;
use hermes_session::live::{Kinds, Undone, UndoneMessage};
use hermes_session::{Message, MessageId, MessageState, SessionId, StoreError, Timestamp};
use std::collections::BTreeSet;

/// The undo that took a message back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Batch {
    number: i64,
    undone_at: Timestamp,
}

impl State {
    pub(super) fn undo(&mut self, id: &SessionId, from: MessageId, at: Timestamp) -> Result<Undone, StoreError> {
        self.existing(id)?;
        let transcript = self.transcripts.get_mut(id).map_or(&mut [][..], Vec::as_mut_slice);
        let mut taken: Vec<&mut Message> =
            transcript.iter_mut().filter(|message| message.state.is_active() && message.id >= from).collect();
        if taken.first().is_none_or(|first| first.id != from) {
            return Err(not_in_transcript(id, from).into());
        }
        self.last_batch += 1;
        let batch = Batch { number: self.last_batch, undone_at: at };
        let mut ids = BTreeSet::new();
        let mut tool_calls = 0;
        for message in &mut taken {
            message.state = MessageState::Undone;
            tool_calls += message.body.tool_call_count();
            self.undone.insert(message.id, batch);
            ids.insert(message.id);
        }
        let session = self.existing_mut(id)?;
        session.message_count -= ids.len() as i64;
        session.tool_call_count -= tool_calls;
        self.note(id, Kinds::REWRITTEN);
        self.forget_requests(|life| matches!(life, Life::Messages { first, .. } if ids.contains(first)));
        Ok(Undone { batch: batch.number, messages: ids.len() as u64 })
    }

    pub(super) fn undone(&self, id: &SessionId) -> Result<Vec<UndoneMessage>, StoreError> {
        self.existing(id)?;
        let all = self.transcripts.get(id).into_iter().flatten();
        let undone = all.filter(|message| message.state == MessageState::Undone).map(|message| {
            let batch = self.undone.get(&message.id);
            UndoneMessage {
                batch: batch.map(|batch| batch.number),
                undone_at: batch.map(|batch| batch.undone_at),
                message: message.clone(),
            }
        });
        Ok(undone.collect())
    }

    pub(super) fn forget_undone(&mut self, gone: &BTreeSet<SessionId>) {
        let messages = gone.iter().filter_map(|id| self.transcripts.get(id)).flatten();
        for message in messages {
            self.undone.remove(&message.id);
        }
    }
}
