//! Requests that may be sent again: each key is applied once and answers the same.

use super::{Fields as _, Sql};
use crate::{Answer, values};
use hermes_session::{Conflict, Request, SessionId};

/// Whether the request's key was used before, and still counts.
pub(super) async fn is_known<T: Sql>(transaction: &T, request: &Request) -> Result<bool, T::Failure> {
    let Some(key) = &request.key else { return Ok(false) };
    let kept = transaction
        .row(
            "SELECT message_id IS NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.id = message_id AND m.session_id = r.session_id) \
             FROM hx_request r WHERE request_key = $1",
            values![key.as_str()],
        )
        .await?;
    Ok(match kept {
        Some(row) => row.try_get(0)?,
        None => false,
    })
}

/// Does `work` unless the request's key says that it was done, and remembers what it answers.
///
/// Two at once under one key can't both be remembered: the second fails there, and finds the first when it is tried again.
pub(super) async fn once<T: Sql, A: Answer>(
    transaction: &T,
    request: &Request,
    session: &SessionId,
    fingerprint: impl FnOnce() -> String,
    work: impl Future<Output = Result<A, T::Failure>>,
) -> Result<A, T::Failure> {
    let Some(key) = &request.key else { return work.await };
    let fingerprint = fingerprint();
    let kept = transaction
        .row(
            "SELECT fingerprint, answer, message_id IS NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.id = message_id \
             AND m.session_id = r.session_id) FROM hx_request r WHERE request_key = $1",
            values![key.as_str()],
        )
        .await?;
    if let Some(row) = kept {
        let (known, answer, lives): (String, String, bool) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        if lives {
            // What it answers has to be as certain as a change of its own.
            transaction
                .run("UPDATE hx_request SET answer = answer WHERE request_key = $1", values![key.as_str()])
                .await?;
            return match A::recall(&answer).filter(|_| known == fingerprint) {
                Some(answer) => Ok(answer),
                None => Err(Conflict::KeyReused(key.clone()).into()),
            };
        }
        // Its messages are gone, and the key with them.
        transaction.run("DELETE FROM hx_request WHERE request_key = $1", values![key.as_str()]).await?;
    }
    let answer = work.await?;
    transaction
        .run(
            "INSERT INTO hx_request (request_key, session_id, message_id, fingerprint, answer) VALUES ($1, $2, $3, $4, $5)",
            values![key.as_str(), session.as_str(), answer.first_message().map(|id| id.0), fingerprint, answer.keep()],
        )
        .await?;
    Ok(answer)
}
