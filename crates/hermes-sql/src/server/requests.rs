//! Repeatable requests: each idempotency key is applied once and always gets the same answer.

use super::{Fields as _, Sql, fence};
use crate::{Answer, values};
use hermes_session::{Conflict, MessageId, Request, RequestKey, SessionId};

/// Returns whether the request's key was used before and is still valid.
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

/// Does `work` unless the request's key shows that it was done, and stores its answer.
///
/// Of two concurrent requests with one key only one can be stored. The other fails, is retried, and then finds the
/// stored answer.
pub(super) async fn once<T: Sql, A: Answer>(
    transaction: &T,
    request: &Request,
    session: &SessionId,
    fingerprint: impl FnOnce() -> String,
    work: impl Future<Output = Result<A, T::Failure>>,
) -> Result<A, T::Failure> {
    once_in(transaction, request, session, session, fingerprint, work).await
}

/// Does the same as [`once`] for a change whose key lives as long as another session than the one whose owner and
/// transcript the request relies on, such as the child of a split.
pub(super) async fn once_in<T: Sql, A: Answer>(
    transaction: &T,
    request: &Request,
    session: &SessionId,
    changed: &SessionId,
    fingerprint: impl FnOnce() -> String,
    work: impl Future<Output = Result<A, T::Failure>>,
) -> Result<A, T::Failure> {
    let fingerprint = request.key.is_some().then(fingerprint).unwrap_or_default();
    if let Some(answer) = repeated(transaction, request, &fingerprint).await? {
        return Ok(answer);
    }
    fence::check(transaction, changed, request).await?;
    let answer = work.await?;
    keep(transaction, request, session, fingerprint, &answer).await?;
    Ok(answer)
}

/// Returns the answer to an earlier request with the same key, or `None` if there was none. Fails if the key was used for
/// another change.
pub(super) async fn repeated<T: Sql, A: Answer>(
    transaction: &T,
    request: &Request,
    fingerprint: &str,
) -> Result<Option<A>, T::Failure> {
    let Some(key) = &request.key else { return Ok(None) };
    let Some(answer) = stored_answer(transaction, key, fingerprint).await? else { return Ok(None) };
    A::recall(&answer).map(Some).ok_or_else(|| Conflict::KeyReused(key.clone()).into())
}

/// Stores the answer to a change under the request's key, if it has one, for as long as the session exists.
pub(super) async fn keep<T: Sql, A: Answer>(
    transaction: &T,
    request: &Request,
    session: &SessionId,
    fingerprint: String,
    answer: &A,
) -> Result<(), T::Failure> {
    let Some(key) = &request.key else { return Ok(()) };
    store_answer(transaction, key, session, answer.first_message(), fingerprint, answer.keep()).await
}

/// Returns the answer that is stored for a key, or `None` if the key was not used or is no longer valid. Fails if the
/// key was used for another change.
async fn stored_answer<T: Sql>(
    transaction: &T,
    key: &RequestKey,
    fingerprint: &str,
) -> Result<Option<String>, T::Failure> {
    let kept = transaction
        .row(
            "SELECT fingerprint, answer, message_id IS NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.id = message_id \
             AND m.session_id = r.session_id) FROM hx_request r WHERE request_key = $1",
            values![key.as_str()],
        )
        .await?;
    let Some(row) = kept else { return Ok(None) };
    let (known, answer, lives): (String, String, bool) = (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
    if lives {
        // A write, so that the stored answer is returned only after a commit, like that of a change.
        transaction.run("UPDATE hx_request SET answer = answer WHERE request_key = $1", values![key.as_str()]).await?;
        return if known == fingerprint { Ok(Some(answer)) } else { Err(Conflict::KeyReused(key.clone()).into()) };
    }
    // Its messages were deleted, which invalidates the key.
    transaction.run("DELETE FROM hx_request WHERE request_key = $1", values![key.as_str()]).await?;
    Ok(None)
}

/// Stores the answer to a change under its key.
async fn store_answer<T: Sql>(
    transaction: &T,
    key: &RequestKey,
    session: &SessionId,
    first_message: Option<MessageId>,
    fingerprint: String,
    answer: String,
) -> Result<(), T::Failure> {
    transaction
        .run(
            "INSERT INTO hx_request (request_key, session_id, message_id, fingerprint, answer) VALUES ($1, $2, $3, $4, $5)",
            values![key.as_str(), session.as_str(), first_message.map(|id| id.0), fingerprint, answer],
        )
        .await?;
    Ok(())
}
