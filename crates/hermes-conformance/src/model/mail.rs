//! Mail: received messages, and replies to deliver.

use super::State;
use hermes_session::live::{
    Account, Inbound, InboxId, InboxItem, InboxState, NewOutbound, Outbound, OutboundId, OutboundState, Received,
    Settled, Turn, TurnId,
};
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
        let has = |item: &&mut InboxItem| item.turn == Some(turn);
        self.inbox.values_mut().filter(has).for_each(|item| settle(item, at));
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

    /// Dismisses the messages that wait for deleted sessions, and drops their replies. Their turns still exist.
    pub(super) fn forget_mail_of(&mut self, gone: &BTreeSet<SessionId>, at: Timestamp) {
        let is_of_gone = |turn: &&Turn| gone.contains(&turn.session);
        let turns: Vec<TurnId> = self.turns.values().filter(is_of_gone).map(|turn| turn.id).collect();
        turns.into_iter().for_each(|turn| self.settle_rows(turn, at));
        for item in self.inbox.values_mut() {
            if item.inbound.session.take_if(|session| gone.contains(session)).is_some() {
                settle(item, at);
            }
        }
        self.outbox.retain(|_, part| part.session.as_ref().is_none_or(|session| !gone.contains(session)));
    }

    pub(super) fn receive(
        &mut self,
        account: &Account,
        batch: &[Inbound],
        cursor: Option<&str>,
        at: Timestamp,
    ) -> Result<Vec<Received>, StoreError> {
        batch.iter().filter_map(|inbound| inbound.session.as_ref()).try_for_each(|id| self.existing(id).map(|_| ()))?;
        if let Some(cursor) = cursor {
            self.cursors.insert(account.clone(), cursor.to_owned());
        }
        Ok(batch.iter().map(|inbound| self.receive_one(account, inbound, at)).collect())
    }

    fn receive_one(&mut self, account: &Account, inbound: &Inbound, at: Timestamp) -> Received {
        let is_same = |item: &&InboxItem| {
            item.account == *account
                && item.inbound.chat == inbound.chat
                && item.inbound.message_id == inbound.message_id
        };
        if let Some(known) = self.inbox.values().find(is_same) {
            return Received::Known(known.id);
        }
        self.last_inbox_id += 1;
        let id = InboxId(self.last_inbox_id);
        let item = InboxItem {
            id,
            account: account.clone(),
            inbound: inbound.clone(),
            state: InboxState::Waiting,
            turn: None,
            stored_message: None,
            attempts: 0,
            received_at: at,
            settled_at: None,
        };
        self.inbox.insert(id, item);
        Received::New(id)
    }

    pub(super) fn post(
        &mut self,
        answered: &[InboxId],
        replies: &[NewOutbound],
        at: Timestamp,
    ) -> Result<Vec<OutboundId>, StoreError> {
        let mut seen = BTreeSet::new();
        if let Some(twice) = answered.iter().find(|row| !seen.insert(**row)) {
            return Err(Conflict::InboxSettled(*twice).into());
        }
        self.rows_wait(answered)?;
        for row in answered {
            self.inbox.entry(*row).and_modify(|item| settle(item, at));
        }
        Ok(self.queue(replies, None, at))
    }

    pub(super) fn take_outbound(
        &mut self,
        account: &Account,
        holder: &str,
        limit: u32,
        now: Timestamp,
    ) -> Vec<Outbound> {
        let mut destinations = BTreeSet::new();
        let unsettled = self.outbox.values().filter(|part| part.account == *account && !part.state.is_settled());
        let first = unsettled.filter(|part| destinations.insert(&part.destination));
        let due = first.filter(|part| part.is_due(holder, now));
        let taken: Vec<Outbound> = due.take(limit as usize).map(|part| part.clone().taken(holder)).collect();
        taken.iter().for_each(|part| _ = self.outbox.insert(part.id, part.clone()));
        taken
    }

    pub(super) fn settle_outbound(&mut self, id: OutboundId, attempt: u32, how: &Settled, now: Timestamp) -> bool {
        let settled = self.outbox.get(&id).and_then(|part| part.clone().settled(attempt, how, now));
        settled.and_then(|part| self.outbox.insert(id, part)).is_some()
    }

    /// Drops the parts of a turn that were not delivered.
    pub(super) fn drop_replies(&mut self, turn: TurnId) {
        self.outbox.retain(|_, part| part.turn != Some(turn) || part.state.is_settled());
    }

    pub(super) fn forget_mail(&mut self, before: Timestamp, limit: u32) -> u64 {
        let is_old = |settled: Option<Timestamp>| settled.is_some_and(|time| time < before);
        let rows: Vec<InboxId> = self
            .inbox
            .values()
            .filter(|item| is_old(item.settled_at))
            .map(|item| item.id)
            .take(limit as usize)
            .collect();
        let parts: Vec<OutboundId> = self
            .outbox
            .values()
            .filter(|part| is_old(part.settled_at))
            .map(|part| part.id)
            .take(limit as usize)
            .collect();
        rows.iter().for_each(|row| _ = self.inbox.remove(row));
        parts.iter().for_each(|part| _ = self.outbox.remove(part));
        (rows.len() + parts.len()) as u64
    }
}

/// Marks a received message as done, unless it is.
fn settle(item: &mut InboxItem, at: Timestamp) {
    if item.state != InboxState::Done {
        item.state = InboxState::Done;
        item.inbound.payload.clear();
        item.settled_at = Some(at);
    }
}
