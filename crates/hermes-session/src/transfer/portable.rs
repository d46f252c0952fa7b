//! Reduces rows to the data that any store can keep. The proof expects the same data on the other side.

use crate::{Fault, Invalid, Message, Relation, Role, Session, SessionId, Source};

/// Replacement for a NUL in columns that can't hold one.
const REPLACEMENT: &str = "\u{fffd}";

/// Returns a session in the form that any store can keep. Values that are dropped or changed are added to `lost`.
///
/// # Errors
/// If its id is not valid for every store.
pub(super) fn session(session: Session, lost: &mut Vec<String>) -> Result<Session, Invalid> {
    SessionId::parse(session.id.as_str())?;
    tell_faults(&session.faults, lost);
    let mut session = Session { faults: Vec::new(), ..session };
    if let Some(parent) = session.parent_session_id.take_if(|_| session.relation == Relation::Root) {
        lost.push(format!("its parent {parent} did not exist when it was first seen, so it has no parent in the copy"));
    }
    session.source = Source::from_stored(without_nul("source", session.source.as_str().to_owned(), lost));
    session.end_reason = session
        .end_reason
        .map(|reason| crate::EndReason::from_stored(without_nul("end_reason", reason.as_str().to_owned(), lost)));
    let usage = &mut session.usage;
    for (column, text) in [
        ("user_id", &mut session.user_id),
        ("model", &mut session.model),
        ("title", &mut session.title),
        ("handoff_state", &mut session.handoff.state),
        ("handoff_platform", &mut session.handoff.platform),
        ("handoff_error", &mut session.handoff.error),
        ("cost_status", &mut usage.cost_status),
        ("cost_source", &mut usage.cost_source),
        ("pricing_version", &mut usage.pricing_version),
        ("billing_provider", &mut usage.billing_provider),
        ("billing_base_url", &mut usage.billing_base_url),
        ("billing_mode", &mut usage.billing_mode),
    ] {
        *text = text.take().map(|text| without_nul(column, text, lost));
    }
    for (column, cost) in
        [("estimated_cost_usd", &mut usage.estimated_cost_usd), ("actual_cost_usd", &mut usage.actual_cost_usd)]
    {
        if let Some(number) = cost.take_if(|number| !number.is_finite()) {
            lost.push(format!("{column} is {number}, which is left out"));
        }
    }
    Ok(session)
}

/// Returns a message in the form that any store can keep.
pub(super) fn message(message: Message, lost: &mut Vec<String>) -> Message {
    tell_faults(&message.faults, lost);
    let mut message = Message { faults: Vec::new(), ..message };
    let body = &mut message.body;
    body.content = body.content.take().map(crate::Content::normalized);
    if let Role::Other(text) = &mut body.role {
        *text = without_nul("role", std::mem::take(text), lost);
    }
    for (column, text) in [
        ("tool_call_id", &mut body.tool_call_id),
        ("tool_name", &mut body.tool_name),
        ("finish_reason", &mut body.finish_reason),
    ] {
        *text = text.take().map(|text| without_nul(column, text, lost));
    }
    message
}

/// Returns roughly how many bytes a message takes in memory.
pub(super) fn size(message: &Message) -> usize {
    use crate::{Content, Json};
    let body = &message.body;
    let content = match &body.content {
        None => 0,
        Some(Content::Text(text)) => text.len(),
        Some(Content::Json(json)) => json.as_str().len(),
        Some(Content::Bytes(bytes)) => bytes.len(),
    };
    let json = [&body.tool_calls, &body.reasoning_details, &body.codex_reasoning_items, &body.codex_message_items];
    let text = [&body.reasoning, &body.reasoning_content, &body.tool_name, &body.tool_call_id];
    let json: usize = json.into_iter().flatten().map(|json| Json::as_str(json).len()).sum();
    let text: usize = text.into_iter().flatten().map(String::len).sum();
    let faults: usize = message.faults.iter().map(|fault| fault.raw.len()).sum();
    size_of::<Message>() + content + json + text + faults + message.extra.size()
}

fn tell_faults(faults: &[Fault], lost: &mut Vec<String>) {
    lost.extend(faults.iter().map(|fault| format!("{} could not be read: {}", fault.column, fault.why)));
}

fn without_nul(column: &str, text: String, lost: &mut Vec<String>) -> String {
    if !text.contains('\0') {
        return text;
    }
    lost.push(format!("{column} holds a NUL character, which was replaced by {REPLACEMENT}"));
    text.replace('\0', REPLACEMENT)
}
