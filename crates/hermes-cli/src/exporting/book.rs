//! Conversations as Markdown, read piece by piece.

use hermes_session::redact::Redactor;
use hermes_session::{
    ConversationStore, ListRequest, MessageId, MessageRequest, Order, PageRequest, SessionFilter, SessionId,
    StateCounts, StoreError, Unreadable, View,
};
use hermes_terminal::document;
use hermes_terminal::time::Now;
use std::collections::VecDeque;

/// Messages held in memory at once.
const MESSAGE_PAGE: u32 = 100;
/// Conversations listed at once.
const PAGE: u32 = 1000;

/// Writes conversations one after the other, each with all its sessions.
pub(super) struct Book<'a> {
    store: &'a dyn ConversationStore,
    now: &'a Now,
    /// The next page of conversations. `None` after the last one, or if sessions were given.
    pages: Option<ListRequest>,
    conversations: VecDeque<SessionId>,
    /// The sessions of the conversation that is being written.
    parts: VecDeque<SessionId>,
    is_first_part: bool,
    /// A session that is partly written, and its last written message.
    open: Option<(SessionId, MessageId)>,
    pub(super) sessions: u64,
    pub(super) states: StateCounts,
    pub(super) unreadable: Vec<Unreadable>,
    /// Masks secrets, if that was asked for.
    pub(super) redactor: Option<Redactor>,
}

impl<'a> Book<'a> {
    /// Returns the conversations that the filter admits, ordered by id, or those that the sessions `chosen` belong to.
    pub(super) fn new(
        store: &'a dyn ConversationStore,
        now: &'a Now,
        filter: SessionFilter,
        chosen: Option<Vec<SessionId>>,
    ) -> Self {
        let all = ListRequest {
            // A list of conversations would leave out archived ones.
            view: View::Sessions,
            filter,
            order: Order::Id,
            page: PageRequest::first(PAGE),
            after: None,
        };
        Self {
            store,
            now,
            pages: chosen.is_none().then_some(all),
            conversations: VecDeque::new(),
            parts: chosen.into_iter().flatten().collect(),
            is_first_part: true,
            open: None,
            sessions: 0,
            states: StateCounts::default(),
            unreadable: Vec::new(),
            redactor: None,
        }
    }

    /// Returns the next piece of text, or `None` after the last one. Sessions deleted in the meantime are left out.
    pub(super) async fn next_chunk(&mut self) -> Result<Option<String>, StoreError> {
        if let Some((session, last)) = self.open.take() {
            return self
                .page(String::new(), session, MessageRequest::after(last, MESSAGE_PAGE).every())
                .await
                .map(Some);
        }
        loop {
            while let Some(id) = self.parts.pop_front() {
                let Some(mut session) = self.store.session(&id).await? else { continue };
                self.redactor.iter_mut().for_each(|redactor| redactor.session(&mut session));
                // A branch, like any other root, is a conversation of its own.
                let is_head = self.is_first_part || session.relation.starts_conversation();
                let head =
                    if is_head { document::head(&session, self.now) } else { document::part(&session, self.now) };
                self.is_first_part = false;
                self.sessions += 1;
                return self.page(head, id, MessageRequest::first(MESSAGE_PAGE).every()).await.map(Some);
            }
            let Some(conversation) = self.next_conversation().await? else { return Ok(None) };
            self.is_first_part = true;
            match self.store.lineage(&conversation).await {
                Ok(lineage) => self.parts.extend(lineage.conversation(&conversation)),
                Err(StoreError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }

    async fn page(&mut self, mut out: String, id: SessionId, request: MessageRequest) -> Result<String, StoreError> {
        let mut page = match self.store.messages(&id, &request).await {
            Err(StoreError::NotFound(_)) => Vec::new(),
            page => page?,
        };
        if let Some(redactor) = &mut self.redactor {
            page.iter_mut().for_each(|message| redactor.message(message));
        }
        page.iter().for_each(|message| out.push_str(&document::message(message, self.now)));
        page.iter().for_each(|message| self.states.add(message.state));
        self.open = page.last().filter(|_| page.len() >= MESSAGE_PAGE as usize).map(|last| (id, last.id));
        Ok(out)
    }

    async fn next_conversation(&mut self) -> Result<Option<SessionId>, StoreError> {
        while self.conversations.is_empty()
            && let Some(request) = &mut self.pages
        {
            let page = self.store.list(request).await?;
            let roots = page.rows.into_iter().filter(|row| row.id == row.conversation);
            self.conversations.extend(roots.map(|row| row.conversation));
            self.unreadable.extend(page.unreadable);
            match page.next {
                Some(next) => request.after = Some(next),
                None => self.pages = None,
            }
        }
        Ok(self.conversations.pop_front())
    }
}
