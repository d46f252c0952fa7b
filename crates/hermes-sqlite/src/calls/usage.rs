//! Counters and costs: read, updated by the domain's rule and written under the write lock.

use crate::calls::row::existing;
use crate::error::Failure;
use crate::write::database::Database;
use crate::write::requests::once;
use hermes_session::{Request, Session, SessionId, Timestamp, Usage, UsageMode, UsageUpdate, change};
use hermes_sql::statements;
use rusqlite::params;

pub(crate) fn record(
    database: &Database,
    id: &SessionId,
    update: &UsageUpdate,
    request: &Request,
) -> Result<(), Failure> {
    once(database, request, id, &change::record_usage(id, update), || apply(database, id, update, request.at))
}

/// Changes the counters of a session.
pub(crate) fn apply(database: &Database, id: &SessionId, update: &UsageUpdate, now: Timestamp) -> Result<(), Failure> {
    let session = existing(database, id)?;
    if database.shape().model_usage && update.mode == UsageMode::Add {
        by_model(database, &session, update, now)?;
    }
    set(database, id, &session.usage.after(update), update.model.as_deref())
}

/// Writes the counters and costs of a session, and its model if it has none.
pub(crate) fn set(database: &Database, id: &SessionId, usage: &Usage, model: Option<&str>) -> Result<(), Failure> {
    database.prepare_cached(statements::SET_USAGE)?.execute(params![
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
        usage.api_call_count,
        usage.estimated_cost_usd,
        usage.actual_cost_usd,
        usage.cost_status,
        usage.cost_source,
        usage.pricing_version,
        usage.billing_provider,
        usage.billing_base_url,
        usage.billing_mode,
        model,
        id.as_str(),
    ])?;
    Ok(())
}

/// Adds to the counters by model, as newer releases of the agent keep them: under the given model and billing provider,
/// else those of the session.
fn by_model(database: &Database, session: &Session, update: &UsageUpdate, now: Timestamp) -> Result<(), Failure> {
    let either =
        |given: &Option<String>, known: &Option<String>| given.clone().or_else(|| known.clone()).unwrap_or_default();
    let model = either(&update.model, &session.model);
    if model.is_empty() {
        return Ok(());
    }
    database
        .prepare_cached(
            "INSERT INTO session_model_usage (session_id, model, billing_provider, billing_base_url, billing_mode, task, \
             api_call_count, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, \
             estimated_cost_usd, actual_cost_usd, cost_status, cost_source, first_seen, last_seen) \
             VALUES (?, ?, ?, ?, ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?16, ?16) \
             ON CONFLICT (session_id, model, billing_provider, billing_base_url, billing_mode, task) DO UPDATE SET \
             api_call_count = api_call_count + excluded.api_call_count, input_tokens = input_tokens + excluded.input_tokens, \
             output_tokens = output_tokens + excluded.output_tokens, \
             cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens, \
             cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens, \
             reasoning_tokens = reasoning_tokens + excluded.reasoning_tokens, \
             estimated_cost_usd = estimated_cost_usd + excluded.estimated_cost_usd, \
             actual_cost_usd = actual_cost_usd + excluded.actual_cost_usd, \
             cost_status = coalesce(excluded.cost_status, cost_status), cost_source = coalesce(excluded.cost_source, cost_source), \
             last_seen = excluded.last_seen",
        )?
        .execute(params![
            session.id.as_str(),
            model,
            either(&update.billing_provider, &session.usage.billing_provider),
            either(&update.billing_base_url, &session.usage.billing_base_url),
            either(&update.billing_mode, &session.usage.billing_mode),
            update.api_call_count.unwrap_or(0),
            update.input_tokens.unwrap_or(0),
            update.output_tokens.unwrap_or(0),
            update.cache_read_tokens.unwrap_or(0),
            update.cache_write_tokens.unwrap_or(0),
            update.reasoning_tokens.unwrap_or(0),
            update.estimated_cost_usd.filter(|cost| cost.is_finite()).unwrap_or(0.0),
            update.actual_cost_usd.filter(|cost| cost.is_finite()).unwrap_or(0.0),
            update.cost_status,
            update.cost_source,
            now.seconds(),
        ])?;
    Ok(())
}
