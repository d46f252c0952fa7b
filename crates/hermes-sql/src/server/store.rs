//! The calls of the contract, for a provider of a server: each is one transaction.

mod gateway;
mod maintenance;

/// Implements the contract for a store that has a `database` and `notices`, in a crate that has a `database`, `indexes`, `search`, `backup` and the like:
/// each call is a job of the function that is called as it is.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_store {
    ($store:ty) => {
        $crate::server_gateway!($store);
        $crate::server_maintenance!($store);
        $crate::server_trash!($store);
        const _: () = {
            use crate::database::Purpose;
            use crate::indexes::Written;
            use crate::search;
            use async_trait::async_trait;
            use hermes_session::search::{SearchAnswer, SearchRequest, SearchStore};
            use hermes_session::{
                Counts, EndReason, Ensured, Lineage, ListRequest, Listing, Message, MessageId, MessageRequest,
                NewChild, NewMessage, NewSession, Request, Session, SessionFilter, SessionId, SessionPatch,
                SessionStore, StoreError, Title, Titled, UsageUpdate, checked_meta_key, checked_prefix,
            };
            use $crate::job;
            use $crate::server::{Words as _, lineage, listing, messages, meta, row, sessions, titles, usage};

            $crate::server_marks!($store);

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

                async fn set_title(
                    &self,
                    id: &SessionId,
                    title: Option<&Title>,
                    request: &Request,
                ) -> Result<(), StoreError> {
                    job!(&self.database, Purpose::write(&[]), "set a title", |transaction| titles::set(
                        transaction,
                        id,
                        title,
                        request
                    ))
                }

                async fn allocate_title(
                    &self,
                    id: &SessionId,
                    base: &Title,
                    request: &Request,
                ) -> Result<Title, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "allocate a title", |transaction| titles::allocate(
                        transaction,
                        id,
                        base,
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
                    job!(&self.database, Purpose::write(&words), "carry a session on", |transaction| lineage::split(
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

                async fn list(&self, request: &ListRequest) -> Result<Listing, StoreError> {
                    job!(&self.database, Purpose::Read, "list sessions", |transaction| listing::list(
                        transaction,
                        request
                    ))
                }

                async fn counts(&self, filter: &SessionFilter) -> Result<Counts, StoreError> {
                    job!(&self.database, Purpose::ReadAll, "count sessions", |transaction| listing::counts(
                        transaction,
                        filter
                    ))
                }

                async fn lineage(&self, id: &SessionId) -> Result<Lineage, StoreError> {
                    job!(&self.database, Purpose::Read, "read a lineage", |transaction| lineage::read(transaction, id))
                }

                async fn ids_with_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<SessionId>, StoreError> {
                    let prefix = checked_prefix(prefix)?;
                    job!(&self.database, Purpose::Read, "look up ids", |transaction| sessions::ids_with_prefix(
                        transaction,
                        &prefix,
                        limit
                    ))
                }

                async fn titled(&self, title: &str) -> Result<Vec<Titled>, StoreError> {
                    let title = $crate::stored::without_nul(title);
                    job!(&self.database, Purpose::Read, "look up titles", |transaction| titles::lineage_of(
                        transaction,
                        &title
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
                    job!(&self.database, Purpose::write(&[]), "keep a value", |transaction| meta::write(
                        transaction,
                        &key,
                        value
                    ))
                }
            }

            #[async_trait]
            impl SearchStore for $store {
                async fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, StoreError> {
                    job!(&self.database, Purpose::ReadBehind, "search messages", |transaction| search::search(
                        transaction,
                        request,
                        self.database.statement_timeout
                    ))
                }
            }
        };
    };
}
