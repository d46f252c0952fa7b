//! Counters and costs: read, updated by the domain's rule and written, with the session locked.

use super::Sql;
use super::requests::once;
use super::row::{existing, kept, lock};
use crate::values;
use hermes_session::live::Kinds;
use hermes_session::{Request, SessionId, Usage, UsageUpdate, change};

/// Implements `record` of the contract.
pub async fn record<T: Sql>(
    transaction: &T,
    id: &SessionId,
    update: &UsageUpdate,
    request: &Request,
) -> Result<(), T::Failure> {
    once(transaction, request, id, || change::record_usage(id, update), async {
        lock(transaction, id).await?;
        add(transaction, id, update).await
    })
    .await
}

/// Updates the counters and costs of a session, which the caller has locked.
pub(super) async fn add<T: Sql>(transaction: &T, id: &SessionId, update: &UsageUpdate) -> Result<(), T::Failure> {
    let usage = existing(transaction, id).await?.usage.after(update);
    set(transaction, id, &usage, update.model.as_deref()).await?;
    transaction.note(id, Kinds::SESSION);
    Ok(())
}

/// Writes the counters and costs of a session, and its model if it has none.
pub async fn set<T: Sql>(
    transaction: &T,
    id: &SessionId,
    usage: &Usage,
    model: Option<&str>,
) -> Result<(), T::Failure> {
    transaction
        .run(
            "UPDATE sessions SET input_tokens = $1, output_tokens = $2, cache_read_tokens = $3, cache_write_tokens = $4, \
             reasoning_tokens = $5, api_call_count = $6, estimated_cost_usd = $7, actual_cost_usd = $8, cost_status = $9, \
             cost_source = $10, pricing_version = $11, billing_provider = $12, billing_base_url = $13, billing_mode = $14, \
             model = coalesce(model, $15) WHERE id = $16",
            values![
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_read_tokens,
                usage.cache_write_tokens,
                usage.reasoning_tokens,
                usage.api_call_count,
                usage.estimated_cost_usd,
                usage.actual_cost_usd,
                kept(usage.cost_status.as_deref()),
                kept(usage.cost_source.as_deref()),
                kept(usage.pricing_version.as_deref()),
                kept(usage.billing_provider.as_deref()),
                kept(usage.billing_base_url.as_deref()),
                kept(usage.billing_mode.as_deref()),
                kept(model),
                id.as_str()],
        )
        .await?;
    Ok(())
}
