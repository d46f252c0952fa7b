//! Sessions: stored rows, new sessions, and patches.

use crate::{Extra, Invalid, Json, SessionId, Timestamp, Title, Usage};
use std::fmt;

/// Origin of a session: `cli`, `telegram`, `cron`, … or any other tag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Source(String);

impl Source {
    /// Source of a placeholder session, which the agent creates when usage is recorded for an unknown id.
    pub const UNKNOWN: &str = "unknown";

    /// Parses a tag of 1 to 255 bytes without control characters. `api-server` becomes `api_server`.
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

    /// Converts a stored source.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the tag as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reason why a session ended: one of the agent's own reasons, or any other text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndReason(String);

impl EndReason {
    /// Its context was compressed; it has a continuation.
    pub const COMPRESSION: &str = "compression";
    /// It was left for a branch of it.
    pub const BRANCHED: &str = "branched";
    /// A compression created it, and the model was never called in it.
    pub const ORPHANED_COMPRESSION: &str = "orphaned_compression";
    /// The terminal was closed.
    pub const CLI_CLOSE: &str = "cli_close";

    /// Parses a reason. Rejects an empty one and one with a NUL.
    pub fn parse(text: impl Into<String>) -> Result<Self, Invalid> {
        let text = text.into();
        if text.is_empty() || text.contains('\0') {
            return Err(Invalid::new("end reason", "is empty or holds a NUL", "say why it ends, such as cli_close"));
        }
        Ok(Self(text))
    }

    /// Converts a stored reason.
    pub fn from_stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the reason of a session whose context was compressed.
    pub fn compression() -> Self {
        Self(Self::COMPRESSION.into())
    }

    /// Returns the reason of a session that was left for a branch of it.
    pub fn branched() -> Self {
        Self(Self::BRANCHED.into())
    }

    /// Returns the reason as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Relation of a session to its parent. It is stamped at creation and never inferred again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// No parent: a conversation starts here.
    Root,
    /// Continues the parent after its context was compressed: the same conversation.
    Continuation,
    /// Started as a copy of the parent and is a conversation of its own.
    Branch,
    /// Does work for the parent, and belongs to the parent's conversation.
    Delegate,
}

impl Relation {
    /// Returns the stored form.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Continuation => "continuation",
            Self::Branch => "branch",
            Self::Delegate => "delegate",
        }
    }

    /// Parses the stored form; `None` for an unknown word.
    pub fn from_stored(text: &str) -> Option<Self> {
        [Self::Root, Self::Continuation, Self::Branch, Self::Delegate]
            .into_iter()
            .find(|relation| relation.as_str() == text)
    }

    /// Returns whether a session with this relation starts a conversation.
    pub const fn starts_conversation(self) -> bool {
        matches!(self, Self::Root | Self::Branch)
    }
}

/// State of the handoff of a session to a chat platform, as the agent stores it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HandoffColumns {
    /// `pending`, `running`, `completed`, `failed`, or `None`.
    pub state: Option<String>,
    /// Target platform.
    pub platform: Option<String>,
    /// Error of a failed handoff.
    pub error: Option<String>,
}

/// A session as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Its source.
    pub source: Source,
    /// Its user.
    pub user_id: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// The model's settings.
    pub model_config: Option<Json>,
    /// Instructions it was started with.
    pub system_prompt: Option<String>,
    /// Its parent.
    pub parent_session_id: Option<SessionId>,
    /// Its relation to the parent.
    pub relation: Relation,
    /// Start time.
    pub started_at: Timestamp,
    /// End time; `None` for an active session.
    pub ended_at: Option<Timestamp>,
    /// End reason.
    pub end_reason: Option<EndReason>,
    /// Number of messages.
    pub message_count: i64,
    /// Number of tool calls in them.
    pub tool_call_count: i64,
    /// Usage counters.
    pub usage: Usage,
    /// Title as stored.
    pub title: Option<String>,
    /// Handoff state.
    pub handoff: HandoffColumns,
    /// Whether it is archived. Lists leave out a conversation whose first session is archived.
    pub archived: bool,
    /// Columns of newer agents that are not modelled.
    pub extra: Extra,
    /// Columns that could not be read. Empty unless a foreign writer or damage left invalid values.
    pub faults: Vec<crate::Fault>,
}

/// A session to be created, with or without a parent.
#[derive(Debug, Clone, PartialEq)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// Its source.
    pub source: Source,
    /// Its user.
    pub user_id: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// The model's settings. An empty object is stored as NULL.
    pub model_config: Option<Json>,
    /// Instructions it is started with.
    pub system_prompt: Option<String>,
    /// Its parent.
    pub parent_session_id: Option<SessionId>,
    /// Its relation to the parent; determined by [`crate::lineage::relation_at_birth`] if not given.
    pub relation: Option<Relation>,
    /// Start time; the time of the request if not given.
    pub started_at: Option<Timestamp>,
}

impl NewSession {
    /// Creates a session of `source` without other values.
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

    /// Sets the parent and the relation to it.
    #[must_use]
    pub fn child_of(self, parent: SessionId, relation: Relation) -> Self {
        Self { parent_session_id: Some(parent), relation: Some(relation), ..self }
    }

    /// Returns the session in its stored form. Providers call this first.
    ///
    /// # Errors
    /// If it is its own parent, has a parent but the relation of a root, or another relation but no parent. Also if the
    /// user id or the model holds a NUL.
    pub fn checked(self) -> Result<Self, Invalid> {
        let odd =
            |why: &str| Err(Invalid::new("parent session", why, "name the parent session and the relation to it"));
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

/// Changes to a session. `None` leaves a value unchanged; `Some(None)` clears it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionPatch {
    /// The instructions.
    pub system_prompt: Option<Option<String>>,
    /// The model.
    pub model: Option<Option<String>>,
    /// The model's settings.
    pub model_config: Option<Option<Json>>,
    /// The user.
    pub user_id: Option<Option<String>>,
}

impl SessionPatch {
    /// Returns the patch in its stored form, in which empty settings are NULL. Providers call this first.
    ///
    /// # Errors
    /// If the model or the user id holds a NUL, which a server could not store.
    pub fn checked(self) -> Result<Self, Invalid> {
        for (what, text) in [("model", &self.model), ("user id", &self.user_id)] {
            if text.as_ref().and_then(Option::as_ref).is_some_and(|text| text.contains('\0')) {
                return Err(Invalid::new(what, "holds a NUL character", "leave it out"));
            }
        }
        Ok(Self { model_config: self.model_config.map(|config| config.filter(|config| !config.is_falsy())), ..self })
    }
}

/// A child session that takes over from its parent in one step.
#[derive(Debug, Clone, PartialEq)]
pub struct NewChild {
    /// The child's id.
    pub id: SessionId,
    /// Its instructions; those of the parent if not given.
    pub system_prompt: Option<String>,
    /// Its model; that of the parent if not given.
    pub model: Option<String>,
    /// Requested title. A continuation without one takes the next number of its parent's title, if there is one.
    pub title: Option<Title>,
}

impl NewChild {
    /// Creates a child that inherits everything.
    pub const fn new(id: SessionId) -> Self {
        Self { id, system_prompt: None, model: None, title: None }
    }
}

/// Result of `ensure`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ensured {
    /// The session did not exist and was created.
    Created,
    /// A placeholder existed and was filled with the given values.
    Filled,
    /// The session existed; nothing changed.
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
