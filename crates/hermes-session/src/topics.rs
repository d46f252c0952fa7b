//! Topics of a chat: which thread of a user's chat is linked to which session, as the agent stores it for Telegram.
//!
//! The agent creates these tables when a user enables topics, not before. The code here only transfers them from one
//! store to another, and decides once for all stores whether a row can be imported.

use crate::{Invalid, MAX_ID_BYTES, SessionId, Timestamp, Unreadable};

/// All topic data of a store, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topics {
    /// Chats in which topics are or were enabled; sorted by chat, byte by byte.
    pub modes: Vec<TopicMode>,
    /// Links from topics to sessions; sorted by chat, then thread, byte by byte.
    pub bindings: Vec<TopicBinding>,
    /// Rows that can't be read.
    pub unreadable: Vec<Unreadable>,
}

/// A chat in which topics are or were enabled. The names are those of the agent's columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicMode {
    /// The chat.
    pub chat_id: String,
    /// Its user.
    pub user_id: String,
    /// Whether topics are enabled. Stored as a number; every value but 0 is true.
    pub enabled: bool,
    /// Time when they were first enabled.
    pub activated_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
    /// Whether the platform allows topics in it, if that was checked.
    pub has_topics_enabled: Option<bool>,
    /// Whether its users may create topics, if that was checked.
    pub allows_users_to_create_topics: Option<bool>,
    /// Time of that check.
    pub capability_checked_at: Option<Timestamp>,
    /// The message that explains topics.
    pub intro_message_id: Option<String>,
    /// The pinned message.
    pub pinned_message_id: Option<String>,
}

/// A topic and the session it is linked to. A session has at most one topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicBinding {
    /// The chat.
    pub chat_id: String,
    /// The thread in it.
    pub thread_id: String,
    /// Its user.
    pub user_id: String,
    /// Route by which the gateway knows the topic.
    pub session_key: String,
    /// The linked session.
    pub session_id: SessionId,
    /// `auto`, or another way in which it is managed.
    pub managed_mode: String,
    /// Time when it was first linked.
    pub linked_at: Timestamp,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

/// A change of topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicChange {
    /// Topics will be used: a store that creates the tables for them on demand creates them now. Nothing else changes.
    Prepare,
    /// Enables topics in a chat. Values of the platform that are `None` stay as they were.
    On {
        /// The chat.
        chat_id: String,
        /// Its user.
        user_id: String,
        /// Whether the platform allows topics in it.
        has_topics_enabled: Option<bool>,
        /// Whether its users may create topics.
        allows_users_to_create_topics: Option<bool>,
    },
    /// Disables topics in a chat; does nothing if they were never enabled.
    Off {
        /// The chat.
        chat_id: String,
        /// Whether to delete the links of its topics.
        clears: bool,
    },
    /// Links a topic to a session.
    Bind {
        /// The chat.
        chat_id: String,
        /// The thread in it.
        thread_id: String,
        /// Its user.
        user_id: String,
        /// Route by which the gateway knows the topic.
        session_key: String,
        /// The session to link.
        session_id: SessionId,
        /// `auto`, or another way in which it is managed.
        managed_mode: String,
    },
}

impl TopicChange {
    /// Checks that every store can keep it: names of at most 255 bytes, and no NUL.
    ///
    /// # Errors
    /// Names the value that can't be stored.
    pub fn check(&self) -> Result<(), Invalid> {
        let names: Vec<(&'static str, &str)> = match self {
            Self::Prepare => Vec::new(),
            Self::On { chat_id, user_id, .. } => vec![("chat", chat_id), ("user", user_id)],
            Self::Off { chat_id, .. } => vec![("chat", chat_id)],
            Self::Bind { chat_id, thread_id, user_id, session_key, managed_mode, .. } => vec![
                ("chat", chat_id),
                ("thread", thread_id),
                ("user", user_id),
                ("session key", session_key),
                ("managed mode", managed_mode),
            ],
        };
        for (what, name) in names {
            if name.contains('\0') {
                return Err(Invalid::new(what, "holds a NUL character", "leave it out"));
            }
            if name.len() > MAX_ID_BYTES {
                return Err(Invalid::new(what, "is longer than 255 bytes", "give a shorter one"));
            }
        }
        Ok(())
    }
}

impl TopicMode {
    /// Returns the mode of a chat after topics were enabled.
    pub fn on(
        there: Option<Self>,
        chat_id: &str,
        user_id: &str,
        capabilities: (Option<bool>, Option<bool>),
        at: Timestamp,
    ) -> Self {
        let known = |known: fn(&Self) -> Option<bool>| there.as_ref().and_then(known);
        Self {
            chat_id: chat_id.to_owned(),
            user_id: user_id.to_owned(),
            enabled: true,
            activated_at: there.as_ref().map_or(at, |there| there.activated_at),
            updated_at: at,
            has_topics_enabled: capabilities.0.or(known(|mode| mode.has_topics_enabled)),
            allows_users_to_create_topics: capabilities.1.or(known(|mode| mode.allows_users_to_create_topics)),
            capability_checked_at: Some(at),
            intro_message_id: there.as_ref().and_then(|there| there.intro_message_id.clone()),
            pinned_message_id: there.and_then(|there| there.pinned_message_id),
        }
    }

    /// Returns the mode of a chat after topics were disabled.
    #[must_use]
    pub fn off(self, at: Timestamp) -> Self {
        Self { enabled: false, updated_at: at, ..self }
    }
}

/// Result of importing topics.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicsImported {
    /// Rows that were imported.
    pub taken: u64,
    /// Rows that existed already.
    pub same: u64,
    /// Rows that were not imported, with the reason. Existing rows stay unchanged.
    pub left: Vec<TopicLeft>,
}

/// A row that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicLeft {
    /// The chat.
    pub chat_id: String,
    /// The thread; `None` for the mode of a chat.
    pub thread_id: Option<String>,
    /// Reason, as the end of a sentence.
    pub why: String,
}

/// Decision about a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Import it.
    Take,
    /// It exists already.
    Same,
    /// Leave it out, for this reason.
    Leave(String),
}

impl TopicsImported {
    /// Counts the mode of a chat. Returns whether to import it.
    pub fn count_mode(&mut self, mode: &TopicMode, verdict: Verdict) -> bool {
        self.count(&mode.chat_id, None, verdict)
    }

    /// Counts a binding. Returns whether to import it.
    pub fn count_binding(&mut self, binding: &TopicBinding, verdict: Verdict) -> bool {
        self.count(&binding.chat_id, Some(&binding.thread_id), verdict)
    }

    fn count(&mut self, chat_id: &str, thread_id: Option<&str>, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Take => self.taken += 1,
            Verdict::Same => self.same += 1,
            Verdict::Leave(why) => {
                self.left.push(TopicLeft { chat_id: chat_id.to_owned(), thread_id: thread_id.map(str::to_owned), why });
                return false;
            }
        }
        matches!(verdict, Verdict::Take)
    }
}

/// Decides about the mode of a chat, where `there` is the stored mode of that chat. Providers call this for each row.
pub fn judge_mode(mode: &TopicMode, there: Option<&TopicMode>) -> Verdict {
    let texts = [
        ("chat_id", Some(&mode.chat_id)),
        ("user_id", Some(&mode.user_id)),
        ("intro_message_id", mode.intro_message_id.as_ref()),
        ("pinned_message_id", mode.pinned_message_id.as_ref()),
    ];
    match there {
        _ if let Some(column) = with_nul(&texts) => Verdict::Leave(format!("its {column} holds a NUL character")),
        None => Verdict::Take,
        Some(there) if there == mode => Verdict::Same,
        Some(_) => Verdict::Leave("the chat already exists with other settings".into()),
    }
}

/// Stored data that a binding may conflict with.
#[derive(Debug, Clone, Default)]
pub struct BindingPlace {
    /// The binding of the same chat and thread.
    pub there: Option<TopicBinding>,
    /// Whether the session exists.
    pub has_session: bool,
    /// The chat and thread that the session is bound to.
    pub bound_to: Option<(String, String)>,
}

/// Decides about a binding. Providers call this for each row.
pub fn judge_binding(binding: &TopicBinding, place: &BindingPlace) -> Verdict {
    let texts = [
        ("chat_id", Some(&binding.chat_id)),
        ("thread_id", Some(&binding.thread_id)),
        ("user_id", Some(&binding.user_id)),
        ("session_key", Some(&binding.session_key)),
        ("managed_mode", Some(&binding.managed_mode)),
    ];
    match place {
        _ if let Some(column) = with_nul(&texts) => Verdict::Leave(format!("its {column} holds a NUL character")),
        BindingPlace { there: Some(there), .. } if there == binding => Verdict::Same,
        BindingPlace { there: Some(there), .. } => Verdict::Leave(format!(
            "the topic is already linked to session {}, or has other settings",
            there.session_id
        )),
        BindingPlace { has_session: false, .. } => {
            Verdict::Leave(format!("its session {} does not exist", binding.session_id))
        }
        BindingPlace { bound_to: Some((chat, thread)), .. } => Verdict::Leave(format!(
            "its session {} is already linked to thread {thread} of chat {chat}",
            binding.session_id
        )),
        BindingPlace { bound_to: None, .. } => Verdict::Take,
    }
}

/// Returns the first text with a NUL, which not every store could keep.
fn with_nul(texts: &[(&'static str, Option<&String>)]) -> Option<&'static str> {
    let holds = |text: Option<&String>| text.is_some_and(|text| text.contains('\0'));
    texts.iter().find(|(_, text)| holds(*text)).map(|(column, _)| *column)
}
