//! Topics of a chat: which thread of a person's chat leads to which session, as the agent keeps it for Telegram.
//!
//! The agent makes these tables when a person asks for topics, not before. Here they are only carried from one store to another;
//! whether a row can be taken is decided here, once for all stores.

use crate::{Invalid, MAX_ID_BYTES, SessionId, Timestamp, Unreadable};

/// All that a store knows of topics, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topics {
    /// Chats in which topics are, or were, switched on; by chat, byte by byte.
    pub modes: Vec<TopicMode>,
    /// Which topic leads where; by chat, then thread, byte by byte.
    pub bindings: Vec<TopicBinding>,
    /// Rows that can't be read.
    pub unreadable: Vec<Unreadable>,
}

/// A chat in which topics are, or were, switched on. The names are those of the agent's columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicMode {
    /// The chat.
    pub chat_id: String,
    /// Whose it is.
    pub user_id: String,
    /// Whether topics are on. Stored as a number; all but 0 are yes.
    pub enabled: bool,
    /// When they were switched on first.
    pub activated_at: Timestamp,
    /// When something changed last.
    pub updated_at: Timestamp,
    /// Whether the platform allows topics in it, if that was asked.
    pub has_topics_enabled: Option<bool>,
    /// Whether its people may make topics, if that was asked.
    pub allows_users_to_create_topics: Option<bool>,
    /// When that was asked.
    pub capability_checked_at: Option<Timestamp>,
    /// The message that explains topics.
    pub intro_message_id: Option<String>,
    /// The message that is pinned.
    pub pinned_message_id: Option<String>,
}

/// A topic and the session it leads to. A session has one topic at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicBinding {
    /// The chat.
    pub chat_id: String,
    /// The thread in it.
    pub thread_id: String,
    /// Whose it is.
    pub user_id: String,
    /// The route that the gateway knows the topic by.
    pub session_key: String,
    /// Where it leads.
    pub session_id: SessionId,
    /// `auto`, or how else it is kept up.
    pub managed_mode: String,
    /// When it was linked first.
    pub linked_at: Timestamp,
    /// When something changed last.
    pub updated_at: Timestamp,
}

/// A change of topics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TopicChange {
    /// Topics will be used: a store that makes its tables for them on demand makes them now. Nothing else changes.
    Prepare,
    /// Topics are on in a chat. What is not known of the platform stays as it was.
    On {
        /// The chat.
        chat_id: String,
        /// Whose it is.
        user_id: String,
        /// Whether the platform allows topics in it.
        has_topics_enabled: Option<bool>,
        /// Whether its people may make topics.
        allows_users_to_create_topics: Option<bool>,
    },
    /// Topics are off in a chat; nothing happens if they never were on.
    Off {
        /// The chat.
        chat_id: String,
        /// Whether its topics lead nowhere any more.
        clears: bool,
    },
    /// A topic leads to a session.
    Bind {
        /// The chat.
        chat_id: String,
        /// The thread in it.
        thread_id: String,
        /// Whose it is.
        user_id: String,
        /// The route that the gateway knows the topic by.
        session_key: String,
        /// Where it leads.
        session_id: SessionId,
        /// `auto`, or how else it is kept up.
        managed_mode: String,
    },
}

impl TopicChange {
    /// Sees that every store can keep it: names of at most 255 bytes, and no NUL.
    ///
    /// # Errors
    /// What can't be kept.
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
    /// The mode of a chat after topics were switched on.
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

    /// The mode of a chat after topics were switched off.
    #[must_use]
    pub fn off(self, at: Timestamp) -> Self {
        Self { enabled: false, updated_at: at, ..self }
    }
}

/// What became of topics that were to be taken.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TopicsImported {
    /// Rows that were put in.
    pub taken: u64,
    /// Rows that were there already.
    pub same: u64,
    /// Rows that were not taken, and why; what was in their place stays as it is.
    pub left: Vec<TopicLeft>,
}

/// A row that was not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicLeft {
    /// The chat.
    pub chat_id: String,
    /// The thread; nothing for the mode of a chat.
    pub thread_id: Option<String>,
    /// Why, as the end of a sentence.
    pub why: String,
}

/// What to do with a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Put it in.
    Take,
    /// It is there.
    Same,
    /// Leave it out, for this reason.
    Leave(String),
}

impl TopicsImported {
    /// Counts the mode of a chat; whether to put it in.
    pub fn count_mode(&mut self, mode: &TopicMode, verdict: Verdict) -> bool {
        self.count(&mode.chat_id, None, verdict)
    }

    /// Counts a binding; whether to put it in.
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

/// What to do with the mode of a chat, where `there` is what the store has for that chat. Providers ask this of each row.
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
        Some(_) => Verdict::Leave("the chat is there with other settings".into()),
    }
}

/// What a store has where a binding should go.
#[derive(Debug, Clone, Default)]
pub struct BindingPlace {
    /// The binding of the same chat and thread.
    pub there: Option<TopicBinding>,
    /// Whether the session is there.
    pub has_session: bool,
    /// The chat and thread that the session is bound to.
    pub bound_to: Option<(String, String)>,
}

/// What to do with a binding. Providers ask this of each row.
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
        BindingPlace { there: Some(there), .. } => {
            Verdict::Leave(format!("the topic leads to session {} there, or is kept up otherwise", there.session_id))
        }
        BindingPlace { has_session: false, .. } => {
            Verdict::Leave(format!("its session {} is not there", binding.session_id))
        }
        BindingPlace { bound_to: Some((chat, thread)), .. } => Verdict::Leave(format!(
            "its session {} is bound to thread {thread} of chat {chat} already",
            binding.session_id
        )),
        BindingPlace { bound_to: None, .. } => Verdict::Take,
    }
}

/// The first text with a NUL, which not every store could keep.
fn with_nul(texts: &[(&'static str, Option<&String>)]) -> Option<&'static str> {
    let holds = |text: Option<&String>| text.is_some_and(|text| text.contains('\0'));
    texts.iter().find(|(_, text)| holds(*text)).map(|(column, _)| *column)
}
