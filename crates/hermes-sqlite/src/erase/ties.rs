//! Rows of the agent's other tables that belong to a session: its goal, work that it sent out, what is on its way to a chat.
//!
//! They are told by the names of columns, whichever release made the table: few of them say by a constraint what they refer to.

use super::signs::each;
use crate::database::Database;
use crate::error::Failure;
use crate::foreign::{quoted, tables};
use hermes_session::needles::Needles;
use hermes_session::versions::Versions;
use hermes_session::{Json, SessionId, Trashed};
use rusqlite::{ToSql, params};
use std::collections::BTreeSet;

/// Columns with the id of a session.
const BY_ID: [&str; 3] = ["session_id", "parent_session_id", "origin_ui_session_id"];
/// Columns with the key of a chat, which several sessions may have had one after the other, or an id.
const BY_KEY: [&str; 2] = ["session_key", "origin_session"];
/// Tables that are gone through by themselves.
const OTHERS: [&str; 3] = ["sessions", "messages", "schema_version"];

/// What ties rows to sessions.
pub(super) struct Ties {
    /// Each table, quoted, and the condition on its rows.
    tables: Vec<(String, String)>,
    ids: String,
    keys: String,
}

impl Ties {
    /// Looks up what belongs to sessions, which have to be there still, or in the trash.
    pub(super) fn of(database: &Database, versions: &Versions) -> Result<Self, Failure> {
        let ids = list(versions.members.iter().map(SessionId::as_str));
        let keys = keys(database, &ids, &versions.trashed)?;
        let mut found = Vec::new();
        for table in tables(database)? {
            if table == "state_meta" {
                // What the agent keeps about a session has its id at the end of the key, such as `goal:ID`.
                let is_its = "substr(state_meta.key, -length(j.value) - 1) = ':' || j.value";
                let condition = format!("EXISTS (SELECT 1 FROM json_each(?1) j WHERE {is_its})");
                found.push((table, condition));
            } else if !OTHERS.contains(&table.as_str())
                && let Some(condition) = condition(database, &table)?
            {
                found.push((quoted(&table), condition));
            }
        }
        Ok(Self { tables: found, ids, keys })
    }

    /// Takes the signs of these rows.
    pub(super) fn take(&self, database: &Database, needles: &mut Needles) -> Result<(), Failure> {
        for (table, condition) in &self.tables {
            let sql = format!("SELECT * FROM main.{table} WHERE ({condition}) AND ?1 IS NOT NULL AND ?2 IS NOT NULL");
            let values: [&dyn ToSql; 2] = [&self.ids, &self.keys];
            each(database, &sql, &values, |value| needles.take(value))?;
        }
        Ok(())
    }

    /// Removes these rows.
    pub(super) fn remove(&self, database: &Database) -> Result<(), Failure> {
        for (table, condition) in &self.tables {
            let sql = format!("DELETE FROM main.{table} WHERE ({condition}) AND ?1 IS NOT NULL AND ?2 IS NOT NULL");
            database.execute(&sql, params![self.ids, self.keys])?;
        }
        Ok(())
    }
}

/// The condition on the rows of a table for belonging to a session; nothing if no column tells. `?1` is a list of ids and `?2` one of
/// keys.
fn condition(database: &Database, table: &str) -> Result<Option<String>, Failure> {
    let names = |sql: &str| -> Result<Vec<String>, rusqlite::Error> {
        database.prepare(sql)?.query_map([table], |row| row.get(0))?.collect()
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
        // A chat's route names in its JSON the session that the chat goes on in.
        for column in columns.iter().filter(|column| column.ends_with("_json")) {
            let column = quoted(column);
            ties.push(format!("EXISTS (SELECT 1 FROM json_each(?1) j WHERE instr({column}, json_quote(j.value)) > 0)"));
        }
    }
    Ok((!ties.is_empty()).then(|| ties.join(" OR ")))
}

/// The keys of chats that these sessions have had and no other one has.
fn keys(database: &Database, ids: &str, trashed: &[Trashed]) -> Result<String, Failure> {
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
        let has_keys = database
            .prepare("SELECT 1 FROM pragma_table_info(?, 'main') WHERE name = 'session_key'")?
            .exists([table])?;
        if !has_keys {
            continue;
        }
        let mut statement = database.prepare(&format!(
            "SELECT session_key, ({its}) FROM main.{table} WHERE typeof(session_key) = 'text' AND session_key <> ''"
        ))?;
        let mut rows = statement.query(params![ids, numbers])?;
        while let Some(row) = rows.next()? {
            let of = if row.get::<_, bool>(1)? { &mut keys } else { &mut others };
            of.extend(crate::row::text(row, 0)?);
        }
    }
    Ok(list(keys.difference(&others).map(String::as_str)))
}

/// A list as SQL takes it.
pub(super) fn list<'a>(values: impl Iterator<Item = &'a str>) -> String {
    let values: Vec<String> = values.map(|value| Json::string(value).to_string()).collect();
    format!("[{}]", values.join(","))
}
