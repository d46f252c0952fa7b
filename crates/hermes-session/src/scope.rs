//! Scope: limits whose conversations a caller may see.
//!
//! A conversation is within a scope as a whole or not at all: its first session determines its user and its source. A
//! continuation that an agent made without a user, or a delegate with a source of its own, belongs where the
//! conversation belongs. A conversation without a user is within the scope of no user.

use crate::{GatewayStore, SessionId, Source, StoreError};

/// Limits the conversations that a caller may see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Scope {
    /// All conversations.
    #[default]
    All,
    /// Conversations from one source.
    Source(Source),
    /// Conversations of one user.
    User {
        /// The user id, compared byte by byte.
        user_id: String,
        /// The source. Two platforms may give the same id to two people, so leave it out only where ids are unique
        /// across sources.
        source: Option<Source>,
    },
    /// Conversations of these sessions: the sessions of a chat, as found by [`of_chat`]. An empty list matches nothing.
    Chat(Vec<SessionId>),
}

/// Facts about a conversation that a scope checks.
#[derive(Debug, Clone, Copy)]
pub struct ConversationFacts<'a> {
    /// Source of its first session.
    pub source: &'a Source,
    /// User of its first session.
    pub user_id: Option<&'a str>,
    /// Its sessions.
    pub members: &'a [SessionId],
}

impl Scope {
    /// Returns whether the scope excludes anything.
    pub fn is_bounded(&self) -> bool {
        *self != Self::All
    }

    /// Returns whether a conversation is within the scope.
    pub fn admits(&self, conversation: ConversationFacts<'_>) -> bool {
        match self {
            Self::All => true,
            Self::Source(source) => conversation.source == source,
            Self::User { user_id, source } => {
                conversation.user_id == Some(user_id.as_str())
                    && source.as_ref().is_none_or(|source| conversation.source == source)
            }
            Self::Chat(sessions) => sessions.iter().any(|session| conversation.members.contains(session)),
        }
    }
}

/// Returns the scope of a chat: the sessions that its topics are linked to, and those that the caller knows besides (a
/// gateway knows the sessions of a chat). Any other session is outside.
///
/// # Errors
/// If the store fails.
pub async fn of_chat(
    store: &dyn GatewayStore,
    source: &Source,
    chat_id: &str,
    known: impl IntoIterator<Item = SessionId>,
) -> Result<Scope, StoreError> {
    let mut sessions: Vec<SessionId> = known.into_iter().collect();
    // The agent stores topics of this platform only.
    if source.as_str() == "telegram" {
        let bindings = store.topics().await?.bindings.into_iter();
        sessions.extend(bindings.filter(|binding| binding.chat_id == chat_id).map(|binding| binding.session_id));
    }
    sessions.sort_unstable();
    sessions.dedup();
    Ok(Scope::Chat(sessions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_somebodys_or_nobodys() {
        let (telegram, cli) = (Source::from_stored("telegram"), Source::from_stored("cli"));
        let members = ["a", "b"].map(|id| SessionId::parse(id).unwrap());
        let facts = |user_id| ConversationFacts { source: &telegram, user_id, members: &members };
        let user = |id: &str, source: Option<&Source>| Scope::User { user_id: id.into(), source: source.cloned() };
        let chat = |ids: &[&str]| Scope::Chat(ids.iter().map(|id| SessionId::parse(*id).unwrap()).collect());
        let table = [
            (Scope::All, None, true),
            (Scope::Source(telegram.clone()), None, true),
            (Scope::Source(cli.clone()), Some("7"), false),
            (user("7", None), Some("7"), true),
            (user("7", Some(&telegram)), Some("7"), true),
            (user("7", Some(&cli)), Some("7"), false),
            (user("7", None), Some("77"), false),
            (user("7", None), None, false),
            (user("", None), None, false),
            (chat(&["b", "z"]), None, true),
            (chat(&["z"]), None, false),
            (chat(&[]), Some("7"), false),
        ];
        for (scope, user_id, expect) in table {
            assert_eq!(scope.admits(facts(user_id)), expect, "{scope:?} {user_id:?}");
        }
    }
}
