//! Reads sessions and messages in order, a few at a time.

use super::portable;
use crate::{
    ConversationStore, ListCursor, ListRequest, Message, MessageId, MessageRequest, Order, PageRequest, SessionFilter,
    SessionId, SessionSummary, StoreError, Unreadable, View, Window,
};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// Sessions per page.
const ROWS: u32 = 500;
/// Target size of the messages held at once, in bytes.
const BYTES: usize = 4 << 20;
/// Number of messages of the first page, before their size is known, and maximum number per page.
const FIRST: u32 = 16;
const MAX_MESSAGES: u32 = 256;
/// Factor by which a page may be larger than the previous one.
const GROWTH: u32 = 8;

/// The sessions of a store by id.
pub(super) struct Rows<'a> {
    store: &'a dyn ConversationStore,
    waiting: VecDeque<SessionSummary>,
    /// Request for the next page; `None` after the last one.
    next: Option<ListRequest>,
    /// Rows met so far that can't be read.
    pub(super) unreadable: Vec<Unreadable>,
}

impl<'a> Rows<'a> {
    /// Iterates over all sessions, or those after one.
    pub(super) fn new(store: &'a dyn ConversationStore, after: Option<&SessionId>) -> Self {
        let after = after.map(|id| ListCursor::new(0.0, id.clone()));
        let page = PageRequest::first(ROWS);
        let filter = SessionFilter::default();
        let first = ListRequest { view: View::Sessions, filter, order: Order::Id, page, after };
        Self { store, waiting: VecDeque::new(), next: Some(first), unreadable: Vec::new() }
    }

    /// Returns the next session without consuming it.
    pub(super) async fn peek(&mut self) -> Result<Option<&SessionSummary>, StoreError> {
        while self.waiting.is_empty()
            && let Some(request) = &mut self.next
        {
            let page = self.store.list(request).await?;
            self.waiting.extend(page.rows);
            self.unreadable.extend(page.unreadable);
            match page.next {
                Some(next) => request.after = Some(next),
                None => self.next = None,
            }
        }
        Ok(self.waiting.front())
    }

    /// Returns the next session.
    pub(super) async fn next(&mut self) -> Result<Option<SessionSummary>, StoreError> {
        self.peek().await?;
        Ok(self.waiting.pop_front())
    }

    /// Returns the session of this id. Consumes the sessions before it and calls `passed` for each. Ids must ascend
    /// from call to call.
    pub(super) async fn find(
        &mut self,
        id: &SessionId,
        passed: &mut (dyn FnMut(SessionSummary) + Send),
    ) -> Result<Option<SessionSummary>, StoreError> {
        while let Some(row) = self.peek().await? {
            match row.id.cmp(id) {
                Ordering::Less => self.waiting.pop_front().into_iter().for_each(&mut *passed),
                Ordering::Equal => return Ok(self.waiting.pop_front()),
                Ordering::Greater => break,
            }
        }
        Ok(None)
    }
}

/// Iterates over every message of a session, whatever its state. The first page is small. Later pages are as large as
/// fit, judged by the largest message of the previous page: a page exceeds the target size only where large messages
/// follow many small ones.
pub(super) struct Pages<'a> {
    store: &'a dyn ConversationStore,
    session: SessionId,
    after: Option<MessageId>,
    limit: u32,
    is_over: bool,
}

impl<'a> Pages<'a> {
    pub(super) fn new(store: &'a dyn ConversationStore, session: &SessionId) -> Self {
        Self { store, session: session.clone(), after: None, limit: FIRST, is_over: false }
    }

    /// Returns some more messages; empty after the last one.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the session was deleted.
    pub(super) async fn next(&mut self) -> Result<Vec<Message>, StoreError> {
        if self.is_over {
            return Ok(Vec::new());
        }
        let request = MessageRequest::new(Window::After(self.after), self.limit).every();
        let page = self.store.messages(&self.session, &request).await?;
        self.is_over = page.len() < self.limit as usize;
        self.after = page.last().map(|message| message.id).or(self.after);
        let largest = page.iter().map(portable::size).max().unwrap_or(1).max(1);
        let fits = u32::try_from(BYTES / largest).unwrap_or(MAX_MESSAGES);
        self.limit = fits.clamp(1, (self.limit * GROWTH).min(MAX_MESSAGES));
        Ok(page)
    }
}
