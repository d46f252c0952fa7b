//! Export: one session per line of JSON, with everything that is stored of it: messages of every state, read piece by piece.

pub mod base64;
mod jsonl;
mod kept;

pub use jsonl::{FORMAT, line_head_with_pin_and_tags, message_object, session_line_head};
pub(crate) use jsonl::{MESSAGE_KEYS, SESSION_KEYS};
pub use kept::{PINS_AND_TAGS_FORMAT, pins_and_tags_line, with_trash};

use crate::{
    ConversationStore, ListRequest, Message, MessageId, MessageRequest, Order, PageRequest, PinAndTags, SessionFilter,
    SessionId, StateCounts, StoreError, Unreadable, View, pins_and_tags,
};
use std::collections::VecDeque;

/// What ends a session's line.
pub const SESSION_LINE_END: &str = "]}\n";

/// How many messages are held at once.
const MESSAGE_PAGE: u32 = 100;

/// How many ids are held at once.
const SESSION_PAGE: u32 = 1000;

/// Exports sessions piece by piece, so that a store of any size takes no more memory than a page of messages.
///
/// A session that is deleted meanwhile is left out, unless it was asked for by its id.
pub struct Exporter<'a> {
    store: &'a dyn ConversationStore,
    /// The sessions of the page, with the pin and tags that are stored with each, if known.
    waiting: VecDeque<(SessionId, Option<PinAndTags>)>,
    /// The next page of ids; nothing if there is none, or if the ids were given.
    pages: Option<ListRequest>,
    is_by_id: bool,
    open: Option<OpenLine>,
    sessions: u64,
    messages: StateCounts,
    unreadable: Vec<Unreadable>,
}

/// A line of which the messages up to `last` are written.
struct OpenLine {
    session: SessionId,
    last: MessageId,
}

impl<'a> Exporter<'a> {
    /// Exports every session that the filter admits by itself, by id.
    pub fn new(store: &'a dyn ConversationStore, filter: SessionFilter) -> Self {
        let page = PageRequest::first(SESSION_PAGE);
        let first = ListRequest { view: View::Sessions, filter, order: Order::Id, page, after: None };
        Self { pages: Some(first), is_by_id: false, ..Self::of(store, []) }
    }

    /// Exports these sessions, in this order.
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
        }
    }

    /// The next piece of text; nothing after the last one. After an error it can be asked again and leaves nothing out.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if a session that was asked for by its id is not there, or one went while its line was half written.
    pub async fn next_chunk(&mut self) -> Result<Option<String>, StoreError> {
        if let Some(OpenLine { session, last }) = &self.open {
            let session = session.clone();
            let page = self.store.messages(&session, &MessageRequest::after(*last, MESSAGE_PAGE).every()).await?;
            return Ok(Some(self.write(String::new(), session, &page)));
        }
        while let Some((id, known)) = self.next_session().await? {
            let session = self.store.session(&id).await?;
            let page = match &session {
                Some(_) => self.start(&id, known).await,
                None => Err(StoreError::no_session(&id)),
            };
            match (session, page) {
                (_, Err(StoreError::NotFound(_))) if !self.is_by_id => _ = self.waiting.pop_front(),
                (Some(session), Ok((pins_and_tags, page))) => {
                    self.waiting.pop_front();
                    self.sessions += 1;
                    return Ok(Some(self.write(line_head_with_pin_and_tags(&session, &pins_and_tags), id, &page)));
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

    /// How many sessions were written so far.
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

    /// The sessions met so far that can't be read, and so are not in the export.
    pub fn unreadable(&self) -> &[Unreadable] {
        &self.unreadable
    }

    /// The session to be written next, without taking it off the list.
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

    /// Adds a page of messages to what is written of a line, and ends the line with the last page.
    fn write(&mut self, mut out: String, session: SessionId, page: &[Message]) -> String {
        let mut is_first = self.open.is_none();
        for message in page {
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
