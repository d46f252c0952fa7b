//! Topics of chats.

use super::row::require;
use super::{Fields as _, Odd, ServerRow, Sql};
use crate::values;
use hermes_session::topics::{BindingPlace, judge_binding, judge_mode};
use hermes_session::{Conflict, SessionId, Timestamp, TopicBinding, TopicChange, TopicMode, Topics, TopicsImported};

const MODE: &str = "chat_id, user_id, enabled, activated_at, updated_at, has_topics_enabled, allows_users_to_create_topics, \
     capability_checked_at, intro_message_id, pinned_message_id";
const BINDING: &str = "chat_id, thread_id, user_id, session_key, session_id, managed_mode, linked_at, updated_at";

/// Reads all modes and bindings of topics.
pub async fn read<T: Sql>(transaction: &T) -> Result<Topics, T::Failure> {
    let modes =
        transaction.rows(&format!("SELECT {MODE} FROM telegram_dm_topic_mode ORDER BY chat_id"), values![]).await?;
    let bindings = format!("SELECT {BINDING} FROM telegram_dm_topic_bindings ORDER BY chat_id, thread_id");
    let bindings = transaction.rows(&bindings, values![]).await?;
    Ok(Topics {
        modes: modes.iter().map(mode).collect::<Result<_, _>>()?,
        bindings: bindings.iter().map(binding).collect::<Result<_, _>>()?,
        unreadable: Vec::new(),
    })
}

/// Imports topics.
pub async fn import<T: Sql>(transaction: &T, topics: &Topics) -> Result<TopicsImported, T::Failure> {
    transaction.lock_kin().await?;
    let mut imported = TopicsImported::default();
    for new in &topics.modes {
        let sql = format!("SELECT {MODE} FROM telegram_dm_topic_mode WHERE chat_id = $1");
        let there = match new.chat_id.contains('\0') {
            true => None,
            false => transaction.row(&sql, values![new.chat_id.as_str()]).await?.as_ref().map(mode).transpose()?,
        };
        if imported.count_mode(new, judge_mode(new, there.as_ref())) {
            put_mode(transaction, new).await?;
        }
    }
    for new in &topics.bindings {
        let place = place(transaction, new).await?;
        if imported.count_binding(new, judge_binding(new, &place)) {
            put_binding(transaction, new).await?;
        }
    }
    Ok(imported)
}

/// Implements `change_topics` of the contract.
pub async fn change<T: Sql>(transaction: &T, change: &TopicChange, at: Timestamp) -> Result<(), T::Failure> {
    transaction.lock_kin().await?;
    match change {
        // The tables are part of the schema.
        TopicChange::Prepare => Ok(()),
        TopicChange::On { chat_id, user_id, has_topics_enabled, allows_users_to_create_topics } => {
            let there = mode_of(transaction, chat_id).await?;
            let capabilities = (*has_topics_enabled, *allows_users_to_create_topics);
            set_mode(transaction, &TopicMode::on(there, chat_id, user_id, capabilities, at)).await
        }
        TopicChange::Off { chat_id, clears } => {
            if let Some(there) = mode_of(transaction, chat_id).await? {
                set_mode(transaction, &there.off(at)).await?;
            }
            if *clears {
                let sql = "DELETE FROM telegram_dm_topic_bindings WHERE chat_id = $1";
                transaction.run(sql, values![chat_id.as_str()]).await?;
            }
            Ok(())
        }
        TopicChange::Bind { chat_id, thread_id, user_id, session_key, session_id, managed_mode } => {
            require(transaction, session_id).await?;
            if let Some(other) = binding_of(transaction, session_id).await?
                && (&other.chat_id, &other.thread_id) != (chat_id, thread_id)
            {
                let (chat_id, thread_id) = (other.chat_id, other.thread_id);
                return Err(Conflict::TopicTaken { session: session_id.clone(), chat_id, thread_id }.into());
            }
            let there = binding_at(transaction, chat_id, thread_id).await?;
            let sql = "DELETE FROM telegram_dm_topic_bindings WHERE chat_id = $1 AND thread_id = $2";
            transaction.run(sql, values![chat_id.as_str(), thread_id.as_str()]).await?;
            let binding = TopicBinding {
                chat_id: chat_id.clone(),
                thread_id: thread_id.clone(),
                user_id: user_id.clone(),
                session_key: session_key.clone(),
                session_id: session_id.clone(),
                managed_mode: managed_mode.clone(),
                linked_at: there.map_or(at, |there| there.linked_at),
                updated_at: at,
            };
            put_binding(transaction, &binding).await
        }
    }
}

/// Implements `topic_mode` of the contract.
pub async fn mode_of<T: Sql>(transaction: &T, chat_id: &str) -> Result<Option<TopicMode>, T::Failure> {
    let sql = format!("SELECT {MODE} FROM telegram_dm_topic_mode WHERE chat_id = $1");
    let row = transaction.row(&sql, values![chat_id]).await?;
    Ok(row.as_ref().map(mode).transpose()?)
}

/// Implements `topic` of the contract.
pub async fn binding_at<T: Sql>(
    transaction: &T,
    chat_id: &str,
    thread_id: &str,
) -> Result<Option<TopicBinding>, T::Failure> {
    let sql = format!("SELECT {BINDING} FROM telegram_dm_topic_bindings WHERE chat_id = $1 AND thread_id = $2");
    let row = transaction.row(&sql, values![chat_id, thread_id]).await?;
    Ok(row.as_ref().map(binding).transpose()?)
}

/// Implements `topic_of` of the contract.
pub async fn binding_of<T: Sql>(transaction: &T, session: &SessionId) -> Result<Option<TopicBinding>, T::Failure> {
    let sql = format!("SELECT {BINDING} FROM telegram_dm_topic_bindings WHERE session_id = $1");
    let row = transaction.row(&sql, values![session.as_str()]).await?;
    Ok(row.as_ref().map(binding).transpose()?)
}

async fn set_mode<T: Sql>(transaction: &T, mode: &TopicMode) -> Result<(), T::Failure> {
    let sql = "DELETE FROM telegram_dm_topic_mode WHERE chat_id = $1";
    transaction.run(sql, values![mode.chat_id.as_str()]).await?;
    put_mode(transaction, mode).await
}

/// Reads the current state of the place of a new binding.
async fn place<T: Sql>(transaction: &T, new: &TopicBinding) -> Result<BindingPlace, T::Failure> {
    if [&new.chat_id, &new.thread_id].iter().any(|text| text.contains('\0')) {
        return Ok(BindingPlace::default());
    }
    let sql = format!("SELECT {BINDING} FROM telegram_dm_topic_bindings WHERE chat_id = $1 AND thread_id = $2");
    let there = transaction.row(&sql, values![new.chat_id.as_str(), new.thread_id.as_str()]).await?;
    let sql = "SELECT chat_id, thread_id FROM telegram_dm_topic_bindings WHERE session_id = $1";
    let bound_to = transaction.row(sql, values![new.session_id.as_str()]).await?;
    Ok(BindingPlace {
        there: there.as_ref().map(binding).transpose()?,
        has_session: require(transaction, &new.session_id).await.is_ok(),
        bound_to: match bound_to {
            Some(row) => Some((row.try_get(0)?, row.try_get(1)?)),
            None => None,
        },
    })
}

async fn put_mode<T: Sql>(transaction: &T, mode: &TopicMode) -> Result<(), T::Failure> {
    let sql = format!("INSERT INTO telegram_dm_topic_mode ({MODE}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)");
    transaction
        .run(
            &sql,
            values![
                mode.chat_id.as_str(),
                mode.user_id.as_str(),
                i64::from(mode.enabled),
                mode.activated_at.seconds(),
                mode.updated_at.seconds(),
                mode.has_topics_enabled.map(i64::from),
                mode.allows_users_to_create_topics.map(i64::from),
                mode.capability_checked_at.map(Timestamp::seconds),
                mode.intro_message_id.as_deref(),
                mode.pinned_message_id.as_deref()
            ],
        )
        .await
        .map(drop)
}

async fn put_binding<T: Sql>(transaction: &T, binding: &TopicBinding) -> Result<(), T::Failure> {
    let sql = format!("INSERT INTO telegram_dm_topic_bindings ({BINDING}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)");
    transaction
        .run(
            &sql,
            values![
                binding.chat_id.as_str(),
                binding.thread_id.as_str(),
                binding.user_id.as_str(),
                binding.session_key.as_str(),
                binding.session_id.as_str(),
                binding.managed_mode.as_str(),
                binding.linked_at.seconds(),
                binding.updated_at.seconds()
            ],
        )
        .await
        .map(drop)
}

fn mode<R: ServerRow>(row: &R) -> Result<TopicMode, Odd> {
    let flag = |index: usize| row.try_get::<Option<i64>>(index).map(|flag| flag.map(|flag| flag != 0));
    let checked: Option<f64> = row.try_get(7)?;
    Ok(TopicMode {
        chat_id: row.try_get(0)?,
        user_id: row.try_get(1)?,
        enabled: flag(2)? == Some(true),
        activated_at: time(row, 3)?,
        updated_at: time(row, 4)?,
        has_topics_enabled: flag(5)?,
        allows_users_to_create_topics: flag(6)?,
        capability_checked_at: checked.map(|_| time(row, 7)).transpose()?,
        intro_message_id: row.try_get(8)?,
        pinned_message_id: row.try_get(9)?,
    })
}

fn binding<R: ServerRow>(row: &R) -> Result<TopicBinding, Odd> {
    Ok(TopicBinding {
        chat_id: row.try_get(0)?,
        thread_id: row.try_get(1)?,
        user_id: row.try_get(2)?,
        session_key: row.try_get(3)?,
        session_id: row.id(4)?,
        managed_mode: row.try_get(5)?,
        linked_at: time(row, 6)?,
        updated_at: time(row, 7)?,
    })
}

fn time<R: ServerRow>(row: &R, index: usize) -> Result<Timestamp, Odd> {
    Timestamp::from_seconds(row.try_get(index)?)
        .map_err(|_| Odd(format!("topics, column {}: is not a time", index + 1)))
}
