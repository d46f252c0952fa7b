//! Conversations: lists, titles, pins and tags, deletion, trash, search.

/// Implements `ConversationStore` for a store that has a `database`, as [`server_store!`](crate::server_store) says.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_conversations {
    ($store:ty) => {
        const _: () = {
            use crate::database::Purpose;
            use crate::indexes::Written;
            use crate::search;
            use async_trait::async_trait;
            use hermes_session::search::{SearchAnswer, SearchRequest};
            use hermes_session::{
                ConversationStore, Counts, DeleteExtent, Deleted, Emptying, Lineage, ListRequest, Listing, Request,
                Restored, SessionFilter, SessionId, StoreError, Tag, Timestamp, Title, Titled, Trashed,
            };
            use $crate::job;
            use $crate::server::{
                Words as _, archive, deletion, import, lineage, listing, pins_and_tags, titles, trash,
            };

            #[async_trait]
            impl ConversationStore for $store {
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

                async fn titled(&self, title: &str) -> Result<Vec<Titled>, StoreError> {
                    let title = $crate::stored::without_nul(title);
                    job!(&self.database, Purpose::Read, "look up titles", |transaction| titles::lineage_of(
                        transaction,
                        &title
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

                async fn entitle(
                    &self,
                    id: &SessionId,
                    base: &Title,
                    request: &Request,
                ) -> Result<Option<Title>, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "title a session", |transaction| titles::entitle(
                        transaction,
                        id,
                        base,
                        request
                    ))
                }

                async fn set_pinned(
                    &self,
                    id: &SessionId,
                    is_pinned: bool,
                    request: &Request,
                ) -> Result<bool, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "pin a conversation", |transaction| {
                        pins_and_tags::set_pinned(transaction, id, is_pinned, request)
                    })
                }

                async fn set_archived(
                    &self,
                    id: &SessionId,
                    is_archived: bool,
                    request: &Request,
                ) -> Result<bool, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "archive a conversation", |transaction| {
                        archive::set(transaction, id, is_archived, request)
                    })
                }

                async fn change_tags(
                    &self,
                    id: &SessionId,
                    add: &[Tag],
                    remove: &[Tag],
                    request: &Request,
                ) -> Result<Vec<Tag>, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "tag a conversation", |transaction| {
                        pins_and_tags::change_tags(transaction, id, add, remove, request)
                    })
                }

                async fn tags(&self) -> Result<Vec<(Tag, u64)>, StoreError> {
                    job!(&self.database, Purpose::Read, "read tags", |transaction| pins_and_tags::tags(transaction))
                }

                async fn delete(
                    &self,
                    id: &SessionId,
                    extent: DeleteExtent,
                    request: &Request,
                ) -> Result<Deleted, StoreError> {
                    job!(&self.database, Purpose::write_much(&[]), "delete a conversation", |transaction| {
                        deletion::delete(transaction, id, extent, request)
                    })
                }

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
                    // Messages come first and are invisible until their sessions exist.
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
