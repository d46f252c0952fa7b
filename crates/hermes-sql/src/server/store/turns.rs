//! Turns, and undone messages.

/// Implements `TurnStore` for a store that has a `database`, as [`server_store!`](crate::server_store) says.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_turns {
    ($store:ty) => {
        const _: () = {
            use crate::database::Purpose;
            use crate::indexes::Written;
            use async_trait::async_trait;
            use hermes_session::live::{
                NewOutbound, NewTurn, OpenedTurn, RouteKey, Turn, TurnClose, TurnId, Undone, UndoneMessage,
            };
            use hermes_session::{MessageId, NewMessage, Request, SessionId, StoreError, TurnStore};
            use $crate::job;
            use $crate::server::{Words as _, turns, undo};

            #[async_trait]
            impl TurnStore for $store {
                async fn open_turn(&self, turn: &NewTurn, request: &Request) -> Result<OpenedTurn, StoreError> {
                    turn.check()?;
                    turn.route.as_ref().map_or(Ok(()), RouteKey::check)?;
                    let messages = turn.checked_messages()?;
                    let words: Vec<Written> = messages.iter().map(|message| Written::of(&message.body)).collect();
                    job!(&self.database, Purpose::write(&words), "open a turn", |transaction| turns::open(
                        transaction,
                        turn,
                        &messages,
                        &words,
                        request
                    ))
                }

                async fn resume_turn(&self, turn: TurnId, request: &Request) -> Result<Turn, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "resume a turn", |transaction| turns::resume(
                        transaction,
                        turn,
                        request
                    ))
                }

                async fn close_turn(
                    &self,
                    turn: TurnId,
                    close: &TurnClose,
                    request: &Request,
                ) -> Result<Vec<MessageId>, StoreError> {
                    NewOutbound::check_all(&close.outbound)?;
                    let messages = NewMessage::checked_all(&close.messages)?;
                    let words: Vec<Written> = messages.iter().map(|message| Written::of(&message.body)).collect();
                    job!(&self.database, Purpose::write(&words), "close a turn", |transaction| turns::close(
                        transaction,
                        turn,
                        close,
                        &messages,
                        &words,
                        request
                    ))
                }

                async fn open_turns(&self, after: Option<TurnId>, limit: u32) -> Result<Vec<Turn>, StoreError> {
                    job!(&self.database, Purpose::Read, "list open turns", |transaction| turns::list(
                        transaction,
                        after,
                        limit
                    ))
                }

                async fn undo(&self, id: &SessionId, from: MessageId, request: &Request) -> Result<Undone, StoreError> {
                    job!(&self.database, Purpose::write_much(&[]), "undo messages", |transaction| undo::undo(
                        transaction,
                        id,
                        from,
                        request
                    ))
                }

                async fn undone(&self, id: &SessionId) -> Result<Vec<UndoneMessage>, StoreError> {
                    job!(&self.database, Purpose::Read, "read undone messages", |transaction| undo::list(
                        transaction,
                        id
                    ))
                }
            }
        };
    };
}
