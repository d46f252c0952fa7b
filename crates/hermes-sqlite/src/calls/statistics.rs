//! How much the file holds, and where its room goes. No text is read for it.

use crate::calls::row::{Row, time};
use crate::care::refresh;
use crate::care::stale::preview_bit;
use crate::error::Failure;
use crate::open::shape::Shape;
use crate::write::database::Database;
use hermes_session::{Room, SessionId, SessionPart, Source, Statistics};
use hermes_sql::{columns, decode};
use std::path::Path;

/// Behind the columns of the usage.
const FACTS: usize = 14;

pub(crate) fn statistics(database: &Database) -> Result<Statistics, Failure> {
    let mut statement = match database.prepare(&sessions(database.shape(), "INDEXED BY hx_sessions_card")) {
        Ok(statement) => statement,
        // Somebody dropped the index: slower, and right.
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
            // A foreign writer changed something: what the side row says is to be told anew.
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

/// A row for each session. `card` names the index that has its columns, or nothing.
fn sessions(shape: Shape, card: &str) -> String {
    format!(
        "SELECT {}, s.source, s.model, s.started_at, s.ended_at IS NOT NULL, h.last_active, \
         h.root = h.session_id AND (SELECT {} FROM sessions r LEFT JOIN sessions t ON t.id = h.tip WHERE r.id = h.session_id), \
         (SELECT count(*) FROM messages m WHERE m.session_id = s.id), CASE WHEN h.dirty & {} THEN s.id END \
         FROM hx_session h CROSS JOIN sessions s {card} ON s.id = h.session_id ORDER BY h.session_id",
        columns::USAGE,
        shape.is_listed(),
        preview_bit!()
    )
}

/// Walks through all that is not a session or a message: pages are counted, not read as text.
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
