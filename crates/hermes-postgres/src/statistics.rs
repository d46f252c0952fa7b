//! Space taken by the store.

use crate::error::Failure;
use crate::transaction::Transaction;
use hermes_session::Room;
use hermes_sql::server::{Fields as _, Sql as _};
use hermes_sql::values;

/// Returns the space of the store's tables. The log of the server is shared by all its databases, so it is not
/// reported.
pub(crate) async fn room(transaction: &Transaction) -> Result<Room, Failure> {
    let row = transaction
        .one(
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8, coalesce(sum(CASE WHEN c.relname IN ('sessions', 'messages') \
             THEN pg_indexes_size(c.oid) ELSE pg_total_relation_size(c.oid) END), 0)::int8 \
             FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace \
             AND (c.relname IN ('sessions', 'messages', 'state_meta') OR starts_with(c.relname::text, 'hx_') OR starts_with(c.relname::text, 'telegram_dm_'))",
            values![],
        )
        .await?;
    let size = |index: usize| -> Result<u64, Failure> { Ok(row.try_get::<i64>(index)?.unsigned_abs()) };
    Ok(Room { bytes: size(0)?, log: 0, free: 0, indexes: size(1)? })
}
