//! Space taken by the store.

use crate::error::Failure;
use crate::transaction::Transaction;
use hermes_session::Room;
use hermes_sql::server::{Failing as _, Fields as _, Sql as _};
use hermes_sql::values;

/// Returns the space of the store's tables as the server counts it, which excludes its full-text auxiliary tables. The
/// log of the server is shared by all its databases, so it is not reported.
pub(crate) async fn room(transaction: &Transaction) -> Result<Room, Failure> {
    // Refreshes the statistics if permitted, because a server caches table sizes for long. This ends the transaction,
    // in which nothing was done.
    let analyzed = transaction.batch("ANALYZE NO_WRITE_TO_BINLOG TABLE messages, sessions, hx_search, hx_term").await;
    if let Err(failure) = analyzed {
        tracing::debug!(error = failure.code(), "tables not analyzed; sizes may be old");
    }
    let row = transaction
        .one(
            "SELECT CAST(coalesce(sum(data_length + index_length + data_free), 0) AS SIGNED), \
             CAST(coalesce(sum(CASE WHEN table_name IN ('sessions', 'messages') THEN index_length ELSE data_length + index_length END), 0) AS SIGNED), \
             CAST(coalesce(sum(data_free), 0) AS SIGNED) FROM information_schema.tables WHERE table_schema = database() \
             AND (table_name IN ('sessions', 'messages', 'state_meta') OR table_name LIKE 'hx\\_%' OR table_name LIKE 'telegram\\_dm\\_%')",
            values![],
        )
        .await?;
    let size = |index: usize| -> Result<u64, Failure> { Ok(row.try_get::<i64>(index)?.unsigned_abs()) };
    Ok(Room { bytes: size(0)?, log: 0, free: size(2)?, indexes: size(1)? })
}
