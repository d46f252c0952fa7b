//! Brings a session of the target up to date with changes made in the source since it was copied.

use super::compare::Messages;
use super::portable;
use crate::digest::Fingerprint;
use crate::{
    ConversationStore, EndReason, NewMessage, Request, RequestKey, Session, SessionId, SessionPatch, StoreError, Title,
    UsageMode, UsageUpdate,
};

/// Maximum text appended at once, in bytes.
const BYTES: usize = 1 << 20;

/// Brings a session that the target has in an earlier state, with `there` messages, to its state in the source.
///
/// Each step may be repeated: messages are appended under idempotency keys that depend on their place, and the other
/// steps set absolute values.
///
/// The caller has checked that every new message can be appended: [`not_appendable`].
///
/// # Errors
/// `Invalid` if the session holds data that only an import can bring, such as bytes.
pub(super) async fn catch_up(
    from: &dyn ConversationStore,
    to: &dyn ConversationStore,
    session: &Session,
    there: u64,
    batch: u32,
) -> Result<(), StoreError> {
    let id = &session.id;
    let request = Request::at(session.started_at);
    let mut messages = Messages::new(from, id);
    for _ in 0..there {
        messages.next(&mut Vec::new()).await?;
    }
    let mut place = there;
    loop {
        let (mut some, mut bytes) = (Vec::new(), 0);
        while some.len() < batch.max(1) as usize
            && bytes < BYTES
            && let Some(message) = messages.next(&mut Vec::new()).await?
        {
            bytes += portable::size(&message);
            some.push(NewMessage { body: message.body, timestamp: Some(message.timestamp) });
        }
        if some.is_empty() {
            break;
        }
        let next = place + some.len() as u64;
        to.append(id, &some, &request.clone().keyed(key(id, place, next)?)).await?;
        place = next;
    }
    settle_columns(to, session, &request).await
}

/// Counts the messages after the first `there` that an append can't bring: those that are not active, and those with
/// columns of newer agents.
pub(super) async fn not_appendable(
    from: &dyn ConversationStore,
    id: &SessionId,
    there: u64,
) -> Result<u64, StoreError> {
    let (mut messages, mut place, mut count) = (Messages::new(from, id), 0, 0);
    while let Some(message) = messages.next(&mut Vec::new()).await? {
        place += 1;
        count += u64::from(place > there && (!message.state.is_active() || !message.extra.is_empty()));
    }
    Ok(count)
}

async fn settle_columns(to: &dyn ConversationStore, session: &Session, request: &Request) -> Result<(), StoreError> {
    let id = &session.id;
    let Some(there) = to.session(id).await? else { return Err(StoreError::no_session(id)) };
    let patch = SessionPatch {
        system_prompt: (there.system_prompt != session.system_prompt).then(|| session.system_prompt.clone()),
        model: (there.model != session.model).then(|| session.model.clone()),
        model_config: (there.model_config != session.model_config).then(|| session.model_config.clone()),
        user_id: (there.user_id != session.user_id).then(|| session.user_id.clone()),
    };
    if patch != SessionPatch::default() {
        to.update(id, &patch, request).await?;
    }
    if there.usage != session.usage {
        to.record_usage(id, &usage(session), request).await?;
    }
    if there.title.is_none()
        && let Some(title) = &session.title
    {
        match to.set_title(id, Some(&Title::parse(title)?), request).await {
            // Another session has the title; the proof reports it.
            Ok(()) | Err(StoreError::Conflict(_)) => {}
            Err(error) => return Err(error),
        }
    }
    if let (None, Some(at), Some(reason)) = (there.ended_at, session.ended_at, &session.end_reason) {
        to.end(id, &EndReason::parse(reason.as_str())?, &Request::at(at)).await?;
    }
    Ok(())
}

fn usage(session: &Session) -> UsageUpdate {
    let usage = session.usage.clone();
    UsageUpdate {
        mode: UsageMode::Set,
        input_tokens: Some(usage.input_tokens),
        output_tokens: Some(usage.output_tokens),
        cache_read_tokens: Some(usage.cache_read_tokens),
        cache_write_tokens: Some(usage.cache_write_tokens),
        reasoning_tokens: Some(usage.reasoning_tokens),
        api_call_count: Some(usage.api_call_count),
        estimated_cost_usd: usage.estimated_cost_usd,
        actual_cost_usd: usage.actual_cost_usd,
        cost_status: usage.cost_status,
        cost_source: usage.cost_source,
        pricing_version: usage.pricing_version,
        billing_provider: usage.billing_provider,
        billing_base_url: usage.billing_base_url,
        billing_mode: usage.billing_mode,
        model: None,
    }
}

/// Returns an idempotency key that is equal for the same range of the same session.
fn key(id: &SessionId, start: u64, end: u64) -> Result<RequestKey, StoreError> {
    let number = |place: u64| i64::try_from(place).ok();
    let print = Fingerprint::of("transfer").field(id.as_str()).number(number(start)).number(number(end)).finish();
    Ok(RequestKey::parse(print)?)
}
