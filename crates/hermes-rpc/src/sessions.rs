//! Sessions: create, end, reopen, update, count and look up.

use crate::call::{Answer, Call, NONE, or_no_reference, or_nothing};
use crate::fail::Fail;
use crate::row;
use hermes_session::{
    EndReason, Json, Lineage, MessageRequest, NewSession, Relation, Request, SessionId, SessionPatch, Source,
    StoreError, UsageMode, UsageUpdate,
};
use std::collections::BTreeSet;

/// The end reason of a session that was ended without one.
const UNSPECIFIED: &str = "unspecified";

/// `create_session` and `ensure_session`: both create a session unless it exists.
pub(crate) async fn create(call: &Call<'_>) -> Answer {
    let args = &call.args;
    let id = args.session("session_id")?;
    let source = args.text("source")?.ok_or_else(|| Fail::missing("sessions.source"))?;
    let parent = match args.text("parent_session_id")? {
        Some(parent) => Some(SessionId::parse(parent).map_err(|_| Fail::no_such_reference())?),
        None => None,
    };
    let session = NewSession {
        user_id: args.text("user_id")?,
        model: args.text("model")?,
        model_config: args.json("model_config")?,
        system_prompt: args.text("system_prompt")?,
        parent_session_id: parent,
        ..NewSession::new(id.clone(), Source::parse(source)?)
    };
    or_no_reference(call.store.ensure(&session, &call.request()).await)?;
    Ok(Json::string(id.as_str()).as_str().to_owned())
}

pub(crate) async fn end(call: &Call<'_>) -> Answer {
    let reason = call.args.filled("end_reason")?.unwrap_or_else(|| UNSPECIFIED.to_owned());
    let reason = EndReason::parse(reason)?;
    if let Some(id) = call.args.lookup("session_id") {
        or_nothing(call.store.end(&id, &reason, &call.request()).await)?;
    }
    Ok(NONE.into())
}

pub(crate) async fn reopen(call: &Call<'_>) -> Answer {
    if let Some(id) = call.args.lookup("session_id") {
        or_nothing(call.store.reopen(&id, &call.request()).await)?;
    }
    Ok(NONE.into())
}

pub(crate) async fn update_system_prompt(call: &Call<'_>) -> Answer {
    let patch = SessionPatch { system_prompt: Some(call.args.text("system_prompt")?), ..SessionPatch::default() };
    update(call, &patch).await
}

/// `update_session_meta`: sets the settings, and the model if one is given.
pub(crate) async fn update_meta(call: &Call<'_>) -> Answer {
    let settings = match call.args.text("model_config_json")? {
        Some(text) => Some(Json::parse(&text)?),
        None => None,
    };
    let model = call.args.text("model")?;
    let patch = SessionPatch { model_config: Some(settings), model: model.map(Some), ..SessionPatch::default() };
    update(call, &patch).await
}

async fn update(call: &Call<'_>, patch: &SessionPatch) -> Answer {
    if let Some(id) = call.args.lookup("session_id") {
        or_nothing(call.store.update(&id, patch, &call.request()).await)?;
    }
    Ok(NONE.into())
}

/// `update_token_counts`: creates the session if it does not exist, and updates its counters.
pub(crate) async fn update_token_counts(call: &Call<'_>) -> Answer {
    let args = &call.args;
    let id = args.session("session_id")?;
    let is_absolute = args.flag("absolute");
    // A counter that is not given stays unchanged, in both modes.
    let count = |name: &str| if args.is_given(name) { args.integer(name) } else { Ok(None) };
    let update = UsageUpdate {
        mode: if is_absolute { UsageMode::Set } else { UsageMode::Add },
        input_tokens: count("input_tokens")?,
        output_tokens: count("output_tokens")?,
        cache_read_tokens: count("cache_read_tokens")?,
        cache_write_tokens: count("cache_write_tokens")?,
        reasoning_tokens: count("reasoning_tokens")?,
        api_call_count: count("api_call_count")?,
        estimated_cost_usd: args.double("estimated_cost_usd")?,
        actual_cost_usd: args.double("actual_cost_usd")?,
        cost_status: args.text("cost_status")?,
        cost_source: args.text("cost_source")?,
        pricing_version: args.text("pricing_version")?,
        billing_provider: args.text("billing_provider")?,
        billing_base_url: args.text("billing_base_url")?,
        billing_mode: args.text("billing_mode")?,
        model: args.text("model")?,
    };
    match call.store.record_usage(&id, &update, &call.request()).await {
        Err(StoreError::NotFound(_)) => {
            let heard_of = NewSession {
                model: update.model.clone(),
                ..NewSession::new(id.clone(), Source::from_stored(Source::UNKNOWN))
            };
            // Without the idempotency key, which the counters need. Repeating `ensure` changes nothing.
            call.store.ensure(&heard_of, &Request::at(call.now)).await?;
            call.store.record_usage(&id, &update, &call.request()).await?;
        }
        other => other?,
    }
    Ok(NONE.into())
}

pub(crate) async fn get(call: &Call<'_>) -> Answer {
    let found = match call.args.lookup("session_id") {
        Some(id) => call.store.session(&id).await?,
        None => None,
    };
    Ok(found.map_or_else(|| NONE.into(), |session| row::session(&session).finish()))
}

/// `resolve_session_id`: the id itself, or the only one that starts with it.
pub(crate) async fn resolve(call: &Call<'_>) -> Answer {
    let Some(id) = call.args.lookup("session_id_or_prefix") else { return Ok(NONE.into()) };
    if call.store.session(&id).await?.is_some() {
        return text(&id);
    }
    match call.store.ids_with_prefix(id.as_str(), 2).await?.as_slice() {
        [only] => text(only),
        _ => Ok(NONE.into()),
    }
}

/// `get_compression_tip`: the session in which a session continues today. An unknown one is returned as it is.
pub(crate) async fn tip(call: &Call<'_>) -> Answer {
    match lineage(call).await? {
        Some((id, lineage)) => text(&lineage.tip(&id)),
        None => same(call),
    }
}

/// `resolve_resume_session_id`: the session itself if it has messages, else the first descendant that has:
/// continuations before other children, later children before earlier ones.
pub(crate) async fn resume(call: &Call<'_>) -> Answer {
    let Some((id, lineage)) = lineage(call).await? else { return same(call) };
    let mut seen = BTreeSet::new();
    let mut todo = vec![id.clone()];
    while let Some(next) = todo.pop() {
        if !seen.insert(next.clone()) {
            continue;
        }
        let said = or_nothing(call.store.messages(&next, &MessageRequest::first(1)).await)?;
        if said.is_some_and(|messages| !messages.is_empty()) {
            return text(&next);
        }
        let mut children: Vec<_> = lineage.links().filter(|link| link.parent.as_ref() == Some(&next)).collect();
        // The last one is popped first.
        children.sort_by_key(|link| (link.relation == Relation::Continuation, link.started_at, link.id.clone()));
        todo.extend(children.into_iter().map(|link| link.id.clone()));
    }
    text(&id)
}

async fn lineage(call: &Call<'_>) -> Result<Option<(SessionId, Lineage)>, Fail> {
    let Some(id) = call.args.lookup("session_id") else { return Ok(None) };
    let found = or_nothing(call.store.lineage(&id).await)?;
    Ok(found.map(|lineage| (id, lineage)))
}

/// Returns the argument unchanged.
fn same(call: &Call<'_>) -> Answer {
    Ok(call.args.value("session_id").0.to_owned())
}

fn text(id: &SessionId) -> Answer {
    Ok(Json::string(id.as_str()).as_str().to_owned())
}
