//! Mail.

use super::super::ModelStore;
use async_trait::async_trait;
use hermes_session::live::{
    Account, Holder, Inbound, InboxId, InboxItem, NewOutbound, Outbound, OutboundId, Received, Settled,
};
use hermes_session::{MailStore, Request, StoreError, Timestamp};

#[async_trait]
impl MailStore for ModelStore {
    async fn receive(
        &self,
        _account: &Account,
        _batch: &[Inbound],
        _cursor: Option<&str>,
        _request: &Request,
    ) -> Result<Vec<Received>, StoreError> {
        todo!()
    }

    async fn cursor(&self, _account: &Account) -> Result<Option<String>, StoreError> {
        todo!()
    }

    async fn waiting(&self, _after: Option<InboxId>, _limit: u32) -> Result<Vec<InboxItem>, StoreError> {
        todo!()
    }

    async fn inbox_item(&self, _id: InboxId) -> Result<Option<InboxItem>, StoreError> {
        todo!()
    }

    async fn post(
        &self,
        _answered: &[InboxId],
        _replies: &[NewOutbound],
        _request: &Request,
    ) -> Result<Vec<OutboundId>, StoreError> {
        todo!()
    }

    async fn take_outbound(
        &self,
        _account: &Account,
        _who: &Holder,
        _limit: u32,
        _request: &Request,
    ) -> Result<Vec<Outbound>, StoreError> {
        todo!()
    }

    async fn settle_outbound(
        &self,
        _id: OutboundId,
        _attempt: u32,
        _how: &Settled,
        _request: &Request,
    ) -> Result<bool, StoreError> {
        todo!()
    }

    async fn outbound(&self, _after: Option<OutboundId>, _limit: u32) -> Result<Vec<Outbound>, StoreError> {
        todo!()
    }

    async fn forget_mail(&self, _before: Timestamp, _limit: u32) -> Result<u64, StoreError> {
        todo!()
    }
}
