//! The tables of the trash: rows with every column that the agent's tables have, whichever agent made them.
//!
//! They are made with the first conversation that goes to the trash. Columns that an agent has added since are added here before the next
//! one goes, with the default that the agent's own rows got. The same holds for tables whose rows go with a session that they refer to.

use crate::calls::topics;
use crate::error::Failure;
use crate::write::database::Database;
use rusqlite::Connection;

/// The entries of the trash. `gone` is 1 while only messages of the entry are left to delete.
const ENTRIES: &str = "
CREATE TABLE IF NOT EXISTS hx_trash (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    title TEXT,
    source TEXT NOT NULL,
    deleted_at REAL NOT NULL,
    kept_until REAL NOT NULL,
    sessions INTEGER NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0,
    pinned_at REAL,
    tags TEXT NOT NULL DEFAULT '',
    gone INTEGER NOT NULL DEFAULT 0
);
";

/// Prefix of the tables that keep rows which refer to a session; the name of the agent's table follows.
const WITH: &str = "hx_trash_with_";

/// A table of the trash, the agent's table whose rows it has, what it has besides, and its indexes.
struct Kept {
    name: String,
    of: String,
    besides: &'static str,
    indexes: String,
}

fn sessions() -> Kept {
    Kept {
        name: "hx_trash_session".into(),
        of: "sessions".into(),
        besides: "hx_number INTEGER NOT NULL, hx_relation TEXT, hx_origin TEXT, hx_archived INTEGER",
        indexes: "CREATE INDEX IF NOT EXISTS hx_trash_session_id ON hx_trash_session(id);
            CREATE INDEX IF NOT EXISTS hx_trash_session_number ON hx_trash_session(hx_number);"
            .into(),
    }
}

fn messages() -> Kept {
    Kept {
        name: "hx_trash_message".into(),
        of: "messages".into(),
        besides: "hx_number INTEGER NOT NULL",
        indexes: "CREATE INDEX IF NOT EXISTS hx_trash_message_place ON hx_trash_message(hx_number, session_id, id);"
            .into(),
    }
}

fn referring(table: &str) -> Kept {
    let name = format!("{WITH}{table}");
    let index = quoted(&format!("{name}_number"));
    let indexes = format!("CREATE INDEX IF NOT EXISTS {index} ON {}(hx_number);", quoted(&name));
    Kept { name, of: table.to_owned(), besides: "hx_number INTEGER NOT NULL", indexes }
}

pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A table of the agent's whose rows go with the session that they refer to, and the one that keeps them. The names are quoted.
pub(super) struct Linked {
    pub(super) table: String,
    /// The column with the session's id.
    pub(super) column: String,
    pub(super) kept: String,
    /// The columns that both have.
    pub(super) columns: Vec<Column>,
}

/// The tables whose rows go with a session, each with the column that says with which. Chat topics do not come back.
pub(super) fn going_with_a_session(database: &Database) -> Result<Vec<(String, String)>, rusqlite::Error> {
    let mut statement = database.prepare_cached(
        "SELECT t.name, min(f.\"from\") FROM main.sqlite_schema t JOIN pragma_foreign_key_list(t.name) f \
         WHERE t.type = 'table' AND f.\"table\" = 'sessions' AND coalesce(f.\"to\", 'id') = 'id' \
         AND t.name NOT IN ('sessions', 'messages') AND t.name NOT GLOB 'hx_*' \
         GROUP BY t.name HAVING count(*) = 1 AND min(f.on_delete) IN ('CASCADE', 'NO ACTION', 'RESTRICT')",
    )?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)))?;
    let mut tables: Vec<(String, String)> = rows.collect::<Result<_, _>>()?;
    tables.retain(|(table, _)| topics::columns(table).is_none());
    Ok(tables)
}

/// Returns those tables for which the trash has a table.
pub(super) fn linked(database: &Database) -> Result<Vec<Linked>, rusqlite::Error> {
    let mut linked = Vec::new();
    for (table, column) in going_with_a_session(database)? {
        let kept = referring(&table);
        let columns = shared(database, &kept)?;
        if !columns.is_empty() {
            linked.push(Linked { table: quoted(&table), column: quoted(&column), kept: quoted(&kept.name), columns });
        }
    }
    Ok(linked)
}

/// The tables that keep rows which referred to a session, whether or not the agent still has its own. The names are quoted.
pub(super) fn with_sessions(database: &Database) -> Result<Vec<String>, rusqlite::Error> {
    Ok(kept_with_sessions(database)?.iter().map(|(_, kept)| quoted(kept)).collect())
}

/// Returns the agent's tables whose rows went to the trash with a session, each with the table that keeps them.
pub(crate) fn kept_with_sessions(connection: &Connection) -> Result<Vec<(String, String)>, rusqlite::Error> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name GLOB '{WITH}*' ORDER BY name"
    ))?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    names.map(|name| name.map(|name| (name.trim_start_matches(WITH).to_owned(), name))).collect()
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column {
    /// Its name, quoted.
    pub(super) name: String,
    /// Its type as it was written.
    kind: String,
    /// Its default, as SQL.
    default: Option<String>,
    /// Whether it takes no NULL.
    is_required: bool,
    /// Whether it tells rows apart by itself.
    is_key: bool,
}

impl Column {
    /// Returns the expression that restores the column: its value, or the default if it is NULL and the column is required.
    pub(super) fn back(&self) -> String {
        match &self.default {
            Some(default) if self.is_required => format!("coalesce({}, ({default}))", self.name),
            _ => self.name.clone(),
        }
    }

    /// Whether SQLite gives it a number by itself where it has none.
    pub(super) fn is_number_of_row(&self) -> bool {
        self.is_key && self.kind.eq_ignore_ascii_case("INTEGER")
    }
}

/// The columns that are stored in a table, in order; none if it is not there.
pub(super) fn columns_of(database: &Database, table: &str) -> Result<Vec<Column>, rusqlite::Error> {
    // Columns that are computed are not among them.
    let mut statement =
        database.prepare("SELECT name, type, dflt_value, \"notnull\", pk FROM pragma_table_info(?, 'main')")?;
    let columns = statement.query_map([table], |row| {
        Ok(Column {
            name: quoted(&row.get::<_, String>(0)?),
            kind: row.get(1)?,
            default: row.get(2)?,
            is_required: row.get(3)?,
            is_key: row.get::<_, i64>(4)? > 0,
        })
    })?;
    let mut columns: Vec<Column> = columns.collect::<Result<_, _>>()?;
    if columns.iter().filter(|column| column.is_key).count() > 1 {
        columns.iter_mut().for_each(|column| column.is_key = false);
    }
    Ok(columns)
}

/// Whether anything was ever in the trash.
pub(super) fn are_there(database: &Database) -> Result<bool, rusqlite::Error> {
    database.prepare_cached("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'hx_trash'")?.exists([])
}

/// Makes the tables, or what is missing of them.
pub(super) fn make(database: &Database) -> Result<(), Failure> {
    database.execute_batch(ENTRIES)?;
    let with = going_with_a_session(database)?;
    let with = with.iter().map(|(table, _)| referring(table));
    for Kept { name, of, besides, indexes } in [sessions(), messages()].into_iter().chain(with) {
        let (agents, ours) = (columns_of(database, &of)?, columns_of(database, &name)?);
        let name = quoted(&name);
        if ours.is_empty() {
            // No constraint of the agent's: what it once took is kept, whatever it takes later.
            let list: Vec<String> = agents.iter().map(|column| format!("{} {}", column.name, column.kind)).collect();
            database.execute_batch(&format!("CREATE TABLE {name} ({besides}, {})", list.join(", ")))?;
        } else {
            for column in agents.iter().filter(|column| !ours.iter().any(|other| other.name == column.name)) {
                add(database, &name, column)?;
            }
        }
        database.execute_batch(&indexes)?;
    }
    if !keeps_archived(database)? {
        database.execute_batch("ALTER TABLE hx_trash_session ADD COLUMN hx_archived INTEGER")?;
    }
    Ok(())
}

/// Adds a column, with its default if rows that are there can have it.
fn add(database: &Database, table: &str, column: &Column) -> Result<(), Failure> {
    let plain = format!("ALTER TABLE {table} ADD COLUMN {} {}", column.name, column.kind);
    let Some(default) = &column.default else { return Ok(database.execute_batch(&plain)?) };
    match database.execute_batch(&format!("{plain} DEFAULT {default}")) {
        // One that has to be computed can't be.
        Err(_) => Ok(database.execute_batch(&plain)?),
        Ok(()) => Ok(()),
    }
}

/// Returns whether the trash says which sessions our own table had as archived. A table that an earlier release made has
/// no column for it until the next conversation goes.
pub(super) fn keeps_archived(database: &Database) -> Result<bool, rusqlite::Error> {
    let mut statement =
        database.prepare_cached("SELECT 1 FROM pragma_table_info(?, 'main') WHERE name = 'hx_archived'")?;
    statement.exists([sessions().name])
}

/// The columns of sessions that both tables have.
pub(super) fn of_sessions(database: &Database) -> Result<Vec<Column>, rusqlite::Error> {
    shared(database, &sessions())
}

/// The columns of messages that both tables have.
pub(super) fn of_messages(database: &Database) -> Result<Vec<Column>, rusqlite::Error> {
    shared(database, &messages())
}

fn shared(database: &Database, kept: &Kept) -> Result<Vec<Column>, rusqlite::Error> {
    let ours = columns_of(database, &kept.name)?;
    let mut columns = columns_of(database, &kept.of)?;
    columns.retain(|column| ours.iter().any(|other| other.name == column.name));
    Ok(columns)
}

/// The names of columns, behind a prefix.
pub(super) fn names(columns: &[Column], prefix: &str) -> String {
    columns.iter().map(|column| format!("{prefix}{}", column.name)).collect::<Vec<_>>().join(", ")
}
