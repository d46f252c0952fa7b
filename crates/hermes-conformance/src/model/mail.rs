//! Mail: received messages, and replies to deliver.

use super::State;
use hermes_session::live::{InboxId, InboxItem, InboxState, NewOutbound, Outbound, OutboundId, OutboundState, TurnId};
use hermes_session::{Conflict, MessageId, SessionId, StoreError, Timestamp};
use std::collections::BTreeSet;

impl State {
    /// Checks that these received messages wait.
    pub(super) fn rows_wait<'a>(&self, rows: impl IntoIterator<Item = &'a InboxId>) -> Result<(), StoreError> {
        let waits = |row: &InboxId| self.inbox.get(row).is_some_and(|item| item.state == InboxState::Waiting);
        match rows.into_iter().find(|row| !waits(row)) {
            Some(row) => Err(Conflict::InboxSettled(*row).into()),
            None => Ok(()),
        }
    }

    /// Gives a received message to a turn.
    pub(super) fn take_row(&mut self, row: InboxId, turn: TurnId, message: MessageId) {
        if let Some(item) = self.inbox.get_mut(&row) {
            item.state = InboxState::Taken;
            item.turn = Some(turn);
            item.stored_message = Some(message);
            item.attempts += 1;
        }
    }

    /// Marks the received messages of a turn as done.
    pub(super) fn settle_rows(&mut self, turn: TurnId, at: Timestamp) {
        let has = |item: &&mut InboxItem| item.turn == Some(turn) && item.state == InboxState::Taken;
        for item in self.inbox.values_mut().filter(has) {
            item.state = InboxState::Done;
            item.inbound.payload.clear();
            item.settled_at = Some(at);
        }
    }

    /// Queues replies, which answer a turn of a session if one is named.
    pub(super) fn queue(
        &mut self,
        replies: &[NewOutbound],
        turn: Option<(TurnId, &SessionId)>,
        at: Timestamp,
    ) -> Vec<OutboundId> {
        let mut ids = Vec::new();
        for reply in replies {
            for (part, content) in (0..).zip(&reply.parts) {
                self.last_outbound_id += 1;
                let id = OutboundId(self.last_outbound_id);
                let queued = Outbound {
                    id,
                    turn: turn.map(|(turn, _)| turn),
                    session: turn.map(|(_, session)| session.clone()),
                    account: reply.account.clone(),
                    destination: reply.destination.clone(),
                    part,
                    parts: reply.parts.len() as u32,
                    content: content.clone(),
                    state: OutboundState::Waiting,
                    attempts: 0,
                    doubtful: false,
                    not_before: None,
                    holder: None,
                    platform_id: None,
                    last_error: None,
                    created_at: at,
                    settled_at: None,
                };
                self.outbox.insert(id, queued);
                ids.push(id);
            }
        }
        ids
    }

    pub(super) fn forget_mail_of(&mut self, gone: &BTreeSet<SessionId>) {
        self.inbox.retain(|_, item| item.inbound.session.as_ref().is_none_or(|session| !gone.contains(session)));
        self.outbox.retain(|_, part| part.session.as_ref().is_none_or(|session| !gone.contains(session)));
    }
}
