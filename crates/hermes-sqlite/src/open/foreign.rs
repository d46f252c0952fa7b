//! Data in the file of other programs, mostly newer agents, that no call of ours returns.

use crate::calls::topics;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::Foreign;
use rusqlite::Connection;

/// Tables of which every column is read.
const READ: [&str; 4] = ["schema_version", "state_meta", "sessions", "messages"];

/// Counts the rows of foreign tables, and rows with a value other than the default in foreign columns of tables that we
/// read.
pub(crate) fn read(database: &Database) -> Result<Vec<Foreign>, Failure> {
    let mut foreign = Vec::new();
    for table in tables(database)? {
        let rows = |condition: &str| -> Result<u64, rusqlite::Error> {
            let sql = format!("SELECT count(*) FROM main.{} WHERE {condition}", quoted(&table));
            database.query_row(&sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
        };
        let Some(known) = known(&table) else {
            if READ.contains(&table.as_str()) {
                continue;
            }
            let rows = rows("1")?;
            if rows > 0 {
                foreign.push(Foreign { table, column: None, rows });
            }
            continue;
        };
        for (column, default) in columns_of(database, &table)? {
            if known.contains(&column.as_str()) {
                continue;
            }
            // A default is an SQL expression of the schema; without one it is NULL.
            let default = default.unwrap_or_else(|| "NULL".into());
            let name = quoted(&column);
            let rows = rows(&format!("{name} IS NOT NULL AND {name} IS NOT ({default})"))?;
            if rows > 0 {
                foreign.push(Foreign { table: table.clone(), column: Some(column), rows });
            }
        }
    }
    foreign.sort();
    Ok(foreign)
}

/// Lists the tables that are neither ours, nor SQLite's, nor part of a search index: those of the agent and of other
/// programs.
///
/// # Errors
/// An error of SQLite.
pub fn tables(connection: &Connection) -> Result<Vec<String>, rusqlite::Error> {
    let mut statement = connection.prepare(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' \
         AND name NOT GLOB 'sqlite_*' AND name NOT GLOB 'hx_*' ORDER BY name",
    )?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Returns the columns that are read of a table; `None` if all or none of its columns are read.
fn known(table: &str) -> Option<Vec<&'static str>> {
    Some(topics::columns(table)?.split(", ").map(str::trim).collect())
}

fn columns_of(database: &Database, table: &str) -> Result<Vec<(String, Option<String>)>, rusqlite::Error> {
    let mut statement = database.prepare("SELECT name, dflt_value FROM pragma_table_info(?, 'main')")?;
    statement.query_map([table], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
