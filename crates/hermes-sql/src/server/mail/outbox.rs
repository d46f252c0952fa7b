//! Parts of replies, delivered in order for each destination.

use crate::server::{Fields as _, Odd, ServerRow, Sql};
use crate::values;
use hermes_session::live::{
    Account, InboxId, NewOutbound, NewPart, Outbound, OutboundId, OutboundState, Settled, Turn, TurnId,
};
use hermes_session::{Conflict, SessionId, Timestamp};

const COLUMNS: &str = "id, turn, session_id, account, destination, part, parts, body, plain, nonce, state, attempts, \
     doubtful, not_before, holder, platform_id, last_error, created_at, settled_at";

/// Implements `post` of the contract.
pub async fn post<T: Sql>(
    transaction: &T,
    answered: &[InboxId],
    replies: &[NewOutbound],
    at: Timestamp,
) -> Result<Vec<OutboundId>, T::Failure> {
    for row in answered {
        let sql =
            "UPDATE hx_inbox SET state = 'done', payload = '', settled_at = $2 WHERE id = $1 AND state = 'waiting'";
        if transaction.run(sql, values![row.0, at.seconds()]).await? == 0 {
            return Err(Conflict::InboxSettled(*row).into());
        }
    }
    queue(transaction, replies, None, at).await
}

/// Queues replies, which answer a turn if one is named.
pub(in crate::server) async fn queue<T: Sql>(
    transaction: &T,
    replies: &[NewOutbound],
    turn: Option<&Turn>,
    at: Timestamp,
) -> Result<Vec<OutboundId>, T::Failure> {
    let mut ids = Vec::new();
    for reply in replies {
        for (place, content) in (0..).zip(&reply.parts) {
            let part = Outbound {
                id: OutboundId(0),
                turn: turn.map(|turn| turn.id),
                session: turn.map(|turn| turn.session.clone()),
                account: reply.account.clone(),
                destination: reply.destination.clone(),
                part: place,
                parts: u32::try_from(reply.parts.len()).unwrap_or(u32::MAX),
                content: content.clone(),
                state: OutboundState::Waiting,
                attempts: 0,
                doubtful: false,
                not_before: None,
                holder: None,
                platform_id: None,
                last_error: None,
                created_at: at,
                settled_at: None,
            };
            ids.push(put_part(transaction, &part).await?);
        }
    }
    Ok(ids)
}

/// Stores a part under a new id.
pub(in crate::server) async fn put_part<T: Sql>(transaction: &T, part: &Outbound) -> Result<OutboundId, T::Failure> {
    let sql = "INSERT INTO hx_outbox (turn, session_id, account, destination, part, parts, body, plain, nonce, state, attempts, \
         doubtful, not_before, holder, platform_id, last_error, created_at, settled_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";
    let values = values![
        part.turn.map(|turn| turn.0),
        part.session.as_ref().map(SessionId::as_str),
        part.account.as_str(),
        part.destination.as_str(),
        part.part,
        part.parts,
        part.content.body.as_str(),
        part.content.plain.as_deref(),
        part.content.nonce.as_str(),
        part.state.as_str(),
        part.attempts,
        i64::from(part.doubtful),
        part.not_before.map(Timestamp::seconds),
        part.holder.as_deref(),
        part.platform_id.as_deref(),
        part.last_error.as_deref(),
        part.created_at.seconds(),
        part.settled_at.map(Timestamp::seconds)
    ];
    transaction.insert(sql, values).await.map(OutboundId)
}

/// Returns whether there is a part of the same [identity](hermes_session::live::LiveRecord::identity).
pub(in crate::server) async fn knows_part<T: Sql>(transaction: &T, part: &Outbound) -> Result<bool, T::Failure> {
    // Every state, so that the index serves.
    let sql = "SELECT 1 FROM hx_outbox WHERE account = $1 AND state IN ('waiting', 'sending', 'sent', 'refused', 'given_up') \
         AND destination = $2 AND nonce = $3 AND part = $4 AND created_at = $5";
    let values = values![
        part.account.as_str(),
        part.destination.as_str(),
        part.content.nonce.as_str(),
        part.part,
        part.created_at.seconds()
    ];
    Ok(transaction.row(sql, values).await?.is_some())
}

/// Implements `take_outbound` of the contract. A part that another deliverer takes at the same moment is left to it.
pub async fn take<T: Sql>(
    transaction: &T,
    account: &Account,
    holder: &str,
    limit: u32,
    now: Timestamp,
) -> Result<Vec<Outbound>, T::Failure> {
    let sql = format!(
        "SELECT {COLUMNS} FROM hx_outbox WHERE id IN (SELECT min(id) FROM hx_outbox WHERE account = $1 \
         AND state IN ('waiting', 'sending') GROUP BY destination) ORDER BY id"
    );
    let mut taken = Vec::new();
    for row in transaction.rows(&sql, values![account.as_str()]).await? {
        let part = part(&row)?;
        if taken.len() >= limit as usize {
            break;
        }
        if !part.is_due(holder, now) {
            continue;
        }
        let (state, attempts) = (part.state, part.attempts);
        let part = part.taken(holder);
        let sql = "UPDATE hx_outbox SET state = $2, attempts = $3, doubtful = $4, holder = $5 \
             WHERE id = $1 AND state = $6 AND attempts = $7";
        let values = values![
            part.id.0,
            part.state.as_str(),
            part.attempts,
            i64::from(part.doubtful),
            holder,
            state.as_str(),
            attempts
        ];
        if transaction.run(sql, values).await? > 0 {
            taken.push(part);
        }
    }
    Ok(taken)
}

/// Implements `settle_outbound` of the contract.
pub async fn settle<T: Sql>(
    transaction: &T,
    id: OutboundId,
    attempt: u32,
    how: &Settled,
    now: Timestamp,
) -> Result<bool, T::Failure> {
    let row = transaction.row(&format!("SELECT {COLUMNS} FROM hx_outbox WHERE id = $1"), values![id.0]).await?;
    let found = row.as_ref().map(part).transpose()?;
    let Some(part) = found.and_then(|part| part.settled(attempt, how, now)) else { return Ok(false) };
    let sql = "UPDATE hx_outbox SET state = $2, doubtful = $3, not_before = $4, platform_id = $5, last_error = $6, \
         settled_at = $7 WHERE id = $1 AND state = 'sending' AND attempts = $8";
    let values = values![
        id.0,
        part.state.as_str(),
        i64::from(part.doubtful),
        part.not_before.map(Timestamp::seconds),
        part.platform_id,
        part.last_error,
        part.settled_at.map(Timestamp::seconds),
        attempt
    ];
    Ok(transaction.run(sql, values).await? > 0)
}

/// Drops the parts of a turn that were not delivered.
pub(in crate::server) async fn drop_replies<T: Sql>(transaction: &T, turn: TurnId) -> Result<(), T::Failure> {
    let sql = "DELETE FROM hx_outbox WHERE turn = $1 AND state IN ('waiting', 'sending')";
    transaction.run(sql, values![turn.0]).await.map(drop)
}

/// Implements `outbound` of the contract.
pub async fn list<T: Sql>(transaction: &T, after: Option<OutboundId>, limit: u32) -> Result<Vec<Outbound>, T::Failure> {
    let sql = format!("SELECT {COLUMNS} FROM hx_outbox WHERE id > $1 ORDER BY id LIMIT $2");
    let after = after.map_or(i64::MIN, |id| id.0);
    let rows = transaction.rows(&sql, values![after, i64::from(limit)]).await?;
    Ok(rows.iter().map(part).collect::<Result<_, _>>()?)
}

fn part<R: ServerRow>(row: &R) -> Result<Outbound, Odd> {
    let odd = || Odd("hx_outbox: not a part of a reply".to_owned());
    let number = |index: usize| row.try_get::<i64>(index)?.try_into().map_err(|_| odd());
    let time = |index: usize| -> Result<Option<Timestamp>, Odd> {
        row.try_get::<Option<f64>>(index)?.map(Timestamp::from_seconds).transpose().map_err(|_| odd())
    };
    Ok(Outbound {
        id: OutboundId(row.try_get(0)?),
        turn: row.try_get::<Option<i64>>(1)?.map(TurnId),
        session: row.try_get::<Option<String>>(2)?.map(SessionId::from_stored),
        account: Account::from_stored(row.try_get::<String>(3)?),
        destination: row.try_get(4)?,
        part: number(5)?,
        parts: number(6)?,
        content: NewPart { body: row.try_get(7)?, plain: row.try_get(8)?, nonce: row.try_get(9)? },
        state: OutboundState::from_stored(&row.try_get::<String>(10)?).ok_or_else(odd)?,
        attempts: number(11)?,
        doubtful: row.try_get(12)?,
        not_before: time(13)?,
        holder: row.try_get(14)?,
        platform_id: row.try_get(15)?,
        last_error: row.try_get(16)?,
        created_at: time(17)?.ok_or_else(odd)?,
        settled_at: time(18)?,
    })
}
