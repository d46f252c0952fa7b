//! Received messages. Replies are in the module `outbox`.

mod outbox;

pub(super) use outbox::{drop_replies, knows_part, put_part, queue};
pub use outbox::{list as outbound, post, settle, take};

use super::row::require;
use super::{Fields as _, LIST, Odd, ServerRow, Sql, among};
use crate::values;
use hermes_session::extra::{Extra, Scalar};
use hermes_session::live::{Account, Inbound, InboxId, InboxItem, InboxState, Received, RouteKey, TurnId};
use hermes_session::{Conflict, MessageId, SessionId, Timestamp};

const ITEM: &str = "id, account, chat, message_id, route, session_id, payload, state, turn, stored_message, attempts, \
     received_at, settled_at";

/// Implements `receive` of the contract. Of two callers that store the same message at once, the later one fails and
/// tries again.
pub async fn receive<T: Sql>(
    transaction: &T,
    account: &Account,
    batch: &[Inbound],
    cursor: Option<&str>,
    at: Timestamp,
) -> Result<Vec<Received>, T::Failure> {
    for session in batch.iter().filter_map(|inbound| inbound.session.as_ref()) {
        require(transaction, session).await?;
    }
    if let Some(cursor) = cursor {
        let upsert = (transaction.dialect().upsert)("account");
        let sql = format!("INSERT INTO hx_cursor (account, value) VALUES ($1, $2) {upsert} value = $2");
        transaction.run(&sql, values![account.as_str(), cursor]).await?;
    }
    let mut answers = Vec::with_capacity(batch.len());
    for inbound in batch {
        answers.push(receive_one(transaction, account, inbound, at).await?);
    }
    Ok(answers)
}

async fn receive_one<T: Sql>(
    transaction: &T,
    account: &Account,
    inbound: &Inbound,
    at: Timestamp,
) -> Result<Received, T::Failure> {
    if let Some(id) = known(transaction, account, inbound).await? {
        return Ok(Received::Known(id));
    }
    let item = InboxItem {
        id: InboxId(0),
        account: account.clone(),
        inbound: inbound.clone(),
        state: InboxState::Waiting,
        turn: None,
        stored_message: None,
        attempts: 0,
        received_at: at,
        settled_at: None,
    };
    put(transaction, &item).await.map(Received::New)
}

/// Returns the id of a message if it was received before.
pub(super) async fn known<T: Sql>(
    transaction: &T,
    account: &Account,
    inbound: &Inbound,
) -> Result<Option<InboxId>, T::Failure> {
    let sql = "SELECT id FROM hx_inbox WHERE account = $1 AND chat = $2 AND message_id = $3";
    let name = values![account.as_str(), inbound.chat.as_str(), inbound.message_id.as_str()];
    let row = transaction.row(sql, name).await?;
    Ok(row.map(|row| row.try_get(0).map(InboxId)).transpose()?)
}

/// Stores a received message under a new id.
pub(super) async fn put<T: Sql>(transaction: &T, item: &InboxItem) -> Result<InboxId, T::Failure> {
    let sql = "INSERT INTO hx_inbox (account, chat, message_id, route, session_id, payload, state, turn, stored_message, \
         attempts, received_at, settled_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let InboxItem { account, inbound, .. } = item;
    let values = values![
        account.as_str(),
        inbound.chat.as_str(),
        inbound.message_id.as_str(),
        inbound.route.as_ref().map(RouteKey::to_stored),
        inbound.session.as_ref().map(SessionId::as_str),
        inbound.payload.as_str(),
        item.state.as_str(),
        item.turn.map(|turn| turn.0),
        item.stored_message.map(|message| message.0),
        item.attempts,
        item.received_at.seconds(),
        item.settled_at.map(Timestamp::seconds)
    ];
    transaction.insert(sql, values).await.map(InboxId)
}

/// Returns up to `limit` received messages after one, in any state.
pub(super) async fn list<T: Sql>(
    transaction: &T,
    after: Option<InboxId>,
    limit: u32,
) -> Result<Vec<InboxItem>, T::Failure> {
    let sql = format!("SELECT {ITEM} FROM hx_inbox WHERE id > $1 ORDER BY id LIMIT $2");
    let after = after.map_or(i64::MIN, |id| id.0);
    let rows = transaction.rows(&sql, values![after, i64::from(limit)]).await?;
    Ok(rows.iter().map(item).collect::<Result<_, _>>()?)
}

/// Implements `cursor` of the contract.
pub async fn cursor<T: Sql>(transaction: &T, account: &Account) -> Result<Option<String>, T::Failure> {
    let row = transaction.row("SELECT value FROM hx_cursor WHERE account = $1", values![account.as_str()]).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// Implements `waiting` of the contract.
pub async fn waiting<T: Sql>(
    transaction: &T,
    after: Option<InboxId>,
    limit: u32,
) -> Result<Vec<InboxItem>, T::Failure> {
    let sql = format!("SELECT {ITEM} FROM hx_inbox WHERE state = $1 AND id > $2 ORDER BY id LIMIT $3");
    let after = after.map_or(i64::MIN, |id| id.0);
    let rows = transaction.rows(&sql, values![InboxState::Waiting.as_str(), after, i64::from(limit)]).await?;
    Ok(rows.iter().map(item).collect::<Result<_, _>>()?)
}

/// Implements `inbox_item` of the contract.
pub async fn read<T: Sql>(transaction: &T, id: InboxId) -> Result<Option<InboxItem>, T::Failure> {
    let row = transaction.row(&format!("SELECT {ITEM} FROM hx_inbox WHERE id = $1"), values![id.0]).await?;
    Ok(row.as_ref().map(item).transpose()?)
}

/// Gives a received message to a turn, as the source of a message. Fails if it does not wait.
pub(super) async fn take_row<T: Sql>(
    transaction: &T,
    row: InboxId,
    turn: TurnId,
    message: MessageId,
) -> Result<(), T::Failure> {
    let sql = "UPDATE hx_inbox SET state = 'taken', turn = $2, stored_message = $3, attempts = attempts + 1 \
         WHERE id = $1 AND state = 'waiting'";
    if transaction.run(sql, values![row.0, turn.0, message.0]).await? == 0 {
        return Err(Conflict::InboxSettled(row).into());
    }
    let sql = "SELECT message_id FROM hx_inbox WHERE id = $1";
    let platform_id: String = transaction.one(sql, values![row.0]).await?.try_get(0)?;
    // The column of newer agents for it.
    let extra: Extra = [("platform_message_id", Scalar::Text(platform_id))].into_iter().collect();
    let sql = "UPDATE messages SET extra = $2 WHERE id = $1";
    transaction.run(sql, values![message.0, super::row::kept_extra(&extra)]).await.map(drop)
}

/// Marks the received messages of a turn as done.
pub(super) async fn settle_rows<T: Sql>(transaction: &T, turn: TurnId, at: Timestamp) -> Result<(), T::Failure> {
    let sql = "UPDATE hx_inbox SET state = 'done', payload = '', settled_at = $2 WHERE turn = $1 AND state = 'taken'";
    transaction.run(sql, values![turn.0, at.seconds()]).await.map(drop)
}

/// Dismisses the messages that were meant for deleted sessions or taken by their turns, and drops their replies. The
/// turns still exist.
pub(super) async fn forget_sessions<T: Sql>(
    transaction: &T,
    gone: &[SessionId],
    at: Timestamp,
) -> Result<(), T::Failure> {
    for some in gone.chunks(LIST) {
        let (condition, values) = among("session_id", 1, some.iter().map(SessionId::as_str));
        let rows = transaction.rows(&format!("SELECT id FROM hx_turn WHERE {condition}"), values.clone()).await?;
        for row in &rows {
            settle_rows(transaction, TurnId(row.try_get(0)?), at).await?;
        }
        transaction.run(&format!("DELETE FROM hx_outbox WHERE {condition}"), values).await?;
        let (condition, mut values) = among("session_id", 2, some.iter().map(SessionId::as_str));
        values.insert(0, at.seconds().into());
        let sql = format!(
            "UPDATE hx_inbox SET state = 'done', payload = '', settled_at = $1, session_id = NULL WHERE {condition}"
        );
        transaction.run(&sql, values).await?;
    }
    Ok(())
}

/// Implements `forget_mail` of the contract.
pub async fn forget<T: Sql>(transaction: &T, before: Timestamp, limit: u32) -> Result<u64, T::Failure> {
    let mut gone = 0;
    for table in ["hx_inbox", "hx_outbox"] {
        let sql = format!("SELECT id FROM {table} WHERE settled_at < $1 ORDER BY id LIMIT $2");
        let rows = transaction.rows(&sql, values![before.seconds(), i64::from(limit)]).await?;
        let ids: Vec<i64> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
        for some in ids.chunks(LIST) {
            let (condition, values) = among("id", 1, some.iter().copied());
            gone += transaction.run(&format!("DELETE FROM {table} WHERE {condition}"), values).await?;
        }
    }
    Ok(gone)
}

fn item<R: ServerRow>(row: &R) -> Result<InboxItem, Odd> {
    let odd = || Odd("hx_inbox: not a received message".to_owned());
    let route = row.try_get::<Option<String>>(4)?;
    Ok(InboxItem {
        id: InboxId(row.try_get(0)?),
        account: Account::from_stored(row.try_get::<String>(1)?),
        inbound: Inbound {
            chat: row.try_get(2)?,
            message_id: row.try_get(3)?,
            route: route.map(|key| RouteKey::from_stored(&key).ok_or_else(odd)).transpose()?,
            session: row.try_get::<Option<String>>(5)?.map(SessionId::from_stored),
            payload: row.try_get(6)?,
        },
        state: InboxState::from_stored(&row.try_get::<String>(7)?).ok_or_else(odd)?,
        turn: row.try_get::<Option<i64>>(8)?.map(TurnId),
        stored_message: row.try_get::<Option<i64>>(9)?.map(MessageId),
        attempts: row.try_get::<i64>(10)?.try_into().map_err(|_| odd())?,
        received_at: Timestamp::from_seconds(row.try_get(11)?).map_err(|_| odd())?,
        settled_at: row.try_get::<Option<f64>>(12)?.map(Timestamp::from_seconds).transpose().map_err(|_| odd())?,
    })
}
