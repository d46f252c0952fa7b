//! Everything else that can be read within a scope, and the little that can be written.

use crate::conversation::{Conversation, conversations};
use crate::recall::{Recall, session_search};
use crate::render;
use crate::request::{RecallRequest, left_out};
use crate::summary::Summarising;
use hermes_session::{
    Conflict, Counts, Extent, Invalid, ListRequest, Listing, Message, MessageBody, MessageId, MessageRequest,
    NewMessage, Request, Role, Scope, SessionFilter, SessionId, Source, SourceStatistics, Store, StoreError, Title,
    View, Window,
};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The longest note, in characters.
pub const MAX_NOTE: usize = 10_000;
/// The longest page of a transcript, in characters; a message that is longer has a page of its own.
pub const MAX_PAGE_CHARACTERS: usize = 50_000;

/// A store as far as a scope reaches.
///
/// A conversation outside the scope is [`StoreError::NotFound`], as one that does not exist is.
#[derive(Clone)]
pub struct Reader {
    store: Arc<dyn Store>,
    scope: Scope,
}

/// A place in a transcript: behind a message of one of its sessions. As text, `1.42`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which session of the chain, from nought.
    pub segment: usize,
    /// The message.
    pub message: MessageId,
}

/// A part of a transcript.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The conversation.
    pub conversation: Conversation,
    /// The session that its pages are read by: the one that the conversation goes on in, or the one that did a piece of work for it.
    pub session: SessionId,
    /// Its messages, as they were said: what was compacted away is among them, and what a session repeats of the one before comes twice.
    pub messages: Vec<Message>,
    /// Where the next page starts; nothing after the last one.
    pub next: Option<Place>,
}

/// How much there is within a scope.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// Conversations, sessions, messages.
    pub counts: Counts,
    /// The same by source, if everything is within the scope.
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
        let odd = || Invalid::new("cursor", format!("{text:?} is none"), "give what the page before called next");
        let (segment, message) = text.split_once('.').ok_or_else(odd)?;
        Ok(Self {
            segment: segment.parse().map_err(|_| odd())?,
            message: MessageId(message.parse().map_err(|_| odd())?),
        })
    }
}

impl Reader {
    /// Reads a store within a scope.
    pub fn new(store: Arc<dyn Store>, scope: Scope) -> Self {
        Self { store, scope }
    }

    /// The scope.
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// [`session_search`] within the scope.
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

    /// A page of conversations within the scope. Hidden sources are left out unless sources are named.
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
            // Nobody knows whose these are.
            listing.unreadable.clear();
        }
        Ok(listing)
    }

    /// The conversation that a session is part of.
    ///
    /// # Errors
    /// `NotFound` if it is not within the scope or not there.
    pub async fn conversation(&self, session: &SessionId) -> Result<Conversation, StoreError> {
        let found = conversations(&*self.store, &self.scope, vec![session.clone()]).await?;
        found.into_iter().next().ok_or_else(|| StoreError::NotFound(session.to_string()))
    }

    /// Returns a page of everything that was said in a conversation and was not undone, as [`Reader::read_extent`] does.
    ///
    /// # Errors
    /// As [`Reader::read_extent`].
    pub async fn read(&self, session: &SessionId, after: Option<Place>, limit: u32) -> Result<Page, StoreError> {
        self.read_extent(session, after, limit, Extent::Said).await
    }

    /// A page of the messages of a conversation, of the states that are asked for, oldest first: the chain of its sessions, or one that did a piece of work for it if that is asked
    /// for. It has up to `limit` messages, and ends before [`MAX_PAGE_CHARACTERS`] are passed.
    ///
    /// # Errors
    /// `NotFound` if it is not within the scope or not there; `Invalid` if the place is in no session of it.
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
            let hint = "give what the page before called next, with the session_id that it told";
            return Err(Invalid::new("cursor", "leads into no session of this conversation", hint).into());
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
            // One more than is wanted tells whether there is more.
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

    /// The transcript as text, up to so many characters, with a note of what is missing.
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
                    text.push_str("[… the rest is left out: read_conversation tells it page by page …]");
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

    /// How much there is within the scope.
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

    /// Gives a conversation within the scope its title.
    ///
    /// # Errors
    /// `NotFound` as with [`Reader::conversation`]; `Invalid` if the title is taken, without telling by whom.
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

    /// Adds a note to a conversation within the scope. Searches find it and readers see it; no model is sent it when the conversation is resumed.
    ///
    /// # Errors
    /// `NotFound` as with [`Reader::conversation`]; `Invalid` if the note is blank or longer than [`MAX_NOTE`] characters.
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
