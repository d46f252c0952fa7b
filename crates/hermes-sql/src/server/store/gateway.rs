//! Handoffs and topics.

/// Implements `GatewayStore` for a store that has a `database`, as [`server_store!`](crate::server_store) says.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_gateway {
    ($store:ty) => {
        const _: () = {
            use crate::database::Purpose;
            use async_trait::async_trait;
            use hermes_session::gateway::{Claim, Claimed, Handoff, HandoffEnd, HandoffProgress, HandoffRequest};
            use hermes_session::live::Holder;
            use hermes_session::live::lease::check_ttl;
            use hermes_session::{
                GatewayStore, Request, SessionId, StoreError, Timestamp, TopicBinding, TopicChange, TopicMode, Topics,
                TopicsImported, change,
            };
            use $crate::job;
            use $crate::server::{handoffs, topics};

            #[async_trait]
            impl GatewayStore for $store {
                async fn request_handoff(
                    &self,
                    id: &SessionId,
                    what: &HandoffRequest,
                    request: &Request,
                ) -> Result<bool, StoreError> {
                    what.check()?;
                    job!(&self.database, Purpose::write(&[]), "request a handoff", |transaction| handoffs::request(
                        transaction,
                        id,
                        what,
                        request
                    ))
                }

                async fn claim_handoff(
                    &self,
                    id: &SessionId,
                    lease: std::time::Duration,
                    who: Option<&Holder>,
                    request: &Request,
                ) -> Result<Option<Claimed>, StoreError> {
                    if let Some(who) = who {
                        who.check()?;
                        check_ttl(lease)?;
                    }
                    job!(&self.database, Purpose::write(&[]), "claim a handoff", |transaction| handoffs::claim(
                        transaction,
                        id,
                        lease,
                        who,
                        request
                    ))
                }

                async fn advance_handoff(
                    &self,
                    id: &SessionId,
                    claim: Claim,
                    progress: &HandoffProgress,
                    request: &Request,
                ) -> Result<bool, StoreError> {
                    progress.check()?;
                    job!(&self.database, Purpose::write(&[]), "continue a handoff", |transaction| handoffs::advance(
                        transaction,
                        id,
                        claim,
                        progress,
                        request
                    ))
                }

                async fn expire_handoffs(&self, now: Timestamp) -> Result<Vec<SessionId>, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "end handoffs that expired", |transaction| {
                        handoffs::expire(transaction, now)
                    })
                }

                async fn end_handoff(
                    &self,
                    id: &SessionId,
                    claim: Option<Claim>,
                    end: &HandoffEnd,
                    request: &Request,
                ) -> Result<bool, StoreError> {
                    let end = end.clone().checked()?;
                    job!(&self.database, Purpose::write(&[]), "finish a handoff", |transaction| handoffs::end(
                        transaction,
                        id,
                        claim,
                        &end,
                        request
                    ))
                }

                async fn handoff(&self, id: &SessionId) -> Result<Option<Handoff>, StoreError> {
                    job!(&self.database, Purpose::Read, "read a handoff", |transaction| handoffs::read(transaction, id))
                }

                async fn waiting_handoffs(&self, now: Timestamp) -> Result<Vec<Handoff>, StoreError> {
                    job!(&self.database, Purpose::Read, "list handoffs", |transaction| handoffs::waiting(
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

                async fn topics(&self) -> Result<Topics, StoreError> {
                    job!(&self.database, Purpose::Read, "read topics", |transaction| topics::read(transaction))
                }

                async fn import_topics(&self, topics: &Topics) -> Result<TopicsImported, StoreError> {
                    job!(&self.database, Purpose::write(&[]), "import topics", |transaction| topics::import(
                        transaction,
                        topics
                    ))
                }
            }
        };
    };
}
