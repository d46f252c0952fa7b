//! Compares the counters of each session with its rows.

use crate::calls::row::text;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::{Check, Json, MessageBody, Role};
use std::collections::HashMap;

/// Counts of the rows of a session.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    rows: i64,
    /// Rows of the transcript: newer agents leave rewound messages in the table.
    live: i64,
    calls: i64,
    live_calls: i64,
    /// Whether a list of calls could not be parsed.
    is_partial: bool,
}

pub(super) fn look(database: &Database, check: &mut Check) -> Result<(), Failure> {
    let mut tallies = tally(database, check)?;
    let takes_back = database.shape().in_transcript() != "1";
    let mut statement =
        database.prepare("SELECT id, coalesce(message_count, 0), coalesce(tool_call_count, 0) FROM sessions NOT INDEXED WHERE id IS NOT NULL AND id NOT IN (SELECT session_id FROM hx_hidden)")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Some(id) = text(row, 0)? else { continue };
        let tally = tallies.remove(&id).unwrap_or_default();
        check.looked_at += 1;
        let mut compare = |column: usize, name: &str, live: i64, all: i64| -> Result<(), rusqlite::Error> {
            let stored = text(row, column)?.unwrap_or_default();
            // An agent that keeps rewound messages in the table keeps them in the counter too.
            if stored == live.to_string() || (takes_back && stored == all.to_string()) {
                return Ok(());
            }
            let (object, what) = (format!("sessions {id}"), format!("has {name} {stored}, not {live}"));
            if takes_back {
                check.note(object, what)
            } else {
                check.problem(object, what)
            }
            Ok(())
        };
        compare(1, "message_count", tally.live, tally.rows)?;
        if !tally.is_partial {
            compare(2, "tool_call_count", tally.live_calls, tally.calls)?;
        }
    }
    Ok(())
}

/// Reads the table once, in its own order, without the message texts.
fn tally(database: &Database, check: &mut Check) -> Result<HashMap<String, Tally>, Failure> {
    let mut tallies: HashMap<String, Tally> = HashMap::new();
    let mut statement = database.prepare(&format!(
        "SELECT session_id, {}, tool_calls, id FROM messages NOT INDEXED",
        database.shape().in_transcript()
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Some(session) = text(row, 0)? else { continue };
        let live: i64 = row.get(1)?;
        let calls = match text(row, 2)?.map(|text| Json::parse(&text)) {
            None => Some(0),
            Some(Ok(calls)) => {
                Some(MessageBody { tool_calls: Some(calls), ..MessageBody::empty(Role::Assistant) }.tool_call_count())
            }
            Some(Err(_)) => {
                check.problem(format!("messages {}", row.get::<_, i64>(3)?), "has tool_calls that are not JSON");
                None
            }
        };
        let tally = match tallies.get_mut(&session) {
            Some(tally) => tally,
            None => tallies.entry(session).or_default(),
        };
        tally.rows += 1;
        tally.live += live;
        tally.calls += calls.unwrap_or(0);
        tally.live_calls += calls.unwrap_or(0) * live;
        tally.is_partial |= calls.is_none();
    }
    Ok(tallies)
}
