//! The calls of the contract, for a provider of a server: each is one transaction.

/// Implements the contract for a store that has a `database` and `notices`, in a crate that has a `database`, `indexes`, `search`, `backup` and the like:
/// each call is a job of the function that is called as it is.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_store {
    ($store:ty) => {
        $crate::server_trash!($store);
        const _: () = {
            use crate::database::Purpose;
            use crate::indexes::Written;
            use crate::{backup, foreign, search};
            use async_trait::async_trait;
            use hermes_session::gateway::{Claim, GatewayStore, Handoff, HandoffEnd};
            use hermes_session::import::{ImportPiece, Imported, checked_link};
            use hermes_session::retention::{Pruned, RetentionPolicy};
            use hermes_session::search::{SearchAnswer, SearchRequest, SearchStore};
            use hermes_session::{
                BackupReport, Counts, Deleted, EndReason, Ensured, Foreign, Insights, InsightsRequest, Lineage,
                ListRequest, Listing, Maintenance, Message, MessageId, MessageRequest, NewChild, NewMessage,
                NewSession, Optimizing, Relation, Report, Request, Room, Session, SessionFilter, SessionId,
                SessionPatch, SessionStore, Statistics, StoreError, StoreStatus, Timestamp, Title, Titled,
                TopicBinding, TopicChange, TopicMode, Topics, TopicsImported, UsageUpdate, checked_meta_key,
                checked_prefix,
            };
            use std::path::Path;
            use $crate::job;
            use $crate::server::{
                Words as _, deletion, handoffs, import, insights, lineage, listing, maintenance, messages, meta, row,
                sessions, statistics, titles, topics, usage, verify,
            };

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

            #[async_trait]
            impl GatewayStore for $store {
                async fn request_handoff(
                    &self,
                    id: &SessionId,
                    platform: &str,
                    request: &Request,
                ) -> Result<bool, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "ask for a handoff", |transaction| handoffs::request(
                        transaction,
                        id,
                        platform,
                        request
                    ))
                }

                async fn claim_handoff(
                    &self,
                    id: &SessionId,
                    lease: std::time::Duration,
                    request: &Request,
                ) -> Result<Option<Claim>, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "take a handoff", |transaction| handoffs::claim(
                        transaction,
                        id,
                        lease,
                        request
                    ))
                }

                async fn end_handoff(
                    &self,
                    id: &SessionId,
                    claim: Option<Claim>,
                    end: &HandoffEnd,
                    request: &Request,
                ) -> Result<bool, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "end a handoff", |transaction| handoffs::end(
                        transaction,
                        id,
                        claim,
                        end,
                        request
                    ))
                }

                async fn handoff(&self, id: &SessionId) -> Result<Option<Handoff>, StoreError> {
                    job!(&self.database, Purpose::Read, "read a handoff", |transaction| handoffs::read(transaction, id))
                }

                async fn waiting_handoffs(&self, now: Timestamp) -> Result<Vec<Handoff>, StoreError> {
                    job!(&self.database, Purpose::Read, "look for handoffs", |transaction| handoffs::waiting(
                        transaction,
                        now
                    ))
                }

                async fn change_topics(&self, change: &TopicChange, at: Timestamp) -> Result<(), StoreError> {
                    change.check()?;
                    job!(&self.database, Purpose::write(&[]), "change topics", |transaction| topics::change(
                        transaction,
                        change,
                        at
                    ))
                }

                async fn topic_mode(&self, chat_id: &str) -> Result<Option<TopicMode>, StoreError> {
                    if chat_id.contains('\0') {
                        return Ok(None);
                    }
                    job!(&self.database, Purpose::Read, "read topics", |transaction| topics::mode_of(
                        transaction,
                        chat_id
                    ))
                }

                async fn topic(&self, chat_id: &str, thread_id: &str) -> Result<Option<TopicBinding>, StoreError> {
                    if chat_id.contains('\0') || thread_id.contains('\0') {
                        return Ok(None);
                    }
                    job!(&self.database, Purpose::Read, "read topics", |transaction| topics::binding_at(
                        transaction,
                        chat_id,
                        thread_id
                    ))
                }

                async fn topic_of(&self, session: &SessionId) -> Result<Option<TopicBinding>, StoreError> {
                    job!(&self.database, Purpose::Read, "read topics", |transaction| topics::binding_of(
                        transaction,
                        session
                    ))
                }
            }

            #[async_trait]
            impl Maintenance for $store {
                async fn delete_conversation(&self, id: &SessionId, request: &Request) -> Result<Deleted, StoreError> {
                    job!(&self.database, Purpose::write_much(&[]), "delete a conversation", |transaction| {
                        deletion::delete_conversation(transaction, id, request)
                    })
                }

                async fn delete_chain(&self, id: &SessionId, request: &Request) -> Result<Deleted, StoreError> {
                    job!(&self.database, Purpose::write_much(&[]), "delete a session", |transaction| {
                        deletion::delete_chain(transaction, id, request)
                    })
                }

                async fn prune(
                    &self,
                    conversations: &[SessionId],
                    policy: &RetentionPolicy,
                    now: Timestamp,
                ) -> Result<Pruned, StoreError> {
                    job!(
                        &self.database,
                        Purpose::write_much(&[]),
                        "prune conversations",
                        |transaction| deletion::prune(transaction, conversations, policy, now)
                    )
                }

                async fn import(&self, pieces: &[ImportPiece]) -> Result<Vec<Imported>, StoreError> {
                    let messages = pieces.iter().flat_map(|piece| &piece.messages);
                    let words: Vec<Written> = messages.map(|message| Written::of(&message.body)).collect();
                    job!(&self.database, Purpose::write_much(&words), "import sessions", |transaction| import::take(
                        transaction,
                        pieces,
                        &words
                    ))
                }

                async fn link(
                    &self,
                    child: &SessionId,
                    parent: &SessionId,
                    relation: Relation,
                ) -> Result<bool, StoreError> {
                    let (child, parent) = checked_link(child, parent, relation)?;
                    job!(&self.database, Purpose::write_much(&[]), "link sessions", |transaction| import::link(
                        transaction,
                        &child,
                        &parent,
                        relation
                    ))
                }

                async fn recount(&self, id: &SessionId) -> Result<bool, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "count messages anew", |transaction| messages::recount(
                        transaction,
                        id
                    ))
                }

                async fn meta_page(
                    &self,
                    after: Option<&str>,
                    limit: u32,
                ) -> Result<Vec<(String, String)>, StoreError> {
                    job!(&self.database, Purpose::Read, "read values", |transaction| meta::page(
                        transaction,
                        after,
                        limit
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

                async fn topics(&self) -> Result<Topics, StoreError> {
                    job!(&self.database, Purpose::Read, "read topics", |transaction| topics::read(transaction))
                }

                async fn import_topics(&self, topics: &Topics) -> Result<TopicsImported, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "import topics", |transaction| topics::import(
                        transaction,
                        topics
                    ))
                }

                async fn foreign(&self) -> Result<Vec<Foreign>, StoreError> {
                    job!(&self.database, Purpose::Read, "look for what is foreign", |transaction| foreign::read(
                        transaction
                    ))
                }

                async fn upkeep(&self) -> Result<bool, StoreError> {
                    Ok(self.optimize().await? != Optimizing::Done)
                }

                async fn optimize(&self) -> Result<Optimizing, StoreError> {
                    const OP: &str = "read messages again";
                    let next = job!(&self.database, Purpose::Read, OP, |transaction| maintenance::next(transaction))?;
                    let Some(next) = next else { return Ok(Optimizing::Done) };
                    job!(&self.database, Purpose::write_much(&next.words), OP, |transaction| maintenance::rebuild_step(
                        transaction,
                        &next
                    ))
                }

                async fn rebuild_indexes(&self) -> Result<(), StoreError> {
                    job!(
                        &self.database,
                        Purpose::write(&[]),
                        "begin to index anew",
                        |transaction| maintenance::rebuild(transaction)
                    )
                }

                async fn verify(&self) -> Result<Report, StoreError> {
                    job!(&self.database, Purpose::ReadAll, "look through the store", |transaction| verify::verify(
                        transaction
                    ))
                }

                async fn backup(&self, target: &Path) -> Result<BackupReport, StoreError> {
                    backup::write(self, target).await
                }

                fn notices(&self) -> Vec<String> {
                    self.notices.clone()
                }

                async fn statistics(&self) -> Result<Statistics, StoreError> {
                    job!(&self.database, Purpose::ReadBehind, "count what there is", |transaction| {
                        statistics::statistics(transaction)
                    })
                }

                async fn insights(&self, request: &InsightsRequest) -> Result<Insights, StoreError> {
                    job!(&self.database, Purpose::ReadBehind, "tell how it was used", |transaction| {
                        insights::insights(transaction, request)
                    })
                }

                async fn room(&self) -> Result<Room, StoreError> {
                    job!(&self.database, Purpose::ReadBehind, "measure the store", |transaction| {
                        crate::statistics::room(transaction)
                    })
                }

                async fn status(&self) -> Result<StoreStatus, StoreError> {
                    job!(&self.database, Purpose::Read, "look at the store", |transaction| crate::maintenance::status(
                        transaction,
                        &self.database
                    ))
                }
            }
        };
    };
}
