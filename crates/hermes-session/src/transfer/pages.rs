//! Sessions and messages in order, a few at a time.

use super::portable;
use crate::{
    ConversationStore, ListCursor, ListRequest, Message, MessageId, MessageRequest, Order, PageRequest, SessionFilter,
    SessionId, SessionSummary, StoreError, Unreadable, View, Window,
};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// How many sessions are asked for at once.
const ROWS: u32 = 500;
/// How much text of messages should be held at once.
const BYTES: usize = 4 << 20;
/// How many messages are asked for first, as long as nobody knows how large they are, and at most.
const FIRST: u32 = 4;
const MAX_MESSAGES: u32 = 128;

/// The sessions of a store by id.
pub(super) struct Rows<'a> {
    store: &'a dyn ConversationStore,
    waiting: VecDeque<SessionSummary>,
    /// The next page; nothing if there is none.
    next: Option<ListRequest>,
    /// Rows that can't be read, as far as it came.
    pub(super) unreadable: Vec<Unreadable>,
}

impl<'a> Rows<'a> {
    /// All sessions, or those behind one.
    pub(super) fn new(store: &'a dyn ConversationStore, after: Option<&SessionId>) -> Self {
        let after = after.map(|id| ListCursor::new(0.0, id.clone()));
        let page = PageRequest::first(ROWS);
        let filter = SessionFilter::default();
        let first = ListRequest { view: View::Sessions, filter, order: Order::Id, page, after };
        Self { store, waiting: VecDeque::new(), next: Some(first), unreadable: Vec::new() }
    }

    /// The next session, without passing it.
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

    /// The next session.
    pub(super) async fn next(&mut self) -> Result<Option<SessionSummary>, StoreError> {
        self.peek().await?;
        Ok(self.waiting.pop_front())
    }

    /// The session of this id; those before it are passed, and `passed` is told of each. To be called with ids that rise.
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

/// Every message of a session, whatever its state. Few are asked for at first, then as many as fit, told by the largest of the last page: a page holds
/// more than it should only where large messages follow many small ones.
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

    /// Some messages more; none when all were read.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if the session is gone.
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
        self.limit = fits.clamp(1, (self.limit * 2).min(MAX_MESSAGES));
        Ok(page)
    }
}
