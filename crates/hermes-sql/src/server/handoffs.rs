//! Handoffs: the agent's columns and our side table.

use super::requests::once;
use super::row::{self, kept, lock};
use super::{Fields as _, Odd, ServerRow, Sql};
use crate::values;
use hermes_session::gateway::{Beside, Claim, Claimed, Handoff, HandoffEnd, HandoffProgress, HandoffRequest};
use hermes_session::live::Holder;
use hermes_session::{HandoffColumns, Request, SessionId, StoreError, Timestamp, change};
use std::time::Duration;

const COLUMNS: &str = "s.id, s.handoff_state, s.handoff_platform, s.handoff_error, b.state, b.requested_at, b.lease_until, b.claims, s.started_at \
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
        let next = locked(transaction, id).await?.requested(what, request.at);
        write(transaction, next.as_ref()).await
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
        let next = locked(transaction, id).await?.claimed(lease, who, request.at);
        write(transaction, next.as_ref()).await?;
        Ok(next.map(|next| Claimed { claim: Claim(next.claims), fence: None }))
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
    once(transaction, request, id, || change::end_handoff(id, claim, end), async {
        let next = locked(transaction, id).await?.ended(claim, end, request.at);
        write(transaction, next.as_ref()).await
    })
    .await
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
        "INSERT INTO hx_handoff (session_id, state, requested_at, lease_until, claims) VALUES ($1, $2, $3, $4, $5) \
         {upsert} state = $2, requested_at = $3, lease_until = $4, claims = $5"
    );
    let times = [beside.requested_at, beside.lease_until].map(|time| time.map(Timestamp::seconds));
    transaction.run(&sql, values![id, beside.state, times[0], times[1], beside.claims]).await?;
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
            Some(Beside { requested_at: time(5)?, lease_until: time(6)?, ..Beside::of(state, row.try_get(7)?) })
        }
        None => None,
    };
    Ok(Handoff::from_stored(row.id(0)?, columns, beside))
}
