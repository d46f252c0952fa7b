//! Turns, and undone messages.

use super::{SHORT, SqliteStore};
use crate::calls::{turns, undo};
use crate::care::fresh;
use crate::care::fresh::Decides;
use crate::write::database::Database;
use async_trait::async_trait;
use hermes_session::live::{
    NewOutbound, NewTurn, OpenedTurn, RouteKey, Turn, TurnClose, TurnId, Undone, UndoneMessage,
};
use hermes_session::{MessageId, NewMessage, Request, SessionId, StoreError, TurnStore};

#[async_trait]
impl TurnStore for SqliteStore {
    async fn open_turn(&self, turn: &NewTurn, request: &Request) -> Result<OpenedTurn, StoreError> {
        turn.check()?;
        turn.route.as_ref().map_or(Ok(()), RouteKey::check)?;
        let (turn, said, request) = (turn.clone(), turn.checked_messages()?, request.clone());
        let work = move |database: &Database| turns::open(database, &turn, &said, &request);
        self.workers.write("open a turn", work).await
    }

    async fn resume_turn(&self, turn: TurnId, request: &Request) -> Result<Turn, StoreError> {
        let request = request.clone();
        self.workers.write("resume a turn", move |database| turns::resume(database, turn, &request)).await
    }

    async fn close_turn(
        &self,
        turn: TurnId,
        close: &TurnClose,
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError> {
        NewOutbound::check_all(&close.outbound)?;
        let (last, close, request) = (NewMessage::checked_all(&close.messages)?, close.clone(), request.clone());
        let work = move |database: &Database| turns::close(database, turn, &close, &last, &request);
        self.workers.write("close a turn", work).await
    }

    async fn open_turns(&self, after: Option<TurnId>, limit: u32) -> Result<Vec<Turn>, StoreError> {
        let work = move |database: &Database| {
            fresh::read(database, Decides::ByPlace, |database| turns::list(database, after, limit))
        };
        if limit <= SHORT {
            self.workers.read_short("read open turns", work).await
        } else {
            self.workers.read("read open turns", work).await
        }
    }

    async fn undo(&self, id: &SessionId, from: MessageId, request: &Request) -> Result<Undone, StoreError> {
        let (id, request) = (id.clone(), request.clone());
        self.workers.write("undo messages", move |database| undo::undo(database, &id, from, &request)).await
    }

    async fn undone(&self, id: &SessionId) -> Result<Vec<UndoneMessage>, StoreError> {
        let id = id.clone();
        self.workers.read("read undone messages", move |database| undo::list(database, &id)).await
    }
}
