//! Sessions and their messages.

/// Implements `SessionStore` for a store that has a `database`, as [`server_store!`](crate::server_store) says.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_sessions {
    ($store:ty) => {
        const _: () = {
            use crate::database::Purpose;
            use crate::indexes::Written;
            use async_trait::async_trait;
            use hermes_session::{
                EndReason, Ensured, Message, MessageId, MessageRequest, NewChild, NewMessage, NewSession, Request,
                Session, SessionId, SessionPatch, SessionStore, StoreError, Title, UsageUpdate, checked_meta_key,
                checked_prefix,
            };
            use $crate::job;
            use $crate::server::{Words as _, lineage, messages, meta, row, sessions, usage};

            #[async_trait]
            impl SessionStore for $store {
                async fn create(&self, session: &NewSession, request: &Request) -> Result<(), StoreError> {
                    let session = session.clone().checked()?;
                    job!(&self.database, Purpose::write(&[]), "create a session", |transaction| sessions::create(
                        transaction,
                        &session,
                        request
                    ))
                }

                async fn ensure(&self, session: &NewSession, request: &Request) -> Result<Ensured, StoreError> {
                    let session = session.clone().checked()?;
                    job!(&self.database, Purpose::write(&[]), "ensure a session", |transaction| sessions::ensure(
                        transaction,
                        &session,
                        request
                    ))
                }

                async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
                    job!(&self.database, Purpose::Read, "read a session", |transaction| row::session(transaction, id))
                }

                async fn sessions(&self, ids: &[SessionId]) -> Result<Vec<Session>, StoreError> {
                    job!(&self.database, Purpose::Read, "read sessions", |transaction| row::sessions(transaction, ids))
                }

                async fn ids_with_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<SessionId>, StoreError> {
                    let prefix = checked_prefix(prefix)?;
                    job!(&self.database, Purpose::Read, "look up ids", |transaction| sessions::ids_with_prefix(
                        transaction,
                        &prefix,
                        limit
                    ))
                }

                async fn update(
                    &self,
                    id: &SessionId,
                    patch: &SessionPatch,
                    request: &Request,
                ) -> Result<(), StoreError> {
                    let patch = patch.clone().checked()?;
                    job!(&self.database, Purpose::write(&[]), "change a session", |transaction| sessions::update(
                        transaction,
                        id,
                        &patch,
                        request
                    ))
                }

                async fn end(&self, id: &SessionId, reason: &EndReason, request: &Request) -> Result<bool, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "end a session", |transaction| sessions::end(
                        transaction,
                        id,
                        reason,
                        request
                    ))
                }

                async fn reopen(&self, id: &SessionId, request: &Request) -> Result<bool, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "reopen a session", |transaction| sessions::reopen(
                        transaction,
                        id,
                        request
                    ))
                }

                async fn split(
                    &self,
                    parent: &SessionId,
                    child: &NewChild,
                    messages: &[NewMessage],
                    request: &Request,
                ) -> Result<Option<Title>, StoreError> {
                    let messages = NewMessage::checked_all(messages)?;
                    let words: Vec<Written> = messages.iter().map(|message| Written::of(&message.body)).collect();
                    job!(&self.database, Purpose::write(&words), "continue a session", |transaction| lineage::split(
                        transaction,
                        parent,
                        child,
                        &messages,
                        &words,
                        request
                    ))
                }

                async fn branch(
                    &self,
                    parent: &SessionId,
                    child: &NewChild,
                    request: &Request,
                ) -> Result<Option<Title>, StoreError> {
                    job!(&self.database, Purpose::write_much(&[]), "branch a session", |transaction| lineage::branch(
                        transaction,
                        parent,
                        child,
                        request
                    ))
                }

                async fn append(
                    &self,
                    id: &SessionId,
                    messages: &[NewMessage],
                    request: &Request,
                ) -> Result<Vec<MessageId>, StoreError> {
                    let messages = NewMessage::checked_all(messages)?;
                    let words: Vec<Written> = messages.iter().map(|message| Written::of(&message.body)).collect();
                    job!(&self.database, Purpose::write(&words), "append messages", |transaction| messages::append(
                        transaction,
                        id,
                        &messages,
                        &words,
                        request
                    ))
                }

                async fn replace(
                    &self,
                    id: &SessionId,
                    messages: &[NewMessage],
                    request: &Request,
                ) -> Result<Vec<MessageId>, StoreError> {
                    let messages = NewMessage::checked_all(messages)?;
                    let words: Vec<Written> = messages.iter().map(|message| Written::of(&message.body)).collect();
                    job!(&self.database, Purpose::write(&words), "replace messages", |transaction| messages::replace(
                        transaction,
                        id,
                        &messages,
                        &words,
                        request
                    ))
                }

                async fn messages(&self, id: &SessionId, request: &MessageRequest) -> Result<Vec<Message>, StoreError> {
                    job!(&self.database, Purpose::Read, "read messages", |transaction| messages::read(
                        transaction,
                        id,
                        request
                    ))
                }

                async fn around(&self, places: &[(SessionId, MessageId)]) -> Result<Vec<Vec<Message>>, StoreError> {
                    job!(&self.database, Purpose::Read, "read messages", |transaction| messages::around(
                        transaction,
                        places
                    ))
                }

                async fn record_usage(
                    &self,
                    id: &SessionId,
                    update: &UsageUpdate,
                    request: &Request,
                ) -> Result<(), StoreError> {
                    job!(&self.database, Purpose::write(&[]), "record usage", |transaction| usage::record(
                        transaction,
                        id,
                        update,
                        request
                    ))
                }

                async fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
                    if key.contains('\0') {
                        return Ok(None);
                    }
                    job!(&self.database, Purpose::Read, "read a value", |transaction| meta::read(transaction, key))
                }

                async fn set_meta(&self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
                    let key = checked_meta_key(key)?;
                    job!(&self.database, Purpose::write(&[]), "store a value", |transaction| meta::write(
                        transaction,
                        &key,
                        value
                    ))
                }

                async fn swap_meta(
                    &self,
                    key: &str,
                    expected: Option<&str>,
                    value: Option<&str>,
                ) -> Result<bool, StoreError> {
                    let key = checked_meta_key(key)?;
                    job!(&self.database, Purpose::write(&[]), "swap a value", |transaction| meta::swap(
                        transaction,
                        &key,
                        expected,
                        value
                    ))
                }
            }
        };
    };
}
