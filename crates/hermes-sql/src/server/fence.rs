//! The state that a change relies on: the caller owns the conversation, and knows the newest message.

use super::messages::root;
use super::row::IN_TRANSCRIPT;
use super::{Fields as _, Sql};
use crate::values;
use hermes_session::live::{Fence, Resource};
use hermes_session::{Conflict, MessageId, Request, SessionId};

/// Fails if the request's fence is not the token of the current lease of the session's conversation, or if the
/// transcript has another newest message than the request names. A session that does not exist has no owner.
///
/// The session stays locked until the end of the transaction, and so does the lease: whoever takes the lease next reads
/// what this transaction wrote. Both are locked before anything else but the lineages, in this order.
pub async fn check<T: Sql>(transaction: &T, session: &SessionId, request: &Request) -> Result<(), T::Failure> {
    if request.fence.is_none() && request.after.is_none() {
        return Ok(());
    }
    let sql = format!("SELECT 1 FROM sessions WHERE id = $1{}", transaction.dialect().lock);
    if transaction.row(&sql, values![session.as_str()]).await?.is_none() {
        return Ok(());
    }
    if let Some(Fence(token)) = request.fence {
        let lease = Resource::Conversation(root(transaction, session).await?).key();
        // A write of the row: a cluster compares writes only.
        let sql = "UPDATE hx_lease SET uses = uses + 1 WHERE resource = $1 AND token = $2";
        if transaction.run(sql, values![lease, token]).await? == 0 {
            return Err(Conflict::Fenced(session.clone()).into());
        }
    }
    if let Some(known) = request.after {
        let newest = newest(transaction, session).await?;
        if newest.unwrap_or(MessageId(0)) != known {
            return Err(Conflict::Moved { session: session.clone(), newest }.into());
        }
    }
    Ok(())
}

/// Returns the newest message of a session's transcript.
pub(super) async fn newest<T: Sql>(transaction: &T, session: &SessionId) -> Result<Option<MessageId>, T::Failure> {
    let sql = format!("SELECT id FROM messages WHERE session_id = $1 AND {IN_TRANSCRIPT} ORDER BY id DESC LIMIT 1");
    let row = transaction.row(&sql, values![session.as_str()]).await?;
    Ok(row.map(|row| row.try_get(0).map(MessageId)).transpose()?)
}
