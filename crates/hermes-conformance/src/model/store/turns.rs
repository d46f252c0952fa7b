//! Turns, and undone messages.

use super::super::{Life, ModelStore, life_of};
use async_trait::async_trait;
use hermes_session::live::{
    NewOutbound, NewTurn, OpenedTurn, RouteKey, Turn, TurnClose, TurnId, Undone, UndoneMessage,
};
use hermes_session::{MessageId, NewMessage, Request, SessionId, StoreError, TurnStore, change};
use std::cell::OnceCell;

#[async_trait]
impl TurnStore for ModelStore {
    async fn open_turn(&self, turn: &NewTurn, request: &Request) -> Result<OpenedTurn, StoreError> {
        turn.check()?;
        turn.route.as_ref().map_or(Ok(()), RouteKey::check)?;
        let messages = turn.checked_messages()?;
        self.once_for(
            request,
            change::open_turn(turn),
            |_| Ok(turn.session.clone()),
            |state| state.open_turn(turn, &messages, request),
            |opened| life_of(&turn.session, &opened.messages),
        )
    }

    async fn resume_turn(&self, turn: TurnId, request: &Request) -> Result<Turn, StoreError> {
        self.once_for(
            request,
            change::resume_turn(turn),
            |state| state.session_of_turn(turn),
            |state| state.resume_turn(turn, request),
            |resumed| Life::Session(resumed.session.clone()),
        )
    }

    async fn close_turn(
        &self,
        turn: TurnId,
        close: &TurnClose,
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError> {
        NewOutbound::check_all(&close.outbound)?;
        let messages = NewMessage::checked_all(&close.messages)?;
        let session = OnceCell::new();
        self.once_for(
            request,
            change::close_turn(turn, close),
            |state| {
                let whose = state.session_of_turn(turn)?;
                Ok(session.get_or_init(|| whose).clone())
            },
            |state| state.close_turn(turn, close, &messages, request.at),
            |ids| life_of(session.get().expect("it was looked up before the change"), ids),
        )
    }

    async fn open_turns(&self, after: Option<TurnId>, limit: u32) -> Result<Vec<Turn>, StoreError> {
        let state = self.state();
        let later = state.open_turns().filter(|turn| after.is_none_or(|after| turn.id > after));
        Ok(later.take(limit as usize).collect())
    }

    async fn undo(&self, id: &SessionId, from: MessageId, request: &Request) -> Result<Undone, StoreError> {
        self.once(request, change::undo(id, from), id, |state| state.undo(id, from, request.at))
    }

    async fn undone(&self, id: &SessionId) -> Result<Vec<UndoneMessage>, StoreError> {
        self.state().undone(id)
    }
}
