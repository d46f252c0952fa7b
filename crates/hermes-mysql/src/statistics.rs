//! How much the store holds, and where its room goes. No text is read for it.

use crate::database::{Transaction, values};
use crate::error::Failure;
use crate::row::{Get as _, Row};
use hermes_session::{Room, SessionPart, Source, Statistics, Timestamp};
use hermes_sql::{columns, decode};

/// Behind the columns of the usage.
const FACTS: usize = 14;

pub(crate) async fn statistics(transaction: &Transaction) -> Result<Statistics, Failure> {
    let sql = format!(
        "SELECT {}, s.source, s.model, s.started_at, s.ended_at IS NOT NULL, h.last_active, h.root = h.session_id, \
         (SELECT count(*) FROM messages m WHERE m.session_id = s.id) \
         FROM hx_session h JOIN sessions s ON s.id = h.session_id ORDER BY h.session_id",
        columns::USAGE
    );
    let mut statistics = Statistics::default();
    for row in transaction.rows(&sql, values![]).await? {
        let time = |index: usize| -> Result<Option<Timestamp>, Failure> {
            Ok(Timestamp::from_seconds(row.try_get(FACTS + index)?).ok())
        };
        statistics.add(SessionPart {
            source: Source::from_stored(row.try_get::<String>(FACTS)?),
            model: row.try_get(FACTS + 1)?,
            started_at: time(2)?,
            has_ended: row.try_get(FACTS + 3)?,
            last_active: time(4)?,
            is_listed: row.try_get(FACTS + 5)?,
            messages: row.try_get::<i64>(FACTS + 6)?.unsigned_abs(),
            usage: decode::usage(&Row::new(&row)),
        });
    }
    Ok(statistics)
}

/// What the tables of the store take, as the server counts it: its lists of words are not among them. Its log is that of all its databases, so that it
/// is not told.
pub(crate) async fn room(transaction: &Transaction) -> Result<Room, Failure> {
    // Counted anew, if that may be: a server remembers for long what a table took. It ends the transaction, in which nothing was done.
    _ = transaction.batch("ANALYZE NO_WRITE_TO_BINLOG TABLE messages, sessions, hx_search, hx_term").await;
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
