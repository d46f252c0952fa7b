//! Mail.

use super::super::ModelStore;
use async_trait::async_trait;
use hermes_session::live::mail::check_cursor;
use hermes_session::live::{
    Account, Holder, Inbound, InboxId, InboxItem, InboxState, NewOutbound, Outbound, OutboundId, Received, Settled,
};
use hermes_session::{MailStore, Request, StoreError, Timestamp};

#[async_trait]
impl MailStore for ModelStore {
    async fn receive(
        &self,
        account: &Account,
        batch: &[Inbound],
        cursor: Option<&str>,
        request: &Request,
    ) -> Result<Vec<Received>, StoreError> {
        batch.iter().try_for_each(Inbound::check)?;
        check_cursor(cursor)?;
        self.state().receive(account, batch, cursor, request.at)
    }

    async fn cursor(&self, account: &Account) -> Result<Option<String>, StoreError> {
        Ok(self.state().cursors.get(account).cloned())
    }

    async fn waiting(&self, after: Option<InboxId>, limit: u32) -> Result<Vec<InboxItem>, StoreError> {
        let state = self.state();
        let later = state.inbox.values().filter(|item| after.is_none_or(|after| item.id > after));
        let waiting = later.filter(|item| item.state == InboxState::Waiting);
        Ok(waiting.take(limit as usize).cloned().collect())
    }

    async fn inbox_item(&self, id: InboxId) -> Result<Option<InboxItem>, StoreError> {
        Ok(self.state().inbox.get(&id).cloned())
    }

    async fn post(
        &self,
        answered: &[InboxId],
        replies: &[NewOutbound],
        request: &Request,
    ) -> Result<Vec<OutboundId>, StoreError> {
        NewOutbound::check_all(replies)?;
        self.state().post(answered, replies, request.at)
    }

    async fn take_outbound(
        &self,
        account: &Account,
        who: &Holder,
        limit: u32,
        request: &Request,
    ) -> Result<Vec<Outbound>, StoreError> {
        who.check()?;
        Ok(self.state().take_outbound(account, &who.key(), limit, request.at))
    }

    async fn settle_outbound(
        &self,
        id: OutboundId,
        attempt: u32,
        how: &Settled,
        request: &Request,
    ) -> Result<bool, StoreError> {
        how.check()?;
        Ok(self.state().settle_outbound(id, attempt, how, request.at))
    }

    async fn outbound(&self, after: Option<OutboundId>, limit: u32) -> Result<Vec<Outbound>, StoreError> {
        let state = self.state();
        let later = state.outbox.values().filter(|part| after.is_none_or(|after| part.id > after));
        Ok(later.take(limit as usize).cloned().collect())
    }

    async fn forget_mail(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        Ok(self.state().forget_mail(before, limit))
    }
}
