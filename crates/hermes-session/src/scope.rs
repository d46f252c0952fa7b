//! Scope: whose conversations a caller may see.
//!
//! A conversation is within a scope or it is not, as a whole: its first session tells whose it is and where it comes from. A continuation that
//! an agent made without a user, or a delegate with a source of its own, goes where the conversation goes. What names nobody is nobody's: it is
//! within the scope of no user.

use crate::{GatewayStore, SessionId, Source, StoreError};

/// Whose conversations count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Scope {
    /// Everybody's.
    #[default]
    All,
    /// Those that come from one source.
    Source(Source),
    /// Those of one person.
    User {
        /// The person, byte by byte.
        user_id: String,
        /// Where from. Two platforms may call two people the same: to be left out only where ids are one person's everywhere.
        source: Option<Source>,
    },
    /// Those that these sessions are part of: the sessions of a chat, as [`of_chat`] finds them. No session, no conversation.
    Chat(Vec<SessionId>),
}

/// What a scope asks of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct ConversationFacts<'a> {
    /// Where its first session comes from.
    pub source: &'a Source,
    /// Whose that is.
    pub user_id: Option<&'a str>,
    /// Its sessions.
    pub members: &'a [SessionId],
}

impl Scope {
    /// Whether it leaves anything out.
    pub fn is_bounded(&self) -> bool {
        *self != Self::All
    }

    /// Whether a conversation is within it.
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

/// The scope of a chat: the sessions that its topics lead to, and those that the caller knows besides (a gateway knows where it leads a
/// chat). What nobody knows to be of the chat is not.
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
    // The agent keeps topics of this platform alone.
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
