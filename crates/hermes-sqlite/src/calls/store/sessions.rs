//! Sessions and their messages: each call is one job on one of the threads.

use super::{SHORT, SqliteStore};
use crate::calls::{lineage, messages, meta, row, sessions, usage};
use crate::error::Failure;
use crate::write::database::Database;
use async_trait::async_trait;
use hermes_session::{
    EndReason, Ensured, Message, MessageId, MessageRequest, NewChild, NewMessage, NewSession, Request, Session,
    SessionId, SessionPatch, SessionStore, StoreError, Title, UsageUpdate, checked_meta_key, checked_prefix,
};

#[async_trait]
impl SessionStore for SqliteStore {
    async fn create(&self, session: &NewSession, request: &Request) -> Result<(), StoreError> {
        let (session, request) = (session.clone().checked()?, request.clone());
        let id = session.id.clone();
        self.make("create a session", id, move |database| sessions::create(database, &session, &request)).await
    }

    async fn ensure(&self, session: &NewSession, request: &Request) -> Result<Ensured, StoreError> {
        let (session, request) = (session.clone().checked()?, request.clone());
        let id = session.id.clone();
        self.make("ensure a session", id, move |database| sessions::ensure(database, &session, &request)).await
    }

    async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        let id = id.clone();
        self.workers.read_short("read a session", move |database| row::session(database, &id)).await
    }

    async fn sessions(&self, ids: &[SessionId]) -> Result<Vec<Session>, StoreError> {
        let ids = ids.to_vec();
        let is_short = ids.len() <= SHORT as usize;
        let work = move |database: &Database| {
            ids.iter().filter_map(|id| row::session(database, id).transpose()).collect::<Result<_, Failure>>()
        };
        if is_short {
            self.workers.read_short("read sessions", work).await
        } else {
            self.workers.read("read sessions", work).await
        }
    }

    async fn ids_with_prefix(&self, prefix: &str, limit: u32) -> Result<Vec<SessionId>, StoreError> {
        let prefix = checked_prefix(prefix)?;
        self.workers
            .read_short("look up ids", move |database| sessions::ids_with_prefix(database, &prefix, limit))
            .await
    }

    async fn update(&self, id: &SessionId, patch: &SessionPatch, request: &Request) -> Result<(), StoreError> {
        let (id, patch, request) = (id.clone(), patch.clone().checked()?, request.clone());
        self.workers.write("change a session", move |database| sessions::update(database, &id, &patch, &request)).await
    }

    async fn end(&self, id: &SessionId, reason: &EndReason, request: &Request) -> Result<bool, StoreError> {
        let (id, reason, request) = (id.clone(), reason.clone(), request.clone());
        self.workers.write("end a session", move |database| sessions::end(database, &id, &reason, &request)).await
    }

    async fn reopen(&self, id: &SessionId, request: &Request) -> Result<bool, StoreError> {
        let (id, request) = (id.clone(), request.clone());
        self.workers.write("reopen a session", move |database| sessions::reopen(database, &id, &request)).await
    }

    async fn split(
        &self,
        parent: &SessionId,
        child: &NewChild,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Option<Title>, StoreError> {
        let (parent, child, messages, request) =
            (parent.clone(), child.clone(), NewMessage::checked_all(messages)?, request.clone());
        let id = child.id.clone();
        let work = move |database: &Database| lineage::split(database, &parent, &child, &messages, &request);
        self.make("continue a session", id, work).await
    }

    async fn branch(
        &self,
        parent: &SessionId,
        child: &NewChild,
        request: &Request,
    ) -> Result<Option<Title>, StoreError> {
        let (parent, child, request) = (parent.clone(), child.clone(), request.clone());
        let id = child.id.clone();
        let work = move |database: &Database| lineage::branch(database, &parent, &child, &request);
        self.make("branch a session", id, work).await
    }

    async fn append(
        &self,
        id: &SessionId,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError> {
        let (id, messages, request) = (id.clone(), NewMessage::checked_all(messages)?, request.clone());
        let work = move |database: &Database| messages::append(database, &id, &messages, &request);
        self.workers.write("append messages", work).await
    }

    async fn replace(
        &self,
        id: &SessionId,
        messages: &[NewMessage],
        request: &Request,
    ) -> Result<Vec<MessageId>, StoreError> {
        let (id, messages, request) = (id.clone(), NewMessage::checked_all(messages)?, request.clone());
        self.workers
            .write("replace messages", move |database| messages::replace(database, &id, &messages, &request))
            .await
    }

    async fn messages(&self, id: &SessionId, request: &MessageRequest) -> Result<Vec<Message>, StoreError> {
        let (id, request) = (id.clone(), *request);
        let work = move |database: &Database| messages::read(database, &id, &request);
        if request.limit <= SHORT {
            self.workers.read_short("read messages", work).await
        } else {
            self.workers.read("read messages", work).await
        }
    }

    async fn around(&self, places: &[(SessionId, MessageId)]) -> Result<Vec<Vec<Message>>, StoreError> {
        let places = places.to_vec();
        let is_short = places.len() <= SHORT as usize;
        let work = move |database: &Database| {
            places.iter().map(|(id, place)| messages::around(database, id, *place)).collect::<Result<_, Failure>>()
        };
        if is_short {
            self.workers.read_short("read messages", work).await
        } else {
            self.workers.read("read messages", work).await
        }
    }

    async fn record_usage(&self, id: &SessionId, update: &UsageUpdate, request: &Request) -> Result<(), StoreError> {
        let (id, update, request) = (id.clone(), update.clone(), request.clone());
        self.workers.write("record usage", move |database| usage::record(database, &id, &update, &request)).await
    }

    async fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let key = key.to_owned();
        self.workers.read_short("read a value", move |database| meta::read(database, &key)).await
    }

    async fn set_meta(&self, key: &str, value: Option<&str>) -> Result<(), StoreError> {
        let (key, value) = (checked_meta_key(key)?, value.map(str::to_owned));
        self.workers.write("store a value", move |database| meta::write(database, &key, value.as_deref())).await
    }

    async fn swap_meta(&self, key: &str, expected: Option<&str>, value: Option<&str>) -> Result<bool, StoreError> {
        let key = checked_meta_key(key)?;
        let (expected, value) = (expected.map(str::to_owned), value.map(str::to_owned));
        let work = move |database: &Database| meta::swap(database, &key, expected.as_deref(), value.as_deref());
        self.workers.write("swap a value", work).await
    }
}
