//! Messages, in the order of arrival.

use super::{Life, State};
use hermes_session::live::Kinds;
use hermes_session::{Message, MessageId, MessageRequest, NewMessage, SessionId, StoreError, Timestamp, Window};

impl State {
    pub(super) fn append(
        &mut self,
        id: &SessionId,
        messages: &[NewMessage],
        at: Timestamp,
    ) -> Result<Vec<MessageId>, StoreError> {
        let session = self.sessions.get_mut(id).ok_or_else(|| StoreError::no_session(id))?;
        if !messages.is_empty() {
            self.changes.note(id, Kinds::MESSAGES);
        }
        let transcript = self.transcripts.entry(id.clone()).or_default();
        let mut ids = Vec::new();
        for message in messages {
            self.last_message_id += 1;
            ids.push(MessageId(self.last_message_id));
            session.message_count += 1;
            session.tool_call_count += message.body.tool_call_count();
            transcript.push(Message::new(
                MessageId(self.last_message_id),
                id.clone(),
                message.timestamp.unwrap_or(at),
                message.body.clone(),
            ));
        }
        Ok(ids)
    }

    pub(super) fn replace(
        &mut self,
        id: &SessionId,
        messages: &[NewMessage],
        at: Timestamp,
    ) -> Result<Vec<MessageId>, StoreError> {
        let session = self.existing_mut(id)?;
        session.message_count = 0;
        session.tool_call_count = 0;
        self.note(id, Kinds::REWRITTEN);
        // Messages that are not active are not part of the transcript, and stay.
        let all = self.transcripts.remove(id).unwrap_or_default();
        let (gone, stays): (Vec<Message>, Vec<Message>) =
            all.into_iter().partition(|message| message.state.is_active());
        if !stays.is_empty() {
            self.transcripts.insert(id.clone(), stays);
        }
        self.forget_requests(
            |life| matches!(life, Life::Messages { first, .. } if gone.iter().any(|message| message.id == *first)),
        );
        self.append(id, messages, at)
    }

    pub(super) fn messages(&self, id: &SessionId, request: &MessageRequest) -> Result<Vec<Message>, StoreError> {
        self.existing(id)?;
        let all = self.transcripts.get(id).into_iter().flatten();
        let transcript: Vec<&Message> = all.filter(|message| request.extent.has(message.state)).collect();
        let limit = request.limit as usize;
        let stretch = match request.window {
            Window::After(edge) => {
                let from = edge.map_or(0, |edge| transcript.partition_point(|message| message.id <= edge));
                &transcript[from..transcript.len().min(from.saturating_add(limit))]
            }
            Window::Before(edge) => {
                let to = edge.map_or(transcript.len(), |edge| transcript.partition_point(|message| message.id < edge));
                &transcript[to.saturating_sub(limit)..to]
            }
        };
        Ok(stretch.iter().map(|message| (*message).clone()).collect())
    }
}
