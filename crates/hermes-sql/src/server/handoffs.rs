//! Handoffs: the agent's columns and our side table.

use super::messages::root;
use super::requests::once;
use super::row::{self, IN_TRANSCRIPT, kept, lock};
use super::{Fields as _, Odd, ServerRow, Sql, leases, mail, routes, turns, undo};
use crate::values;
use hermes_session::gateway::{Beside, Claim, Claimed, Handoff, HandoffEnd, HandoffProgress, HandoffRequest};
use hermes_session::live::{Acquired, Holder, Kinds, Resource, Take, Terms, TurnId};
use hermes_session::{Conflict, HandoffColumns, MessageId, Request, SessionId, StoreError, Timestamp, change};
use std::time::Duration;

const COLUMNS: &str = "s.id, s.handoff_state, s.handoff_platform, s.handoff_error, b.state, b.requested_at, b.lease_until, b.claims, \
     s.started_at, b.expires_at, b.claimed_by, b.destination, b.thread, b.turn, b.synthetic_from \
     FROM sessions s LEFT JOIN hx_handoff b ON b.session_id = s.id";

/// Implements `handoff` of the contract.
pub async fn read<T: Sql>(transaction: &T, id: &SessionId) -> Result<Option<Handoff>, T::Failure> {
    let row = transaction.row(&format!("SELECT {COLUMNS} WHERE s.id = $1"), values![id.as_str()]).await?;
    Ok(row.map(|row| handoff(&row)).transpose()?)
}

/// Implements `waiting_handoffs` of the contract.
pub async fn waiting<T: Sql>(transaction: &T, now: Timestamp) -> Result<Vec<Handoff>, T::Failure> {
    let sql = format!("SELECT {COLUMNS} WHERE s.handoff_state IN ('pending', 'running')");
    let mut found = Vec::new();
    for row in transaction.rows(&sql, values![]).await? {
        let (handoff, started) = (handoff(&row)?, row.try_get::<f64>(8)?);
        if handoff.is_waiting(now) {
            found.push((handoff.requested_at.map_or(started, Timestamp::seconds), handoff));
        }
    }
    found.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.session.cmp(&other.1.session)));
    Ok(found.into_iter().map(|(_, handoff)| handoff).collect())
}

/// Implements `request_handoff` of the contract.
pub async fn request<T: Sql>(
    transaction: &T,
    id: &SessionId,
    what: &HandoffRequest,
    request: &Request,
) -> Result<bool, T::Failure> {
    once(transaction, request, id, || change::request_handoff(id, what), async {
        let Some(next) = locked(transaction, id).await?.requested(what, request.at) else { return Ok(false) };
        let conversation = root(transaction, id).await?;
        if let Some(turn) = turns::of_conversation(transaction, &conversation).await? {
            return Err(Conflict::TurnOpen { session: id.clone(), turn: turn.id }.into());
        }
        write(transaction, Some(&next)).await
    })
    .await
}

/// Implements `claim_handoff` of the contract.
pub async fn claim<T: Sql>(
    transaction: &T,
    id: &SessionId,
    lease: Duration,
    who: Option<&Holder>,
    request: &Request,
) -> Result<Option<Claimed>, T::Failure> {
    once(transaction, request, id, || change::claim_handoff(id), async {
        let Some(next) = locked(transaction, id).await?.claimed(lease, who, request.at) else { return Ok(None) };
        let mut fence = None;
        if let Some(who) = who {
            let terms = Terms { ttl: lease, take: Take::Idle };
            match leases::acquire(transaction, &Resource::Conversation(id.clone()), who, terms).await? {
                Acquired::Got(grant) => fence = Some(grant.lease.fence),
                Acquired::Held(_) => return Ok(None),
            }
        }
        write(transaction, Some(&next)).await?;
        Ok(Some(Claimed { claim: Claim(next.claims), fence }))
    })
    .await
}

/// Implements `advance_handoff` of the contract.
pub async fn advance<T: Sql>(
    transaction: &T,
    id: &SessionId,
    claim: Claim,
    progress: &HandoffProgress,
    request: &Request,
) -> Result<bool, T::Failure> {
    once(transaction, request, id, || change::advance_handoff(id, claim, progress), async {
        let next = locked(transaction, id).await?.advanced(claim, progress, request.at);
        write(transaction, next.as_ref()).await
    })
    .await
}

/// Implements `expire_handoffs` of the contract.
pub async fn expire<T: Sql>(transaction: &T, now: Timestamp) -> Result<Vec<SessionId>, T::Failure> {
    let sql = format!("SELECT {COLUMNS} WHERE s.handoff_state = 'pending'");
    let mut expired = Vec::new();
    for row in transaction.rows(&sql, values![]).await? {
        let found = handoff(&row)?;
        if !found.is_expired(now) {
            continue;
        }
        // Read again under the lock: a worker may have claimed it meanwhile.
        if let Some(next) = locked(transaction, &found.session).await?.expired(now) {
            write(transaction, Some(&next)).await?;
            expired.push(next.session);
        }
    }
    expired.sort();
    Ok(expired)
}

/// Implements `end_handoff` of the contract.
pub async fn end<T: Sql>(
    transaction: &T,
    id: &SessionId,
    claim: Option<Claim>,
    end: &HandoffEnd,
    request: &Request,
) -> Result<bool, T::Failure> {
    if let HandoffEnd::Arrived(switch) = end {
        routes::lock_kin_for(transaction, switch).await?;
    }
    once(transaction, request, id, || change::end_handoff(id, claim, end), async {
        let handoff = locked(transaction, id).await?;
        let Some(next) = handoff.clone().ended(claim, end, request.at) else { return Ok(false) };
        match end {
            HandoffEnd::Completed => {}
            HandoffEnd::Arrived(switch) => routes::bind(transaction, switch, request.at).await?,
            HandoffEnd::Failed(_) => take_back(transaction, &handoff, request.at).await?,
        }
        if let Some(fence) = request.fence {
            let conversation = Resource::Conversation(root(transaction, id).await?);
            leases::release(transaction, &conversation, fence).await?;
        }
        write(transaction, Some(&next)).await
    })
    .await
}

/// Undoes what a handoff said: messages, turn and replies.
async fn take_back<T: Sql>(transaction: &T, handoff: &Handoff, at: Timestamp) -> Result<(), T::Failure> {
    if let Some(id) = handoff.turn {
        mail::drop_replies(transaction, id).await?;
        mail::settle_rows(transaction, id, at).await?;
        if let Some(turn) = turns::read(transaction, id).await? {
            turns::take(transaction, &turn).await?;
        }
    }
    let Some(from) = handoff.synthetic_from else { return Ok(()) };
    let sql = format!("SELECT 1 FROM messages WHERE session_id = $1 AND id = $2 AND {IN_TRANSCRIPT}");
    if transaction.row(&sql, values![handoff.session.as_str(), from.0]).await?.is_some() {
        undo::take_back(transaction, &handoff.session, from, at).await?;
    }
    Ok(())
}

/// Locks a session until the end of the transaction and returns its handoff.
async fn locked<T: Sql>(transaction: &T, id: &SessionId) -> Result<Handoff, T::Failure> {
    lock(transaction, id).await?;
    read(transaction, id).await?.ok_or_else(|| StoreError::no_session(id).into())
}

/// Writes the new state of a handoff. Returns `false` if there was nothing to write.
async fn write<T: Sql>(transaction: &T, handoff: Option<&Handoff>) -> Result<bool, T::Failure> {
    let Some(handoff) = handoff else { return Ok(false) };
    let (columns, beside) = handoff.to_stored();
    let id = handoff.session.as_str();
    transaction
        .run(
            "UPDATE sessions SET handoff_state = $2, handoff_platform = $3, handoff_error = $4 WHERE id = $1",
            values![id, columns.state, kept(columns.platform.as_deref()), kept(columns.error.as_deref())],
        )
        .await?;
    let upsert = (transaction.dialect().upsert)("session_id");
    let sql = format!(
        "INSERT INTO hx_handoff (session_id, state, requested_at, lease_until, claims, expires_at, claimed_by, destination, thread, \
         turn, synthetic_from) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) {upsert} state = $2, requested_at = $3, \
         lease_until = $4, claims = $5, expires_at = $6, claimed_by = $7, destination = $8, thread = $9, turn = $10, \
         synthetic_from = $11"
    );
    let values = values![
        id,
        beside.state,
        beside.requested_at.map(Timestamp::seconds),
        beside.lease_until.map(Timestamp::seconds),
        beside.claims,
        beside.expires_at.map(Timestamp::seconds),
        beside.claimed_by,
        beside.destination,
        beside.thread,
        beside.turn.map(|turn| turn.0),
        beside.synthetic_from.map(|message| message.0)
    ];
    transaction.run(&sql, values).await?;
    transaction.note(&handoff.session, Kinds::SESSION);
    Ok(true)
}

fn handoff<R: ServerRow>(row: &R) -> Result<Handoff, Odd> {
    let time = |index: usize| -> Result<Option<Timestamp>, Odd> {
        let odd = |_| Odd("hx_handoff: not a time".to_owned());
        row.try_get::<Option<f64>>(index)?.map(|time| Timestamp::from_seconds(time).map_err(odd)).transpose()
    };
    let columns = HandoffColumns { state: row::given(row, 1), platform: row::given(row, 2), error: row::given(row, 3) };
    let beside = match row.try_get::<Option<String>>(4)? {
        Some(state) => {
            let turn: Option<i64> = row.try_get(13)?;
            let synthetic_from: Option<i64> = row.try_get(14)?;
            Some(Beside {
                state,
                requested_at: time(5)?,
                lease_until: time(6)?,
                claims: row.try_get(7)?,
                expires_at: time(9)?,
                claimed_by: row.try_get(10)?,
                destination: row.try_get(11)?,
                thread: row.try_get(12)?,
                turn: turn.map(TurnId),
                synthetic_from: synthetic_from.map(MessageId),
            })
        }
        None => None,
    };
    Ok(Handoff::from_stored(row.id(0)?, columns, beside))
}
