//! Recounts the messages and tool calls of a session.

use crate::calls::row::{require, text};
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::{Json, MessageBody, Role, SessionId};
use rusqlite::params;

/// Returns the right counters of a session; `None` if the stored ones are right.
///
/// A newer agent keeps rewound messages in the table, and counts them or not: both numbers are accepted. If a list of
/// tool calls can't be parsed, their number is unknown and the stored counter stays.
pub(crate) fn wrong(database: &Database, id: &SessionId) -> Result<Option<Counters>, Failure> {
    require(database, id)?;
    let mut statement = database.prepare_cached(
        "SELECT CAST(coalesce(message_count, 0) AS INTEGER), CAST(coalesce(tool_call_count, 0) AS INTEGER) FROM sessions WHERE id = ?",
    )?;
    let stored =
        statement.query_row(params![id.as_str()], |row| Ok(Counters { messages: row.get(0)?, calls: row.get(1)? }))?;
    let (mut live, mut all, mut is_partial) = (Counters::default(), Counters::default(), false);
    let sql = format!("SELECT {}, tool_calls FROM messages WHERE session_id = ?", database.shape().in_transcript());
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query(params![id.as_str()])?;
    while let Some(row) = rows.next()? {
        let is_live = row.get::<_, Option<i64>>(0)?.unwrap_or(0);
        let calls = match text(row, 1)?.map(|text| Json::parse(&text)) {
            None => 0,
            Some(Ok(calls)) => {
                MessageBody { tool_calls: Some(calls), ..MessageBody::empty(Role::Assistant) }.tool_call_count()
            }
            Some(Err(_)) => {
                is_partial = true;
                0
            }
        };
        all = Counters { messages: all.messages + 1, calls: all.calls + calls };
        live = Counters { messages: live.messages + is_live, calls: live.calls + calls * is_live };
    }
    let right = |stored: i64, live: i64, all: i64| if stored == all { stored } else { live };
    let calls = if is_partial { stored.calls } else { right(stored.calls, live.calls, all.calls) };
    let right = Counters { messages: right(stored.messages, live.messages, all.messages), calls };
    Ok((right != stored).then_some(right))
}

/// How many messages and tool calls a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counters {
    messages: i64,
    calls: i64,
}

/// Recounts a session. Returns whether its counters were wrong.
pub(crate) fn recount(database: &Database, id: &SessionId) -> Result<bool, Failure> {
    let Some(right) = wrong(database, id)? else { return Ok(false) };
    database
        .prepare_cached("UPDATE sessions SET message_count = ?, tool_call_count = ? WHERE id = ?")?
        .execute(params![right.messages, right.calls, id.as_str()])?;
    Ok(true)
}
