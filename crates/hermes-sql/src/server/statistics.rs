//! Contents of the store and the space they take, without reading message text.

use super::row::Restored;
use super::{Fields as _, Sql};
use crate::{columns, decode, values};
use hermes_session::{SessionPart, Source, Statistics, Timestamp};

/// Index of the first column after those of the usage.
const FACTS: usize = 14;

/// Implements `statistics` of the contract.
pub async fn statistics<T: Sql>(transaction: &T) -> Result<Statistics, T::Failure> {
    let sql = format!(
        "SELECT {}, s.source, s.model, s.started_at, s.ended_at IS NOT NULL, h.last_active, \
         h.root = h.session_id AND s.archived = 0, \
         (SELECT count(*) FROM messages m WHERE m.session_id = s.id) \
         FROM hx_session h JOIN sessions s ON s.id = h.session_id ORDER BY h.session_id",
        columns::USAGE
    );
    let mut statistics = Statistics::default();
    for row in transaction.rows(&sql, values![]).await? {
        let time = |index: usize| -> Result<Option<Timestamp>, T::Failure> {
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
            usage: decode::usage(&Restored::new(&row)),
        });
    }
    Ok(statistics)
}
