//! The tables of the trash: they have every column of the agent's tables, of any release.
//!
//! They are created with the first conversation that is moved to the trash. Columns that an agent adds later are added
//! before the next one is moved, with the default of the agent's column. The same holds for other tables whose rows are
//! deleted with the session that they refer to.

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

/// A table of the trash, the agent's table whose rows it keeps, its additional columns, and its indexes.
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

/// Undone messages (`crate::calls::undo`). Their columns are those of messages, in the trash or not.
fn undone() -> Kept {
    Kept {
        name: "hx_undone".into(),
        of: "messages".into(),
        besides: "hx_batch INTEGER, hx_undone_at REAL, hx_number INTEGER",
        indexes: "CREATE INDEX IF NOT EXISTS hx_undone_place ON hx_undone(session_id, id);
            CREATE TRIGGER IF NOT EXISTS hx_undone_gone AFTER DELETE ON sessions BEGIN
                DELETE FROM hx_undone WHERE session_id = old.id AND hx_number IS NULL;
            END;"
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

/// A table of the agent whose rows are deleted with the session that they refer to, and the table that keeps them. The
/// names are quoted.
pub(super) struct Linked {
    pub(super) table: String,
    /// The column with the session's id.
    pub(super) column: String,
    pub(super) kept: String,
    /// The columns that both have.
    pub(super) columns: Vec<Column>,
}

/// Returns the tables whose rows are deleted with a session, each with the column of the session's id. Chat topics are
/// left out: they are not restored.
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

/// Returns the quoted names of the tables that keep rows which referred to a session, also if the agent's table is
/// gone.
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
    /// Its declared type.
    kind: String,
    /// Its default, as SQL.
    default: Option<String>,
    /// Whether it is NOT NULL.
    is_required: bool,
    /// Whether it alone is the primary key.
    is_key: bool,
}

impl Column {
    /// Returns the expression that restores the column: its value, or the default if it is NULL and the column is
    /// required.
    pub(super) fn back(&self) -> String {
        match &self.default {
            Some(default) if self.is_required => format!("coalesce({}, ({default}))", self.name),
            _ => self.name.clone(),
        }
    }

    /// Returns whether it is the row number, which SQLite assigns if it is NULL.
    pub(super) fn is_number_of_row(&self) -> bool {
        self.is_key && self.kind.eq_ignore_ascii_case("INTEGER")
    }
}

/// Returns the stored columns of a table, in order. Empty if there is no such table.
pub(super) fn columns_of(database: &Database, table: &str) -> Result<Vec<Column>, rusqlite::Error> {
    // This pragma leaves out generated columns.
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

/// Returns whether the tables of the trash exist.
pub(super) fn are_there(database: &Database) -> Result<bool, rusqlite::Error> {
    database.prepare_cached("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'hx_trash'")?.exists([])
}

/// Creates the tables, and columns that are missing.
pub(super) fn make(database: &Database) -> Result<(), Failure> {
    database.execute_batch(ENTRIES)?;
    let with = going_with_a_session(database)?;
    let with = with.iter().map(|(table, _)| referring(table));
    for kept in [sessions(), messages()].into_iter().chain(with) {
        make_one(database, &kept)?;
    }
    if !keeps_archived(database)? {
        database.execute_batch("ALTER TABLE hx_trash_session ADD COLUMN hx_archived INTEGER")?;
    }
    Ok(())
}

/// Creates the table of undone messages, and columns that are missing.
pub(crate) fn make_undone(database: &Database) -> Result<(), Failure> {
    make_one(database, &undone())
}

/// Returns the columns that messages and undone messages have.
pub(crate) fn undone_columns(database: &Database) -> Result<String, rusqlite::Error> {
    Ok(names(&shared(database, &undone())?, ""))
}

fn make_one(database: &Database, Kept { name, of, besides, indexes }: &Kept) -> Result<(), Failure> {
    let (agents, ours) = (columns_of(database, of)?, columns_of(database, name)?);
    let name = quoted(name);
    if ours.is_empty() {
        // Without the agent's constraints: a row that it accepted is kept even if its rules change.
        let list: Vec<String> = agents.iter().map(|column| format!("{} {}", column.name, column.kind)).collect();
        database.execute_batch(&format!("CREATE TABLE {name} ({besides}, {})", list.join(", ")))?;
    } else {
        for column in agents.iter().filter(|column| !ours.iter().any(|other| other.name == column.name)) {
            add(database, &name, column)?;
        }
    }
    Ok(database.execute_batch(indexes)?)
}

/// Adds a column, with its default if SQLite accepts that for existing rows.
fn add(database: &Database, table: &str, column: &Column) -> Result<(), Failure> {
    let plain = format!("ALTER TABLE {table} ADD COLUMN {} {}", column.name, column.kind);
    let Some(default) = &column.default else { return Ok(database.execute_batch(&plain)?) };
    match database.execute_batch(&format!("{plain} DEFAULT {default}")) {
        // SQLite refuses a default that is an expression.
        Err(_) => Ok(database.execute_batch(&plain)?),
        Ok(()) => Ok(()),
    }
}

/// Returns whether the trash records which sessions our own table had as archived. A table that an earlier release
/// created gets the column when the next conversation is moved.
pub(super) fn keeps_archived(database: &Database) -> Result<bool, rusqlite::Error> {
    let mut statement =
        database.prepare_cached("SELECT 1 FROM pragma_table_info(?, 'main') WHERE name = 'hx_archived'")?;
    statement.exists([sessions().name])
}

/// Returns the columns of sessions that both tables have.
pub(super) fn of_sessions(database: &Database) -> Result<Vec<Column>, rusqlite::Error> {
    shared(database, &sessions())
}

/// Returns the columns of messages that both tables have.
pub(super) fn of_messages(database: &Database) -> Result<Vec<Column>, rusqlite::Error> {
    shared(database, &messages())
}

fn shared(database: &Database, kept: &Kept) -> Result<Vec<Column>, rusqlite::Error> {
    let ours = columns_of(database, &kept.name)?;
    let mut columns = columns_of(database, &kept.of)?;
    columns.retain(|column| ours.iter().any(|other| other.name == column.name));
    Ok(columns)
}

/// Returns the names of columns, each after a prefix.
pub(super) fn names(columns: &[Column], prefix: &str) -> String {
    columns.iter().map(|column| format!("{prefix}{}", column.name)).collect::<Vec<_>>().join(", ")
}
