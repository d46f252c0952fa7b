//! Turns.

use super::State;
use hermes_session::live::{NewTurn, OpenedTurn, Turn, TurnClose, TurnId};
use hermes_session::{Conflict, MessageId, NewMessage, Request, SessionId, StoreError, Timestamp};
use std::collections::BTreeSet;

impl State {
    pub(super) fn open_turn(
        &mut self,
        new: &NewTurn,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<OpenedTurn, StoreError> {
        let conversation = self.root_of(&new.session)?;
        let interrupted = self.turn_of(&conversation).map(|turn| (turn.id, turn.fence));
        if let Some((turn, fence)) = interrupted
            && (request.fence.is_none() || request.fence == fence)
        {
            return Err(Conflict::TurnOpen { session: new.session.clone(), turn }.into());
        }
        let rows: Vec<_> = new.said.iter().map(|said| said.inbox).collect();
        self.rows_wait(rows.iter().flatten())?;
        let interrupted = interrupted.map(|(turn, _)| turn);
        if let Some(turn) = interrupted {
            self.settle_rows(turn, request.at);
            self.turns.remove(&turn);
        }
        let ids = self.append(&new.session, messages, request.at)?;
        self.note_owner(&new.session);
        self.last_turn += 1;
        let turn = Turn {
            id: TurnId(self.last_turn),
            conversation,
            session: new.session.clone(),
            kind: new.kind,
            route: new.route.clone(),
            fence: request.fence,
            attempts: 1,
            opened_at: request.at,
            opened_by: new.opened_by.clone(),
        };
        for (row, message) in rows.into_iter().zip(&ids) {
            row.into_iter().for_each(|row| self.take_row(row, turn.id, *message));
        }
        self.turns.insert(turn.id, turn.clone());
        let notice = new.route.as_ref().and_then(|key| self.touch_route(key, request.at));
        Ok(OpenedTurn { turn, messages: ids, interrupted, notice })
    }

    pub(super) fn resume_turn(&mut self, id: TurnId, request: &Request) -> Result<Turn, StoreError> {
        let turn = self.turns.get_mut(&id).ok_or(Conflict::TurnClosed(id))?;
        turn.attempts += 1;
        turn.fence = request.fence;
        let turn = turn.clone();
        self.note_owner(&turn.session);
        Ok(self.placed(&turn))
    }

    pub(super) fn close_turn(
        &mut self,
        id: TurnId,
        close: &TurnClose,
        messages: &[NewMessage],
        at: Timestamp,
    ) -> Result<Vec<MessageId>, StoreError> {
        let turn = self.turns.remove(&id).ok_or(Conflict::TurnClosed(id))?;
        let ids = self.append(&turn.session, messages, at)?;
        self.note_owner(&turn.session);
        if let Some(usage) = &close.usage {
            self.record_usage(&turn.session, usage)?;
        }
        if let (Some(key), Some(tokens)) = (&turn.route, close.prompt_tokens) {
            self.note_prompt_tokens(key, tokens);
        }
        self.queue(&close.outbound, Some((id, &turn.session)), at);
        self.settle_rows(id, at);
        Ok(ids)
    }

    /// Returns the open turns, each with the conversation that its session is part of now.
    pub(super) fn open_turns(&self) -> impl Iterator<Item = Turn> {
        self.turns.values().map(|turn| self.placed(turn))
    }

    /// Returns the open turn of a conversation.
    pub(super) fn turn_of(&self, conversation: &SessionId) -> Option<Turn> {
        self.open_turns().find(|turn| turn.conversation == *conversation)
    }

    fn placed(&self, turn: &Turn) -> Turn {
        Turn { conversation: self.links().conversation_root(&turn.session), ..turn.clone() }
    }

    /// Returns the session of an open turn.
    pub(super) fn session_of_turn(&self, id: TurnId) -> Result<SessionId, StoreError> {
        Ok(self.turns.get(&id).ok_or(Conflict::TurnClosed(id))?.session.clone())
    }

    /// Moves the open turn of a session that was split to its continuation.
    pub(super) fn carry_turn(&mut self, parent: &SessionId, child: &SessionId) {
        for turn in self.turns.values_mut().filter(|turn| turn.session == *parent) {
            turn.session = child.clone();
        }
    }

    pub(super) fn forget_turns(&mut self, gone: &BTreeSet<SessionId>) {
        self.turns.retain(|_, turn| !gone.contains(&turn.session));
    }
}
