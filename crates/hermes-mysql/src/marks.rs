//! The rows of marks on this server, see [`hermes_sql::server::Marks`].

use crate::error::Failure;
use hermes_sql::server::{Mark, Marks};
use mysql_async::Conn;
use mysql_async::prelude::Queryable as _;

/// The number of a row that no commit counts on any more.
const FENCED: &str = "18446744073709551615";

/// A row that nobody else uses. A new one comes with its first commit.
pub(crate) async fn take(marks: &Marks, conn: &mut Conn) -> Result<Mark, Failure> {
    if let Some(mark) = marks.take() {
        return Ok(mark);
    }
    // Rows of writers that ended go with it. One that was only silent for so long gets another row, too.
    conn.query_drop("DELETE FROM hx_mark WHERE at < UTC_TIMESTAMP() - INTERVAL 7 DAY LIMIT 1000").await?;
    Ok(Mark::fresh())
}

/// Counts on to a mark and commits, in one go: the server stops at the first statement that fails. It fails unless the row stands where the writer left
/// it, or is not there before its first commit: a key is there once, and a number without a sign can't be less than nothing.
///
/// Several statements in one message take no bound values. The writer is a name of ours ([`Mark::fresh`]) that needs no quoting.
pub(crate) fn commit(Mark { writer, number }: &Mark) -> String {
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

/// Whether the commit that should have counted on to a mark happened. If not, it never will.
pub(crate) async fn is_reached(Mark { writer, number }: &Mark, conn: &mut Conn) -> Result<bool, Failure> {
    let before = number - 1;
    // Waits for a transaction that has counted on and not ended. A writer whose first commit it was has no row yet.
    let fence = format!(
        "INSERT INTO hx_mark (writer, number, at) VALUES (?, {FENCED}, UTC_TIMESTAMP()) ON DUPLICATE KEY UPDATE \
         at = UTC_TIMESTAMP(), number = IF(number = ?, {FENCED}, number)"
    );
    conn.exec_drop(fence, (writer, before)).await?;
    let there: Option<u64> = conn.exec_first("SELECT number FROM hx_mark WHERE writer = ?", (writer,)).await?;
    Ok(there == u64::try_from(*number).ok())
}
