//! Completes salvaged rows: rebuilds lost sessions, fills in times of cut rows, and counts losses.

use super::SalvagedTable;
use super::fill::{Scratch, Table, known};
use crate::quoted;
use hermes_sqlite::file::Failure;

/// How a table was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reading {
    /// Whether its tree could be followed to every end.
    pub(super) is_whole: bool,
    /// Whether an index that covers every row could be followed to every end.
    pub(super) has_index: bool,
}

/// Counts sessions whose row was rebuilt.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Made {
    /// From the indexes.
    pub(super) rebuilt: u64,
    /// From their messages alone.
    pub(super) recovered: u64,
}

/// Stands for the time of a row whose own time was cut off.
const NO_TIME: &str = "-1.0";

/// Fills in times that were cut off: from an index, else from the message before.
pub(super) fn times(scratch: &Scratch) -> Result<(), Failure> {
    scratch.connection.execute_batch(&format!(
        "UPDATE messages SET timestamp = coalesce(
             (SELECT k.timestamp FROM known_messages k WHERE k.hx_rowid = messages.rowid AND typeof(k.timestamp) IN ('real', 'integer')),
             (SELECT b.timestamp FROM messages b WHERE b.session_id = messages.session_id AND b.rowid < messages.rowid AND b.timestamp <> {NO_TIME} ORDER BY b.rowid DESC LIMIT 1),
             (SELECT started_at FROM sessions WHERE id = messages.session_id AND started_at <> {NO_TIME}), 0.0)
         WHERE timestamp = {NO_TIME};
         UPDATE sessions SET started_at = coalesce(
             (SELECT k.started_at FROM known_sessions k WHERE k.hx_rowid = sessions.rowid AND typeof(k.started_at) IN ('real', 'integer')),
             (SELECT min(timestamp) FROM messages WHERE session_id = sessions.id), 0.0)
         WHERE started_at = {NO_TIME};"
    ))?;
    Ok(())
}

/// Rebuilds sessions whose row is lost: from the indexes, else from their messages.
pub(super) fn sessions(scratch: &Scratch, table: &Table) -> Result<Made, Failure> {
    let others: Vec<&String> =
        table.columns.names.iter().filter(|name| !["id", "source", "started_at"].contains(&name.as_str())).collect();
    let mut made = Made::default();
    // A column that no index has is left out, so that it gets its default.
    let mut told = Vec::new();
    for name in others {
        if scratch.number(&format!("SELECT count(*) FROM known_sessions WHERE {} IS NOT NULL", quoted(name)))? > 0 {
            told.push(quoted(name));
        }
    }
    let names: String = told.iter().map(|name| format!(", {name}")).collect();
    let first = "(SELECT min(timestamp) FROM messages WHERE session_id = k.id)";
    made.rebuilt = scratch.connection.execute(
        &format!(
            "INSERT OR IGNORE INTO sessions (rowid, id, source, started_at{names})
             SELECT hx_rowid, id, coalesce(source, 'recovered'), coalesce(started_at, {first}){names} FROM known_sessions k
             WHERE typeof(id) = 'text' AND coalesce(started_at, {first}) IS NOT NULL
                 AND hx_rowid NOT IN (SELECT rowid FROM sessions)"
        ),
        [],
    )? as u64;
    made.recovered = scratch.connection.execute(
        "INSERT INTO sessions (id, source, started_at)
         SELECT session_id, 'recovered', min(timestamp) FROM messages
         WHERE session_id NOT IN (SELECT id FROM sessions WHERE id IS NOT NULL) GROUP BY session_id",
        [],
    )? as u64;
    if scratch.has("session_model_usage", "first_seen") {
        made.recovered += scratch.connection.execute(
            "INSERT INTO sessions (id, source, started_at)
             SELECT session_id, 'recovered', coalesce(min(first_seen), 0.0) FROM session_model_usage
             WHERE typeof(session_id) = 'text' AND session_id NOT IN (SELECT id FROM sessions WHERE id IS NOT NULL) GROUP BY session_id",
            [],
        )? as u64;
    }
    Ok(made)
}

/// Counts the saved and lost rows of a table. Runs before the sessions' counters are recomputed: they are evidence of
/// lost messages.
pub(super) fn count(scratch: &Scratch, table: &Table, reading: Reading) -> Result<SalvagedTable, Failure> {
    let name = quoted(&table.name);
    let saved = scratch.number(&format!("SELECT count(*) FROM {name}"))?;
    let mut lost = scratch.number(&format!(
        "SELECT count(*) FROM {} WHERE hx_rowid NOT IN (SELECT rowid FROM {name})",
        quoted(&known(&table.name))
    ))?;
    if table.name == "messages" && !reading.has_index {
        let by_counters = scratch.number(
            "SELECT coalesce(sum(max(0, coalesce(s.message_count, 0) - (SELECT count(*) FROM messages m WHERE m.session_id = s.id))), 0)
             FROM sessions s WHERE typeof(s.message_count) = 'integer'",
        )?;
        lost = lost.max(by_counters);
    }
    let is_certain = reading.is_whole || reading.has_index;
    let lost = if reading.is_whole && table.refused == 0 { 0 } else { lost.max(table.refused) };
    Ok(SalvagedTable { name: table.name.clone(), saved, cut: table.cut, lost, is_certain })
}

/// Stores the schema version of a newer agent's file that lost it: the lowest one with these columns, from which that
/// agent upgrades.
pub(super) fn version(scratch: &Scratch) -> Result<(), Failure> {
    let least = match () {
        () if scratch.has("session_model_usage", "task") => 22,
        () if scratch.has("session_model_usage", "model") => 20,
        () if scratch.has("messages", "active") => 12,
        () => return Ok(()),
    };
    scratch.connection.execute(
        "INSERT INTO schema_version (version) SELECT ? WHERE NOT EXISTS (SELECT 1 FROM schema_version WHERE typeof(version) = 'integer')",
        [least],
    )?;
    Ok(())
}

/// Removes sessions that were hidden. Returns how many there were.
pub(super) fn leave_out(scratch: &Scratch, hidden: &[String]) -> Result<u64, Failure> {
    let mut gone = 0;
    for id in hidden {
        gone += scratch.connection.prepare_cached("DELETE FROM sessions WHERE id = ?")?.execute([id])? as u64;
        scratch.connection.prepare_cached("DELETE FROM known_sessions WHERE id = ?")?.execute([id])?;
        for table in scratch.tables.iter().filter(|table| table.columns.place("session_id").is_some()) {
            for name in [table.name.clone(), known(&table.name)] {
                let sql = format!("DELETE FROM {} WHERE session_id = ?", quoted(&name));
                scratch.connection.prepare_cached(&sql)?.execute([id])?;
            }
        }
    }
    Ok(gone)
}

/// Removes rows of other tables that refer to a session that is lost.
pub(super) fn widowed(scratch: &mut Scratch) -> Result<(), Failure> {
    let widowed: Vec<(String, i64)> = {
        let mut statement = scratch.connection.prepare(
            "SELECT DISTINCT \"table\", rowid FROM pragma_foreign_key_check WHERE \"table\" NOT IN ('messages', 'sessions') AND rowid IS NOT NULL",
        )?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?
    };
    for (name, rowid) in widowed {
        let sql = format!("DELETE FROM {} WHERE rowid = ?", quoted(&name));
        scratch.connection.prepare_cached(&sql)?.execute([rowid])?;
        if let Some(table) = scratch.tables.iter_mut().find(|table| table.name == name) {
            table.refused += 1;
        }
    }
    Ok(())
}
