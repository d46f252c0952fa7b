//! The other reads within a scope, and the few writes.

use crate::conversation::{Conversation, conversations};
use crate::recall::{Recall, session_search};
use crate::render;
use crate::request::{RecallRequest, left_out};
use crate::summary::Summarising;
use hermes_session::{
    Conflict, Counts, Extent, Invalid, ListRequest, Listing, Message, MessageBody, MessageId, MessageRequest,
    NewMessage, Request, Role, Scope, SessionFilter, SessionId, Source, SourceStatistics, Store, StoreError, Title,
    View, Window, quoted,
};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// Maximum length of a note, in characters.
pub const MAX_NOTE: usize = 10_000;
/// Maximum length of a page of a transcript, in characters; a longer message has a page of its own.
pub const MAX_PAGE_CHARACTERS: usize = 50_000;

/// A store limited to a scope.
///
/// A conversation outside the scope is [`StoreError::NotFound`], like one that does not exist.
#[derive(Clone)]
pub struct Reader {
    store: Arc<dyn Store>,
    scope: Scope,
}

/// A position in a transcript: after a message of one of its sessions. As text, `1.42`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Index of the session in the chain, from 0.
    pub segment: usize,
    /// The message.
    pub message: MessageId,
}

/// A part of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The conversation.
    pub conversation: Conversation,
    /// The session by which its pages are read: the one in which the conversation continues, or a delegate.
    pub session: SessionId,
    /// Its messages as they were said: compacted ones are included, and messages that a session repeats from the
    /// previous one are there twice.
    pub messages: Vec<Message>,
    /// Start of the next page; `None` after the last one.
    pub next: Option<Place>,
}

/// Counts within a scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Conversations, sessions, messages.
    pub counts: Counts,
    /// The counts by source; `None` if the scope is limited.
    pub sources: Option<BTreeMap<Source, SourceStatistics>>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.segment, self.message.0)
    }
}

impl FromStr for Place {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let odd =
            || Invalid::new("cursor", format!("{} is not valid", quoted(text)), "pass `next` of the previous page");
        let (segment, message) = text.split_once('.').ok_or_else(odd)?;
        Ok(Self {
            segment: segment.parse().map_err(|_| odd())?,
            message: MessageId(message.parse().map_err(|_| odd())?),
        })
    }
}

impl Reader {
    /// Returns a reader of a store within a scope.
    pub fn new(store: Arc<dyn Store>, scope: Scope) -> Self {
        Self { store, scope }
    }

    /// Returns the scope.
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Runs [`session_search`] within the scope.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn search(
        &self,
        request: &RecallRequest,
        summarising: Option<Summarising<'_>>,
    ) -> Result<Recall, StoreError> {
        session_search(&*self.store, &self.scope, request, summarising).await
    }

    /// Returns a page of conversations within the scope. Hidden sources are left out unless sources are named.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn list(&self, request: &ListRequest) -> Result<Listing, StoreError> {
        let asked = &request.filter;
        let exclude_sources = left_out(asked.sources.as_deref(), &asked.exclude_sources);
        let filter = SessionFilter { exclude_sources, scope: self.scope.clone(), ..asked.clone() };
        let mut listing =
            self.store.list(&ListRequest { view: View::Conversations, filter, ..request.clone() }).await?;
        if self.scope.is_bounded() {
            // It is unknown whether these are within the scope.
            listing.unreadable.clear();
        }
        Ok(listing)
    }

    /// Returns the conversation that a session belongs to.
    ///
    /// # Errors
    /// `NotFound` if it is outside the scope or does not exist.
    pub async fn conversation(&self, session: &SessionId) -> Result<Conversation, StoreError> {
        let found = conversations(&*self.store, &self.scope, vec![session.clone()]).await?;
        found.into_iter().next().ok_or_else(|| StoreError::NotFound(session.to_string()))
    }

    /// Returns a page of all messages of a conversation that were not undone, like [`Reader::read_extent`].
    ///
    /// # Errors
    /// As [`Reader::read_extent`].
    pub async fn read(&self, session: &SessionId, after: Option<Place>, limit: u32) -> Result<Page, StoreError> {
        self.read_extent(session, after, limit, Extent::Said).await
    }

    /// Returns a page of the messages of a conversation in the states of `extent`, oldest first: of the chain of its
    /// sessions, or of a delegate if `session` is one. It has up to `limit` messages, and ends before
    /// [`MAX_PAGE_CHARACTERS`] are exceeded.
    ///
    /// # Errors
    /// `NotFound` if it is outside the scope or does not exist; `Invalid` if the position is in none of its sessions.
    pub async fn read_extent(
        &self,
        session: &SessionId,
        after: Option<Place>,
        limit: u32,
        extent: Extent,
    ) -> Result<Page, StoreError> {
        let conversation = self.conversation(session).await?;
        let delegate = conversation.delegates.iter().find(|delegate| delegate.id == *session);
        let segments: Vec<SessionId> = match delegate {
            Some(delegate) => vec![delegate.id.clone()],
            None => conversation.chain.iter().map(|segment| segment.id.clone()).collect(),
        };
        if after.is_some_and(|place| place.segment >= segments.len()) {
            let hint = "pass `next` of the previous page, with the session_id that it named";
            return Err(Invalid::new("cursor", "names no session of this conversation", hint).into());
        }
        let session = delegate.map_or_else(|| conversation.id(), |delegate| &delegate.id).clone();
        let limit = limit.max(1) as usize;
        let (mut messages, mut last): (Vec<Message>, Option<Place>) = (Vec::new(), None);
        let mut characters = 0;
        let (first, mut window) = match after {
            Some(place) => (place.segment, Window::After(Some(place.message))),
            None => (0, Window::After(None)),
        };
        for (segment, id) in segments.iter().enumerate().skip(first) {
            // One extra message tells whether there are more.
            let wanted = u32::try_from(limit + 1 - messages.len()).unwrap_or(u32::MAX);
            let request = MessageRequest { extent, ..MessageRequest::new(window, wanted) };
            for message in self.store.messages(id, &request).await? {
                characters += render::stored_size(&message);
                if messages.len() == limit || (last.is_some() && characters > MAX_PAGE_CHARACTERS) {
                    return Ok(Page { conversation, session, messages, next: last });
                }
                last = Some(Place { segment, message: message.id });
                messages.push(message);
            }
            window = Window::After(None);
        }
        Ok(Page { conversation, session, messages, next: None })
    }

    /// Returns the transcript as text, up to `most` characters, with a note about what is missing.
    ///
    /// # Errors
    /// As [`Reader::read`].
    pub async fn transcript(&self, session: &SessionId, most: usize) -> Result<String, StoreError> {
        const PAGE: u32 = 200;
        let (mut text, mut size, mut after) = (String::new(), 0, None);
        loop {
            let page = self.read(session, after, PAGE).await?;
            for message in &page.messages {
                let Some(said) = render::message(message) else { continue };
                size += said.chars().count() + 2;
                if size > most {
                    text.push_str("[… the rest is left out; read_conversation returns it page by page …]");
                    return Ok(text);
                }
                text.push_str(&said);
                text.push_str("\n\n");
            }
            after = page.next;
            if after.is_none() {
                return Ok(text);
            }
        }
    }

    /// Returns the counts within the scope.
    ///
    /// # Errors
    /// If the store fails.
    pub async fn statistics(&self) -> Result<Statistics, StoreError> {
        let filter = SessionFilter { scope: self.scope.clone(), ..SessionFilter::default() };
        let counts = self.store.counts(&filter).await?;
        let sources = match self.scope {
            Scope::All => Some(self.store.statistics().await?.sources),
            _ => None,
        };
        Ok(Statistics { counts, sources })
    }

    /// Sets the title of a conversation within the scope.
    ///
    /// # Errors
    /// `NotFound` like [`Reader::conversation`]; `Invalid` if the title is taken, without revealing by which session.
    pub async fn rename(
        &self,
        session: &SessionId,
        title: &Title,
        request: &Request,
    ) -> Result<Conversation, StoreError> {
        let conversation = self.conversation(session).await?;
        match self.store.set_title(conversation.id(), Some(title), request).await {
            Err(StoreError::Conflict(Conflict::TitleTaken { .. })) => {
                let why = format!("{:?} is taken", title.as_str());
                Err(Invalid::new("title", why, "choose another title").into())
            }
            outcome => outcome.map(|()| conversation),
        }
    }

    /// Adds a note to a conversation within the scope. Searches and readers find it; it is not sent to a model when the
    /// conversation is resumed.
    ///
    /// # Errors
    /// `NotFound` like [`Reader::conversation`]; `Invalid` if the note is blank or longer than [`MAX_NOTE`] characters.
    pub async fn append_note(
        &self,
        session: &SessionId,
        note: &str,
        request: &Request,
    ) -> Result<MessageId, StoreError> {
        if note.trim().is_empty() || note.chars().count() > MAX_NOTE {
            let hint = "give a text of 1 to 10,000 characters";
            return Err(Invalid::new("note", "is blank or too long", hint).into());
        }
        let conversation = self.conversation(session).await?;
        let note = NewMessage::from(MessageBody::new(Role::Other(render::NOTE.to_owned()), note));
        let ids = self.store.append(conversation.id(), &[note], request).await?;
        ids.first().copied().ok_or_else(|| StoreError::NotFound(session.to_string()))
    }
}
