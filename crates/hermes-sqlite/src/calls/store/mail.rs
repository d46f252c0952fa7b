//! Mail.

use super::{SHORT, SqliteStore};
use crate::calls::mail;
use crate::write::database::Database;
use async_trait::async_trait;
use hermes_session::live::mail::check_cursor;
use hermes_session::live::{
    Account, Holder, Inbound, InboxId, InboxItem, NewOutbound, Outbound, OutboundId, Received, Settled,
};
use hermes_session::{MailStore, Request, StoreError, Timestamp};

#[async_trait]
impl MailStore for SqliteStore {
    async fn receive(
        &self,
        account: &Account,
        batch: &[Inbound],
        cursor: Option<&str>,
        request: &Request,
    ) -> Result<Vec<Received>, StoreError> {
        batch.iter().try_for_each(Inbound::check)?;
        check_cursor(cursor)?;
        let (account, batch, cursor, now) = (account.clone(), batch.to_vec(), cursor.map(str::to_owned), request.at);
        let work = move |database: &Database| mail::receive(database, &account, &batch, cursor.as_deref(), now);
        self.workers.write("receive messages", work).await
    }

    async fn cursor(&self, account: &Account) -> Result<Option<String>, StoreError> {
        let account = account.clone();
        self.workers.read_short("read a cursor", move |database| mail::cursor(database, &account)).await
    }

    async fn waiting(&self, after: Option<InboxId>, limit: u32) -> Result<Vec<InboxItem>, StoreError> {
        let work = move |database: &Database| mail::waiting(database, after, limit);
        if limit <= SHORT {
            self.workers.read_short("read the inbox", work).await
        } else {
            self.workers.read("read the inbox", work).await
        }
    }

    async fn inbox_item(&self, id: InboxId) -> Result<Option<InboxItem>, StoreError> {
        self.workers.read_short("read the inbox", move |database| mail::item(database, id)).await
    }

    async fn post(
        &self,
        answered: &[InboxId],
        replies: &[NewOutbound],
        request: &Request,
    ) -> Result<Vec<OutboundId>, StoreError> {
        NewOutbound::check_all(replies)?;
        let (answered, replies, now) = (answered.to_vec(), replies.to_vec(), request.at);
        let work = move |database: &Database| mail::post(database, &answered, &replies, now);
        self.workers.write("queue replies", work).await
    }

    async fn take_outbound(
        &self,
        account: &Account,
        who: &Holder,
        limit: u32,
        request: &Request,
    ) -> Result<Vec<Outbound>, StoreError> {
        who.check()?;
        let (account, holder, now) = (account.clone(), who.key(), request.at);
        let work = move |database: &Database| mail::take_outbound(database, &account, &holder, limit, now);
        self.workers.write("take replies", work).await
    }

    async fn settle_outbound(
        &self,
        id: OutboundId,
        attempt: u32,
        how: &Settled,
        request: &Request,
    ) -> Result<bool, StoreError> {
        how.check()?;
        let (how, now) = (how.clone(), request.at);
        self.workers.write("settle a reply", move |database| mail::settle(database, id, attempt, &how, now)).await
    }

    async fn outbound(&self, after: Option<OutboundId>, limit: u32) -> Result<Vec<Outbound>, StoreError> {
        let work = move |database: &Database| mail::outbound(database, after, limit);
        if limit <= SHORT {
            self.workers.read_short("read the outbox", work).await
        } else {
            self.workers.read("read the outbox", work).await
        }
    }

    async fn forget_mail(&self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        self.workers.write("delete old mail", move |database| mail::forget(database, before, limit)).await
    }
}
