//! How much the file holds, and how its space is used. No message text is read.

use crate::calls::row::{Row, time};
use crate::care::refresh;
use crate::care::stale::preview_bit;
use crate::error::Failure;
use crate::open::shape::Shape;
use crate::write::database::Database;
use hermes_session::{Room, SessionId, SessionPart, Source, Statistics};
use hermes_sql::{columns, decode};
use std::path::Path;

/// First column after those of the usage.
const FACTS: usize = 14;

pub(crate) fn statistics(database: &Database) -> Result<Statistics, Failure> {
    let mut statement = match database.prepare(&sessions(database.shape(), "INDEXED BY hx_sessions_card")) {
        Ok(statement) => statement,
        // A foreign writer dropped the index: the answer is the same, but slower.
        Err(_) => database.prepare(&sessions(database.shape(), ""))?,
    };
    let mut statistics = Statistics::default();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let text = |index: usize| -> Result<Option<String>, Failure> {
            let value = row.get_ref(FACTS + index)?;
            Ok(value.as_bytes().ok().map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
        };
        let is_true = |index: usize| row.get::<_, Option<bool>>(FACTS + index).map(|value| value == Some(true));
        let started_at = time(row, FACTS + 2)?;
        let last_active = match row.get::<_, Option<String>>(FACTS + 7)? {
            None => time(row, FACTS + 4)?,
            // A foreign writer changed something: the stored time is stale.
            Some(id) => started_at.max(refresh::last_active(database, &SessionId::from_stored(id))?),
        };
        statistics.add(SessionPart {
            source: Source::from_stored(text(0)?.unwrap_or_default()),
            model: text(1)?,
            started_at,
            has_ended: is_true(3)?,
            last_active,
            is_listed: is_true(5)?,
            messages: row.get::<_, i64>(FACTS + 6)?.unsigned_abs(),
            usage: decode::usage(&Row(row)),
        });
    }
    Ok(statistics)
}

/// Returns the statement for all sessions. `card` names the covering index, or is empty.
fn sessions(shape: Shape, card: &str) -> String {
    format!(
        "SELECT {}, s.source, s.model, s.started_at, s.ended_at IS NOT NULL, h.last_active, \
         h.root = h.session_id AND NOT {}, \
         (SELECT count(*) FROM {} m WHERE m.session_id = s.id), CASE WHEN h.dirty & {} THEN s.id END \
         FROM hx_session h CROSS JOIN sessions s {card} ON s.id = h.session_id ORDER BY h.session_id",
        columns::USAGE,
        shape.is_archived("s"),
        shape.every_message(),
        preview_bit!()
    )
}

/// Measures the space of everything that is not a session or a message, by counting pages.
pub(crate) fn room(database: &Database, path: &Path) -> Result<Room, Failure> {
    let number =
        |name: &str| database.pragma_query_value(None, name, |row| row.get::<_, i64>(0).map(i64::unsigned_abs));
    let page = number("page_size")?;
    let indexes: i64 = database.query_row(
        "SELECT coalesce(sum(d.pgsize), 0) FROM sqlite_schema s CROSS JOIN dbstat d ON d.name = s.name AND d.aggregate = 1 \
         WHERE s.rootpage > 0 AND NOT (s.type = 'table' AND s.name IN ('sessions', 'messages'))",
        [],
        |row| row.get(0),
    )?;
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Ok(Room {
        bytes: number("page_count")? * page,
        log: std::fs::metadata(log).map_or(0, |facts| facts.len()),
        free: number("freelist_count")? * page,
        indexes: indexes.unsigned_abs(),
    })
}
