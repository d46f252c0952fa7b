//! Rows of the agent's other tables that belong to a session: its goal, delegated work, messages to be delivered.
//!
//! They are found by column names, whichever release made the table: few tables declare a foreign key.

use super::signs::each;
use crate::quoted;
use hermes_session::needles::Needles;
use hermes_session::versions::Versions;
use hermes_session::{Json, SessionId, Trashed};
use hermes_sqlite::file::{Failure, foreign_tables};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ToSql, params};
use std::collections::BTreeSet;

/// Columns with the id of a session.
const BY_ID: [&str; 3] = ["session_id", "parent_session_id", "origin_ui_session_id"];
/// Columns with the key of a chat, which several sessions may have had in turn, or an id.
const BY_KEY: [&str; 2] = ["session_key", "origin_session"];
/// Tables that are handled elsewhere.
const OTHERS: [&str; 3] = ["sessions", "messages", "schema_version"];

/// The conditions that tie rows to sessions.
pub(super) struct Ties {
    /// Each table, quoted, and the condition on its rows.
    tables: Vec<(String, String)>,
    ids: String,
    keys: String,
}

impl Ties {
    /// Finds the tables with rows of these sessions, which must still be in the store or the trash.
    pub(super) fn of(connection: &Connection, versions: &Versions) -> Result<Self, Failure> {
        let ids = list(versions.members.iter().map(SessionId::as_str));
        let keys = keys(connection, &ids, &versions.trashed)?;
        let mut found = Vec::new();
        for table in foreign_tables(connection)? {
            if table == "state_meta" {
                // The agent's values about a session end in its id, such as `goal:ID`.
                let is_its = "substr(state_meta.key, -length(j.value) - 1) = ':' || j.value";
                let condition = format!("EXISTS (SELECT 1 FROM json_each(?1) j WHERE {is_its})");
                found.push((table, condition));
            } else if !OTHERS.contains(&table.as_str())
                && let Some(condition) = condition(connection, &table)?
            {
                found.push((quoted(&table), condition));
            }
        }
        Ok(Self { tables: found, ids, keys })
    }

    /// Takes the signs of these rows.
    pub(super) fn take(&self, connection: &Connection, needles: &mut Needles) -> Result<(), Failure> {
        for (table, condition) in &self.tables {
            let sql = format!("SELECT * FROM main.{table} WHERE ({condition}) AND ?1 IS NOT NULL AND ?2 IS NOT NULL");
            let values: [&dyn ToSql; 2] = [&self.ids, &self.keys];
            each(connection, &sql, &values, |value| needles.take(value))?;
        }
        Ok(())
    }

    /// Removes these rows.
    pub(super) fn remove(&self, connection: &Connection) -> Result<(), Failure> {
        for (table, condition) in &self.tables {
            let sql = format!("DELETE FROM main.{table} WHERE ({condition}) AND ?1 IS NOT NULL AND ?2 IS NOT NULL");
            connection.execute(&sql, params![self.ids, self.keys])?;
        }
        Ok(())
    }
}

/// Returns the condition on rows of a table for belonging to a session; `None` if no column refers to one. `?1` is a
/// list of ids, `?2` of keys.
fn condition(connection: &Connection, table: &str) -> Result<Option<String>, Failure> {
    let names = |sql: &str| -> Result<Vec<String>, rusqlite::Error> {
        connection.prepare(sql)?.query_map([table], |row| row.get(0))?.collect()
    };
    let columns = names("SELECT name FROM pragma_table_info(?, 'main')")?;
    let referring = names("SELECT \"from\" FROM pragma_foreign_key_list(?) WHERE \"table\" = 'sessions'")?;
    let is_id = |column: &&String| BY_ID.contains(&column.as_str()) || referring.contains(column);
    let is_key = |column: &&String| BY_KEY.contains(&column.as_str());
    let among = |column: &String, list: &str| format!("{} IN (SELECT value FROM json_each({list}))", quoted(column));
    let mut ties: Vec<String> = columns.iter().filter(is_id).map(|column| among(column, "?1")).collect();
    let has_ids = !ties.is_empty();
    for column in columns.iter().filter(is_key) {
        ties.push(among(column, "?1"));
        ties.push(among(column, "?2"));
    }
    if !has_ids && !ties.is_empty() {
        // The JSON of a chat's route names the session that the chat continues in.
        for column in columns.iter().filter(|column| column.ends_with("_json")) {
            let column = quoted(column);
            ties.push(format!("EXISTS (SELECT 1 FROM json_each(?1) j WHERE instr({column}, json_quote(j.value)) > 0)"));
        }
    }
    Ok((!ties.is_empty()).then(|| ties.join(" OR ")))
}

/// Returns the keys of chats that these sessions have and no other session has.
fn keys(connection: &Connection, ids: &str, trashed: &[Trashed]) -> Result<String, Failure> {
    let mut keys: BTreeSet<String> = BTreeSet::new();
    let mut others: BTreeSet<String> = BTreeSet::new();
    let numbers =
        list(trashed.iter().map(|entry| entry.number.to_string()).collect::<Vec<_>>().iter().map(String::as_str));
    for (table, its) in [
        ("sessions", "id IN (SELECT value FROM json_each(?1)) AND ?2 IS NOT NULL"),
        (
            "hx_trash_session",
            "id IN (SELECT value FROM json_each(?1)) AND CAST(hx_number AS TEXT) IN (SELECT value FROM json_each(?2))",
        ),
    ] {
        let has_keys = connection
            .prepare("SELECT 1 FROM pragma_table_info(?, 'main') WHERE name = 'session_key'")?
            .exists([table])?;
        if !has_keys {
            continue;
        }
        let mut statement = connection.prepare(&format!(
            "SELECT session_key, ({its}) FROM main.{table} WHERE typeof(session_key) = 'text' AND session_key <> ''"
        ))?;
        let mut rows = statement.query(params![ids, numbers])?;
        while let Some(row) = rows.next()? {
            let of = if row.get::<_, bool>(1)? { &mut keys } else { &mut others };
            if let ValueRef::Text(key) = row.get_ref(0)? {
                of.insert(String::from_utf8_lossy(key).into_owned());
            }
        }
    }
    Ok(list(keys.difference(&others).map(String::as_str)))
}

/// Returns a JSON array for `json_each`.
pub(super) fn list<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let values: Vec<String> = values.map(|value| Json::string(value).to_string()).collect();
    format!("[{}]", values.join(","))
}
