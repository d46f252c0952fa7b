//! Mail.

/// Implements `MailStore` for a store that has a `database`, as [`server_store!`](crate::server_store) says.
#[macro_export]
#[allow(clippy::crate_in_macro_def, reason = "the modules are those of the provider")]
macro_rules! server_mail {
    ($store:ty) => {
        const _: () = {
            use crate::database::Purpose;
            use async_trait::async_trait;
            use hermes_session::live::mail::check_cursor;
            use hermes_session::live::{
                Account, Holder, Inbound, InboxId, InboxItem, NewOutbound, Outbound, OutboundId, Received, Settled,
            };
            use hermes_session::{MailStore, Request, StoreError, Timestamp};
            use $crate::job;
            use $crate::server::mail;

            #[async_trait]
            impl MailStore for $store {
                async fn receive(
                    &self,
                    account: &Account,
                    batch: &[Inbound],
                    cursor: Option<&str>,
                    request: &Request,
                ) -> Result<Vec<Received>, StoreError> {
                    batch.iter().try_for_each(Inbound::check)?;
                    check_cursor(cursor)?;
                    job!(&self.database, Purpose::write(&[]), "receive messages", |transaction| mail::receive(
                        transaction,
                        account,
                        batch,
                        cursor,
                        request.at
                    ))
                }

                async fn cursor(&self, account: &Account) -> Result<Option<String>, StoreError> {
                    job!(&self.database, Purpose::Read, "read a cursor", |transaction| mail::cursor(
                        transaction,
                        account
                    ))
                }

                async fn waiting(&self, after: Option<InboxId>, limit: u32) -> Result<Vec<InboxItem>, StoreError> {
                    job!(&self.database, Purpose::Read, "list received messages", |transaction| mail::waiting(
                        transaction,
                        after,
                        limit
                    ))
                }

                async fn inbox_item(&self, id: InboxId) -> Result<Option<InboxItem>, StoreError> {
                    job!(&self.database, Purpose::Read, "read a received message", |transaction| mail::read(
                        transaction,
                        id
                    ))
                }

                async fn post(
                    &self,
                    answered: &[InboxId],
                    replies: &[NewOutbound],
                    request: &Request,
                ) -> Result<Vec<OutboundId>, StoreError> {
                    NewOutbound::check_all(replies)?;
                    job!(&self.database, Purpose::write(&[]), "queue replies", |transaction| mail::post(
                        transaction,
                        answered,
                        replies,
                        request.at
                    ))
                }

                async fn take_outbound(
                    &self,
                    account: &Account,
                    who: &Holder,
                    limit: u32,
                    request: &Request,
                ) -> Result<Vec<Outbound>, StoreError> {
                    who.check()?;
                    let holder = who.key();
                    job!(&self.database, Purpose::write(&[]), "take replies", |transaction| mail::take(
                        transaction,
                        account,
                        &holder,
                        limit,
                        request.at
                    ))
                }

                async fn settle_outbound(
                    &self,
                    id: OutboundId,
                    attempt: u32,
                    how: &Settled,
                    request: &Request,
                ) -> Result<bool, StoreError> {
                    how.check()?;
                    job!(&self.database, Purpose::write(&[]), "settle a reply", |transaction| mail::settle(
                        transaction,
                        id,
                        attempt,
                        how,
                        request.at
                    ))
                }

                async fn outbound(&self, after: Option<OutboundId>, limit: u32) -> Result<Vec<Outbound>, StoreError> {
                    job!(&self.database, Purpose::Read, "list replies", |transaction| mail::outbound(
                        transaction,
                        after,
                        limit
                    ))
                }

                async fn forget_mail(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
                    job!(&self.database, Purpose::write_much(&[]), "forget old mail", |transaction| mail::forget(
                        transaction,
                        before,
                        limit
                    ))
                }
            }
        };
    };
}
