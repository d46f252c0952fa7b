//! Export: one session per line of JSON, with all of its stored data, including messages of every state. Messages are
//! read page by page.

pub mod base64;
mod jsonl;
mod kept;
mod live;

pub use jsonl::{FORMAT, line_head_with_pin_and_tags, message_object, session_line_head};
pub(crate) use jsonl::{MESSAGE_KEYS, SESSION_KEYS};
pub use kept::{PINS_AND_TAGS_FORMAT, archived_line, pins_and_tags_line, with_trash};
pub use live::{LIVE_FORMAT, live_line, undone_line};

use crate::redact::Redactor;
use crate::{
    ConversationStore, ListRequest, Message, MessageId, MessageRequest, Order, PageRequest, PinAndTags, SessionFilter,
    SessionId, StateCounts, StoreError, Unreadable, View, pins_and_tags,
};
use std::collections::VecDeque;

/// End of a session's line.
pub const SESSION_LINE_END: &str = "]}\n";

/// Messages per page.
const MESSAGE_PAGE: u32 = 100;

/// Session ids per page.
const SESSION_PAGE: u32 = 1000;

/// Exports sessions piece by piece, so that a store of any size takes no more memory than a page of messages.
///
/// A session that is deleted meanwhile is left out, unless it was requested by its id.
pub struct Exporter<'a> {
    store: &'a dyn ConversationStore,
    /// Sessions of the current page, each with its stored pin and tags if they are known.
    waiting: VecDeque<(SessionId, Option<PinAndTags>)>,
    /// Request for the next page of ids; `None` after the last page, or if the ids were given.
    pages: Option<ListRequest>,
    is_by_id: bool,
    open: Option<OpenLine>,
    sessions: u64,
    messages: StateCounts,
    unreadable: Vec<Unreadable>,
    /// Masks secrets, if that was asked for.
    redactor: Option<Redactor>,
}

/// A session's line whose messages up to `last` have been written.
struct OpenLine {
    session: SessionId,
    last: MessageId,
}

impl<'a> Exporter<'a> {
    /// Exports every session that itself passes the filter, in the order of ids.
    pub fn new(store: &'a dyn ConversationStore, filter: SessionFilter) -> Self {
        let page = PageRequest::first(SESSION_PAGE);
        let first = ListRequest { view: View::Sessions, filter, order: Order::Id, page, after: None };
        Self { pages: Some(first), is_by_id: false, ..Self::of(store, []) }
    }

    /// Exports the given sessions, in the given order.
    pub fn of(store: &'a dyn ConversationStore, ids: impl IntoIterator<Item = SessionId>) -> Self {
        Self {
            store,
            waiting: ids.into_iter().map(|id| (id, None)).collect(),
            pages: None,
            is_by_id: true,
            open: None,
            sessions: 0,
            messages: StateCounts::default(),
            unreadable: Vec::new(),
            redactor: None,
        }
    }

    /// Masks secrets in everything that follows.
    pub fn redact(&mut self) {
        self.redactor = Some(Redactor::default());
    }

    /// Returns what was masked so far; `None` unless it was asked for.
    pub const fn redactor(&self) -> Option<&Redactor> {
        self.redactor.as_ref()
    }

    /// Returns the next piece of text; `None` after the last one. A call after an error continues where the last one
    /// stopped and omits nothing.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if a session requested by its id does not exist, or if a session was deleted while its
    /// line was half written.
    pub async fn next_chunk(&mut self) -> Result<Option<String>, StoreError> {
        if let Some(OpenLine { session, last }) = &self.open {
            let session = session.clone();
            let page = self.store.messages(&session, &MessageRequest::after(*last, MESSAGE_PAGE).every()).await?;
            return Ok(Some(self.write(String::new(), session, page)));
        }
        while let Some((id, known)) = self.next_session().await? {
            let session = self.store.session(&id).await?;
            let page = match &session {
                Some(_) => self.start(&id, known).await,
                None => Err(StoreError::no_session(&id)),
            };
            match (session, page) {
                (_, Err(StoreError::NotFound(_))) if !self.is_by_id => _ = self.waiting.pop_front(),
                (Some(mut session), Ok((pins_and_tags, page))) => {
                    self.waiting.pop_front();
                    self.sessions += 1;
                    self.redactor.iter_mut().for_each(|redactor| redactor.session(&mut session));
                    return Ok(Some(self.write(line_head_with_pin_and_tags(&session, &pins_and_tags), id, page)));
                }
                (_, page) => return page.map(|_| None),
            }
        }
        Ok(None)
    }

    /// Returns the pin, the tags and the first messages of a session.
    async fn start(&self, id: &SessionId, known: Option<PinAndTags>) -> Result<(PinAndTags, Vec<Message>), StoreError> {
        let pins_and_tags = match known {
            Some(pins_and_tags) => pins_and_tags,
            None => pins_and_tags::kept_with(self.store, id).await?,
        };
        Ok((pins_and_tags, self.store.messages(id, &MessageRequest::first(MESSAGE_PAGE).every()).await?))
    }

    /// Returns how many sessions were written so far.
    pub const fn sessions(&self) -> u64 {
        self.sessions
    }

    /// Returns how many messages were written so far.
    pub const fn messages(&self) -> u64 {
        self.messages.total()
    }

    /// Returns how many messages of each state were written so far.
    pub const fn states(&self) -> StateCounts {
        self.messages
    }

    /// Returns the sessions met so far that can't be read and so are missing from the export.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }

    /// Returns the next session to write, without removing it from the queue.
    async fn next_session(&mut self) -> Result<Option<(SessionId, Option<PinAndTags>)>, StoreError> {
        while self.waiting.is_empty()
            && let Some(request) = &mut self.pages
        {
            let page = self.store.list(request).await?;
            self.waiting.extend(page.rows.into_iter().map(|row| {
                let is_first = row.id == row.conversation;
                let pins_and_tags = if is_first { PinAndTags::of_row(&row) } else { PinAndTags::default() };
                (row.id, Some(pins_and_tags))
            }));
            self.unreadable.extend(page.unreadable);
            match page.next {
                Some(next) => request.after = Some(next),
                None => self.pages = None,
            }
        }
        Ok(self.waiting.front().cloned())
    }

    /// Appends a page of messages to a line, and ends the line with the last page.
    fn write(&mut self, mut out: String, session: SessionId, mut page: Vec<Message>) -> String {
        if let Some(redactor) = &mut self.redactor {
            page.iter_mut().for_each(|message| redactor.message(message));
        }
        let mut is_first = self.open.is_none();
        for message in &page {
            out.push_str(if is_first { "" } else { ", " });
            out.push_str(&message_object(message));
            is_first = false;
        }
        page.iter().for_each(|message| self.messages.add(message.state));
        self.open = match page.last() {
            Some(message) if page.len() >= MESSAGE_PAGE as usize => Some(OpenLine { session, last: message.id }),
            _ => {
                out.push_str(SESSION_LINE_END);
                None
            }
        };
        out
    }
}
