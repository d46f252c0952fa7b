//! The counters of a session, told anew from its messages.

use crate::calls::row::{require, text};
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::{Json, MessageBody, Role, SessionId};
use rusqlite::params;

/// What a session should count, if it counts otherwise.
///
/// What a newer agent takes back it leaves in the table, and in the counter: there both numbers are right. Where a list of calls can't be
/// read, nobody knows how many there are, and their counter is left as it is.
pub(crate) fn wrong(database: &Database, id: &SessionId) -> Result<Option<Counters>, Failure> {
    require(database, id)?;
    let mut statement = database.prepare_cached(
        "SELECT CAST(coalesce(message_count, 0) AS INTEGER), CAST(coalesce(tool_call_count, 0) AS INTEGER) FROM sessions WHERE id = ?",
    )?;
    let told =
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
    let right = |told: i64, live: i64, all: i64| if told == all { told } else { live };
    let calls = if is_partial { told.calls } else { right(told.calls, live.calls, all.calls) };
    let right = Counters { messages: right(told.messages, live.messages, all.messages), calls };
    Ok((right != told).then_some(right))
}

/// How many messages and tool calls a session has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Counters {
    messages: i64,
    calls: i64,
}

/// Counts a session anew; whether it had counted otherwise.
pub(crate) fn recount(database: &Database, id: &SessionId) -> Result<bool, Failure> {
    let Some(right) = wrong(database, id)? else { return Ok(false) };
    database
        .prepare_cached("UPDATE sessions SET message_count = ?, tool_call_count = ? WHERE id = ?")?
        .execute(params![right.messages, right.calls, id.as_str()])?;
    Ok(true)
}
