//! Handoffs of a session to a chat platform.

use crate::call::{Answer, Call, NONE, list, or_nothing, yes};
use crate::fail::Fail;
use crate::row;
use hermes_session::gateway::{HandoffEnd, HandoffRequest};
use hermes_wire::{rpc, to_string};
use std::time::Duration;

/// Lease of a worker that claimed a handoff. The agent stops waiting for its gateway long before it expires.
const LEASE: Duration = Duration::from_secs(600);

pub(crate) async fn request(call: &Call<'_>) -> Answer {
    let Some(id) = call.args.lookup("session_id") else { return yes(false) };
    let what = HandoffRequest::to(call.args.text("platform")?.unwrap_or_default());
    yes(or_nothing(call.store.request_handoff(&id, &what, &call.request()).await)?.unwrap_or(false))
}

pub(crate) async fn claim(call: &Call<'_>) -> Answer {
    let Some(id) = call.args.lookup("session_id") else { return yes(false) };
    let claim = or_nothing(call.store.claim_handoff(&id, LEASE, None, &call.request()).await)?.flatten();
    yes(claim.is_some())
}

pub(crate) async fn complete(call: &Call<'_>) -> Answer {
    end(call, HandoffEnd::Completed).await
}

pub(crate) async fn fail(call: &Call<'_>) -> Answer {
    let text = call.args.text("error")?.ok_or_else(|| Fail::wrong_type("'NoneType' object is not subscriptable"))?;
    end(call, HandoffEnd::Failed(text)).await
}

async fn end(call: &Call<'_>, end: HandoffEnd) -> Answer {
    if let Some(id) = call.args.lookup("session_id") {
        or_nothing(call.store.end_handoff(&id, None, &end, &call.request()).await)?;
    }
    Ok(NONE.into())
}

/// `get_handoff_state`: the state as stored in the session's columns.
pub(crate) async fn state(call: &Call<'_>) -> Answer {
    let Some(id) = call.args.lookup("session_id") else { return Ok(NONE.into()) };
    let Some(session) = call.store.session(&id).await? else { return Ok(NONE.into()) };
    let handoff = session.handoff;
    Ok(to_string(&rpc::Handoff {
        state: handoff.state.as_deref(),
        platform: handoff.platform.as_deref(),
        error: handoff.error.as_deref(),
    }))
}

/// `list_pending_handoffs`: the sessions that a worker could claim now, oldest request first.
pub(crate) async fn pending(call: &Call<'_>) -> Answer {
    let mut rows = Vec::new();
    for handoff in call.store.waiting_handoffs(call.now).await? {
        rows.extend(call.store.session(&handoff.session).await?.map(|session| row::session(&session).finish()));
    }
    Ok(list(rows))
}
