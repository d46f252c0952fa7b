//! Commit receipts on this server, see [`hermes_sql::server::Receipts`].

use crate::error::Failure;
use crate::transaction::NOW;
use hermes_session::SessionId;
use hermes_session::live::Kinds;
use hermes_sql::server::{Receipt, Receipts};
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

/// Number of a row that no commit can increment any more.
const FENCED: &str = "18446744073709551615";

/// Takes a receipt that no other transaction uses. The row of a new one is inserted by its first commit.
pub(crate) async fn take(receipts: &Receipts, conn: &mut Conn) -> Result<Receipt, Failure> {
    if let Some(receipt) = receipts.take() {
        return Ok(receipt);
    }
    // Also removes rows of writers that ended. A writer that was merely idle for that long gets a new row.
    conn.query_drop("DELETE FROM hx_mark WHERE at < UTC_TIMESTAMP() - INTERVAL 7 DAY LIMIT 1000").await?;
    Ok(Receipt::fresh())
}

/// Returns the statements that write a receipt and commit, sent as one message: the server stops at the first that fails. Writing fails
/// unless the row has the number that the writer left, or does not exist before the first commit: the key is unique, and an unsigned number
/// cannot become negative.
///
/// Several statements in one message take no bound values. The writer is a name of ours ([`Receipt::fresh`]) that needs no quoting.
pub(crate) fn commit(Receipt { writer, number }: &Receipt) -> String {
    let before = number - 1;
    let count_on = match before {
        0 => format!("INSERT INTO hx_mark (writer, number, at) VALUES ('{writer}', 1, UTC_TIMESTAMP())"),
        _ => format!(
            "UPDATE hx_mark SET at = UTC_TIMESTAMP(), number = {number} WHERE writer = '{writer}' AND number = {before}; \
             SELECT CAST(ROW_COUNT() AS UNSIGNED) - 1"
        ),
    };
    format!("{count_on}; COMMIT")
}

/// Returns the statement that writes rows of the feed of changes; empty if there are none. It comes before those of
/// [`commit`] in the same message, so ids are hexadecimal digits.
pub(crate) fn feed(changes: &[(SessionId, Kinds)]) -> String {
    let row = |(session, kinds): &(SessionId, Kinds)| {
        let id: String = session.as_str().bytes().map(|byte| format!("{byte:02x}")).collect();
        format!("(x'{id}', {}, {NOW})", kinds.bits())
    };
    let rows: Vec<String> = changes.iter().map(row).collect();
    if rows.is_empty() {
        return String::new();
    }
    format!("INSERT INTO hx_change (session_id, kinds, at) VALUES {}; ", rows.join(", "))
}

/// Returns whether the commit of a receipt happened. If it did not, it never will.
pub(crate) async fn is_reached(Receipt { writer, number }: &Receipt, conn: &mut Conn) -> Result<bool, Failure> {
    let before = number - 1;
    // Waits for a transaction that has written the receipt and not ended. Before its first commit a writer has no row.
    let fence = format!(
        "INSERT INTO hx_mark (writer, number, at) VALUES (?, {FENCED}, UTC_TIMESTAMP()) ON DUPLICATE KEY UPDATE \
         at = UTC_TIMESTAMP(), number = IF(number = ?, {FENCED}, number)"
    );
    conn.exec_drop(fence, (writer, before)).await?;
    let there: Option<u64> = conn.exec_first("SELECT number FROM hx_mark WHERE writer = ?", (writer,)).await?;
    Ok(there == u64::try_from(*number).ok())
}
