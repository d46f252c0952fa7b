//! Topics of a chat on Telegram: the session that each thread belongs to. Ids of chats, people and threads are text,
//! whatever type they arrive as.

use crate::call::{Answer, Call, NONE, list, or_no_reference, yes};
use crate::fail::Fail;
use crate::listing;
use hermes_session::gateway::unlinked_sessions;
use hermes_session::{Conflict, SessionId, Source, StoreError, TopicChange};
use hermes_wire::{rpc, to_string};

/// The source of the agent's Telegram chats.
const TELEGRAM: &str = "telegram";

/// `apply_telegram_topic_migration`: creates the tables of topics, which are otherwise created with their first row.
pub(crate) async fn migrate(call: &Call<'_>) -> Answer {
    call.store.change_topics(&TopicChange::Prepare, call.now).await?;
    Ok(NONE.into())
}

pub(crate) async fn enable(call: &Call<'_>) -> Answer {
    let capability = |name: &str| call.args.is_given(name).then(|| call.args.flag(name));
    let change = TopicChange::On {
        chat_id: name(call, "chat_id")?,
        user_id: name(call, "user_id")?,
        has_topics_enabled: capability("has_topics_enabled"),
        allows_users_to_create_topics: capability("allows_users_to_create_topics"),
    };
    call.store.change_topics(&change, call.now).await?;
    Ok(NONE.into())
}

pub(crate) async fn disable(call: &Call<'_>) -> Answer {
    let change = TopicChange::Off { chat_id: name(call, "chat_id")?, clears: call.args.flag("clear_bindings") };
    call.store.change_topics(&change, call.now).await?;
    Ok(NONE.into())
}

pub(crate) async fn is_enabled(call: &Call<'_>) -> Answer {
    let (chat, user) = (name(call, "chat_id")?, name(call, "user_id")?);
    let mode = call.store.topic_mode(&chat).await?;
    yes(mode.is_some_and(|mode| mode.enabled && mode.user_id == user))
}

pub(crate) async fn bind(call: &Call<'_>) -> Answer {
    let session = SessionId::parse(name(call, "session_id")?).map_err(|_| Fail::no_such_reference())?;
    let change = TopicChange::Bind {
        chat_id: name(call, "chat_id")?,
        thread_id: name(call, "thread_id")?,
        user_id: name(call, "user_id")?,
        session_key: name(call, "session_key")?,
        session_id: session,
        managed_mode: name(call, "managed_mode")?,
    };
    match call.store.change_topics(&change, call.now).await {
        Err(StoreError::Conflict(Conflict::TopicTaken { .. })) => {
            Err(Fail::value("session is already linked to another Telegram topic"))
        }
        done => or_no_reference(done).map(|()| NONE.into()),
    }
}

pub(crate) async fn binding(call: &Call<'_>) -> Answer {
    let found = call.store.topic(&name(call, "chat_id")?, &name(call, "thread_id")?).await?;
    Ok(found.map_or_else(|| NONE.into(), |binding| to_string(&rpc::TopicBinding::from(&binding))))
}

pub(crate) async fn is_linked(call: &Call<'_>) -> Answer {
    let Ok(id) = SessionId::parse(name(call, "session_id")?) else { return yes(false) };
    yes(call.store.topic_of(&id).await?.is_some())
}

/// `list_unlinked_telegram_sessions_for_user`: a person's sessions that no topic is bound to, most recently active
/// first.
pub(crate) async fn unlinked(call: &Call<'_>) -> Answer {
    let limit = usize::try_from(call.args.limit("limit")?).unwrap_or(usize::MAX);
    let source = Source::from_stored(TELEGRAM);
    let summaries = unlinked_sessions(call.store, &source, &name(call, "user_id")?, limit).await?;
    Ok(list(listing::rich_rows(call, &summaries).await?))
}

/// Returns the argument converted like Python's `str` does.
fn name(call: &Call<'_>, parameter: &str) -> Result<String, Fail> {
    let value = call.args.value(parameter);
    match value.0 {
        "null" => Ok("None".into()),
        "true" => Ok("True".into()),
        "false" => Ok("False".into()),
        _ => Ok(value.text()?.unwrap_or_default()),
    }
}
