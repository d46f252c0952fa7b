//! The calls of the contract about the trash, for a provider of a server.

/// Implements them for a store that has a `database`, as [`server_store!`](crate::server_store) does the others.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_trash {
    ($store:ty) => {
        const _: () = {
            use crate::database::Purpose;
            use crate::indexes::Written;
            use async_trait::async_trait;
            use hermes_session::{
                Deleted, Emptying, Request, Restored, SessionId, StoreError, Timestamp, TrashStore, Trashed,
            };
            use $crate::job;
            use $crate::server::{Words as _, deletion, import, trash};

            #[async_trait]
            impl TrashStore for $store {
                async fn trash_chain(
                    &self,
                    id: &SessionId,
                    until: Timestamp,
                    request: &Request,
                ) -> Result<Deleted, StoreError> {
                    job!(&self.database, Purpose::write_much(&[]), "move a conversation to the trash", |transaction| {
                        deletion::trash_chain(transaction, id, until, request)
                    })
                }

                async fn trash(&self, older_than: Option<&Trashed>, limit: u32) -> Result<Vec<Trashed>, StoreError> {
                    job!(&self.database, Purpose::Read, "read the trash", |transaction| trash::list(
                        transaction,
                        older_than,
                        limit
                    ))
                }

                async fn trashed(&self, id: &SessionId) -> Result<Option<(Trashed, Vec<SessionId>)>, StoreError> {
                    job!(&self.database, Purpose::Read, "read the trash", |transaction| trash::find(transaction, id))
                }

                async fn restore(&self, id: &SessionId, request: &Request) -> Result<Restored, StoreError> {
                    const OP: &str = "restore a conversation";
                    let mut plan =
                        job!(&self.database, Purpose::Read, OP, |transaction| trash::plan(transaction, id, request))?;
                    // Messages come first: nobody sees them before their sessions are there.
                    while let Some(piece) =
                        job!(&self.database, Purpose::Read, OP, |transaction| trash::next_piece(transaction, &plan))?
                    {
                        let words: Vec<Written> =
                            piece.messages.iter().map(|message| Written::of(&message.body)).collect();
                        let outcomes =
                            job!(&self.database, Purpose::write_much(&words), OP, |transaction| import::take(
                                transaction,
                                std::slice::from_ref(&piece),
                                &words
                            ))?;
                        plan.took(&piece, &outcomes)?;
                    }
                    job!(&self.database, Purpose::write_much(&[]), OP, |transaction| trash::restore(
                        transaction,
                        id,
                        &plan,
                        request
                    ))
                }

                async fn empty_trash(&self, which: &Emptying) -> Result<Vec<Trashed>, StoreError> {
                    job!(&self.database, Purpose::write_much(&[]), "empty the trash", |transaction| trash::empty(
                        transaction,
                        which
                    ))
                }
            }
        };
    };
}
