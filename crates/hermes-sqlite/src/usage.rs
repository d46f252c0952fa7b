//! Counters and costs: read, moved by the domain's rule, written, under the write lock.

use crate::error::Failure;
use crate::requests::once;
use crate::row::existing;
use hermes_session::{Request, SessionId, UsageUpdate, change};
use hermes_sql::statements;
use rusqlite::{Connection, params};

pub(crate) fn record(
    connection: &Connection,
    id: &SessionId,
    update: &UsageUpdate,
    request: &Request,
) -> Result<(), Failure> {
    once(connection, request, id, &change::record_usage(id, update), || {
        let usage = existing(connection, id)?.usage.after(update);
        connection.prepare_cached(statements::SET_USAGE)?.execute(params![
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
            update.model,
            id.as_str(),
        ])?;
        Ok(())
    })
}
