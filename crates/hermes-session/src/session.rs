//! Sessions: a row of the store, what a new one needs, what may change in it.

use crate::{Extra, Invalid, Json, SessionId, Timestamp, Title, Usage};
use std::fmt;

/// Where a session comes from: `cli`, `telegram`, `cron`, … or any other tag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(String);

impl Source {
    /// The source of a session that was only heard of, by its counters.
    pub const UNKNOWN: &str = "unknown";

    /// Takes a tag of 1 to 255 bytes without control characters; `api-server` is written `api_server`.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        let hint = "use a short tag such as cli, telegram or cron";
        match text.as_str() {
            "" => Err(Invalid::new("source", "is empty", hint)),
            "api-server" => Ok(Self("api_server".into())),
            tag if tag.len() > crate::MAX_ID_BYTES => {
                Err(Invalid::new("source", format!("is {} bytes long", tag.len()), hint))
            }
            tag if tag.chars().any(char::is_control) => Err(Invalid::new("source", "holds a control character", hint)),
            _ => Ok(Self(text)),
        }
    }

    /// Takes a source as a store holds it.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The tag as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a session ended: one of the agent's own reasons, or any other text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndReason(String);

impl EndReason {
    /// Its context was compressed; a continuation carries on.
    pub const COMPRESSION: &str = "compression";
    /// It was left for a branch of it.
    pub const BRANCHED: &str = "branched";
    /// A compression made it, and nobody carried on in it.
    pub const ORPHANED_COMPRESSION: &str = "orphaned_compression";
    /// The terminal was closed.
    pub const CLI_CLOSE: &str = "cli_close";

    /// Takes a reason; an empty one, and one with a NUL, are refused.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        if text.is_empty() || text.contains('\0') {
            return Err(Invalid::new("end reason", "is empty or holds a NUL", "say why it ends, such as cli_close"));
        }
        Ok(Self(text))
    }

    /// Takes a reason as a store holds it.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The reason of a session whose context was compressed.
    pub fn compression() -> Self {
        Self(Self::COMPRESSION.into())
    }

    /// The reason of a session that was left for a branch of it.
    pub fn branched() -> Self {
        Self(Self::BRANCHED.into())
    }

    /// The reason as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a session is to its parent. Stamped when it is made, never guessed afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// It has none: a conversation starts here.
    Root,
    /// It carries on where the parent's context was compressed: the same conversation.
    Continuation,
    /// It started as a copy of the parent and is a conversation of its own.
    Branch,
    /// It does a piece of work for the parent, and belongs to the parent's conversation.
    Delegate,
}

impl Relation {
    /// The relation as it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Continuation => "continuation",
            Self::Branch => "branch",
            Self::Delegate => "delegate",
        }
    }

    /// Reads the stored form.
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::Root, Self::Continuation, Self::Branch, Self::Delegate]
            .into_iter()
            .find(|relation| relation.as_str() == text)
    }

    /// Whether a conversation of its own starts with such a session.
    pub const fn starts_conversation(self) -> bool {
        matches!(self, Self::Root | Self::Branch)
    }
}

/// The state of handing a session over to a chat platform, as the agent keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HandoffColumns {
    /// `pending`, `running`, `completed`, `failed`, or nothing.
    pub state: Option<String>,
    /// Where to.
    pub platform: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
}

/// A session as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Where it comes from.
    pub source: Source,
    /// Whose it is.
    pub user_id: Option<String>,
    /// The model it runs on.
    pub model: Option<String>,
    /// The model's settings.
    pub model_config: Option<Json>,
    /// The instructions it was started with.
    pub system_prompt: Option<String>,
    /// The session it comes from.
    pub parent_session_id: Option<SessionId>,
    /// What it is to that session.
    pub relation: Relation,
    /// When it started.
    pub started_at: Timestamp,
    /// When it ended; an active session has not.
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub end_reason: Option<EndReason>,
    /// How many messages it has.
    pub message_count: i64,
    /// How many tool calls are in them.
    pub tool_call_count: i64,
    /// What it has used.
    pub usage: Usage,
    /// Its title, as it is stored.
    pub title: Option<String>,
    /// The state of handing it over.
    pub handoff: HandoffColumns,
    /// Whether it was put away: lists leave out a conversation whose tip is archived.
    pub archived: bool,
    /// Columns of newer agents that are not modelled.
    pub extra: Extra,
    /// Columns that could not be read; empty unless a foreign writer or damage left something.
    pub faults: Vec<crate::Fault>,
}

/// A session to be made, without a parent or with one.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// Where it comes from.
    pub source: Source,
    /// Whose it is.
    pub user_id: Option<String>,
    /// The model it runs on.
    pub model: Option<String>,
    /// The model's settings; an empty map is nothing.
    pub model_config: Option<Json>,
    /// The instructions it is started with.
    pub system_prompt: Option<String>,
    /// The session it comes from.
    pub parent_session_id: Option<SessionId>,
    /// What it is to that session; told by [`crate::lineage::relation_at_birth`] if not given.
    pub relation: Option<Relation>,
    /// When it started; the time of the request if not given.
    pub started_at: Option<Timestamp>,
}

impl NewSession {
    /// A session of `source` with nothing else known.
    pub fn new(id: SessionId, source: Source) -> Self {
        Self {
            id,
            source,
            user_id: None,
            model: None,
            model_config: None,
            system_prompt: None,
            parent_session_id: None,
            relation: None,
            started_at: None,
        }
    }

    /// The same session, made for `parent` as `relation` says.
    #[must_use]
    pub fn child_of(self, parent: SessionId, relation: Relation) -> Self {
        Self { parent_session_id: Some(parent), relation: Some(relation), ..self }
    }

    /// The session in the form in which it is stored. Providers call this first.
    ///
    /// # Errors
    /// If it is its own parent, has a parent but is called a root, or a relation but no parent.
    pub fn checked(self) -> Result<Self, Invalid> {
        let odd =
            |why: &str| Err(Invalid::new("parent session", why, "name the session it comes from and what it is to it"));
        match (&self.parent_session_id, self.relation) {
            (Some(parent), _) if *parent == self.id => return odd("is the session itself"),
            (Some(_), Some(Relation::Root)) => return odd("is given for a root"),
            (None, Some(Relation::Continuation | Relation::Branch | Relation::Delegate)) => return odd("is missing"),
            _ => {}
        }
        let texts = [("user id", &self.user_id), ("model", &self.model)];
        for (what, text) in texts {
            if text.as_ref().is_some_and(|text| text.contains('\0')) {
                return Err(Invalid::new(what, "holds a NUL character", "leave it out"));
            }
        }
        Ok(Self { model_config: self.model_config.filter(|config| !config.is_falsy()), ..self })
    }
}

/// What may be changed in a session by itself. What is `None` stays; what is `Some(None)` is emptied.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionPatch {
    /// The instructions.
    pub system_prompt: Option<Option<String>>,
    /// The model.
    pub model: Option<Option<String>>,
    /// The model's settings.
    pub model_config: Option<Option<Json>>,
    /// Whose it is.
    pub user_id: Option<Option<String>>,
}

impl SessionPatch {
    /// The patch in the form in which it is stored: empty settings are nothing. Providers call this first.
    ///
    /// # Errors
    /// If a short text holds a NUL, which a server could not keep.
    pub fn checked(self) -> Result<Self, Invalid> {
        for (what, text) in [("model", &self.model), ("user id", &self.user_id)] {
            if text.as_ref().and_then(Option::as_ref).is_some_and(|text| text.contains('\0')) {
                return Err(Invalid::new(what, "holds a NUL character", "leave it out"));
            }
        }
        Ok(Self { model_config: self.model_config.map(|config| config.filter(|config| !config.is_falsy())), ..self })
    }
}

/// How a child session takes over from the one it comes from, in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChild {
    /// The child's id.
    pub id: SessionId,
    /// Its instructions; the parent's if not given.
    pub system_prompt: Option<String>,
    /// Its model; the parent's if not given.
    pub model: Option<String>,
    /// The title it asks for. A continuation without one takes the next number of its parent's, if that has a title.
    pub title: Option<Title>,
}

impl NewChild {
    /// A child that inherits everything.
    pub const fn new(id: SessionId) -> Self {
        Self { id, system_prompt: None, model: None, title: None }
    }
}

/// What `ensure` found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ensured {
    /// There was no such session; now there is.
    Created,
    /// There was one that had only been heard of; it now has what was given.
    Filled,
    /// There was one; nothing changed.
    Existed,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_have_one_spelling() {
        assert_eq!(Source::parse("api-server").unwrap().as_str(), "api_server");
        for bad in ["", "a\u{1b}b", &"x".repeat(256)] {
            assert!(Source::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn relations_read_back() {
        for relation in [Relation::Root, Relation::Continuation, Relation::Branch, Relation::Delegate] {
            assert_eq!(Relation::from_stored(relation.as_str()), Some(relation));
        }
        assert_eq!(Relation::from_stored("twin"), None);
    }
}
