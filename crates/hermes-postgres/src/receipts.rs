//! Commit receipts on this server, see [`hermes_sql::server::Receipts`].

use crate::error::Failure;
use crate::transaction::{Transaction, changed_alone};
use deadpool_postgres::Object;
use futures_util::future::join;
use hermes_session::SessionId;
use hermes_session::live::Kinds;
use hermes_sql::server::{Receipt, Receipts};
use tokio_postgres::types::{ToSql, Type};

/// Fails, and the transaction with it, unless the row has the number that the writer left.
const COUNT_ON: &str = "WITH counted AS (UPDATE hx_mark SET number = $2::int8, at = now() WHERE writer = $1 AND number = $2::int8 - 1 RETURNING 1) \
     SELECT 1 / (SELECT count(*) FROM counted)";

/// Takes a receipt that no other transaction uses. The row of a new one is committed first, within `bound` milliseconds.
pub(crate) async fn take(receipts: &Receipts, client: &Object, table: &str, bound: u128) -> Result<Receipt, Failure> {
    if let Some(receipt) = receipts.take() {
        return Ok(receipt);
    }
    let receipt = Receipt::fresh();
    // Also removes rows of writers that ended. A writer that was merely idle for that long gets a new row.
    let sql = format!(
        "WITH old AS (DELETE FROM {table} WHERE at < now() - interval '1 day') INSERT INTO {table} (writer, number) VALUES ($1, 0)"
    );
    changed_alone(client, &limited(bound), &sql, &[(&receipt.writer, Type::TEXT)]).await?;
    Ok(receipt)
}

/// Rows of the feed of changes: the sessions, and the bits of their kinds.
const FEED: &str = "INSERT INTO hx_change (session_id, kinds) SELECT * FROM unnest($1::text[], $2::int8[])";

/// Writes the feed of changes and a receipt, and commits. All are sent before the first is answered: if one fails, the
/// commit rolls back.
pub(crate) async fn commit(
    receipt: &Receipt,
    changes: &[(SessionId, Kinds)],
    transaction: &Transaction,
) -> Result<(), Failure> {
    // Prepared before, so that the commit cannot overtake it.
    let count_on = transaction.prepare_cached(COUNT_ON).await?;
    let values: [&(dyn ToSql + Sync); 2] = [&receipt.writer, &receipt.number];
    let ended = join(transaction.query_one(&count_on, &values), transaction.batch_execute("COMMIT"));
    let (counted, committed) = if changes.is_empty() {
        ended.await
    } else {
        let feed = transaction.prepare_cached(FEED).await?;
        let sessions: Vec<&str> = changes.iter().map(|(session, _)| session.as_str()).collect();
        let kinds: Vec<i64> = changes.iter().map(|(_, kinds)| kinds.bits()).collect();
        let rows: [&(dyn ToSql + Sync); 2] = [&sessions, &kinds];
        let (written, ended) = join(transaction.execute(&feed, &rows), ended).await;
        written?;
        ended
    };
    counted?;
    Ok(committed?)
}

/// Returns whether the commit of a receipt happened. If it did not, it never will.
pub(crate) async fn is_reached(
    Receipt { writer, number }: &Receipt,
    client: &Object,
    table: &str,
    bound: u128,
) -> Result<bool, Failure> {
    // Waits for a transaction that has written the receipt and not ended, and then checks the number again.
    let fence = format!("UPDATE {table} SET number = -1 WHERE writer = $1 AND number = $2 - 1");
    let values: [(&(dyn ToSql + Sync), Type); 2] = [(writer, Type::TEXT), (number, Type::INT8)];
    if changed_alone(client, &limited(bound), &fence, &values).await? > 0 {
        return Ok(false);
    }
    // A write, so that it is answered only when a synchronous standby has reached this point, too.
    let reached = format!("UPDATE {table} SET at = now() WHERE writer = $1 AND number = $2");
    Ok(changed_alone(client, &limited(bound), &reached, &values).await? > 0)
}

/// Returns the setting that limits a statement to `bound` milliseconds.
fn limited(bound: u128) -> String {
    format!("statement_timeout = {bound}")
}
