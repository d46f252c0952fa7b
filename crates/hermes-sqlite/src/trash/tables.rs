//! The tables of the trash: rows with every column that the agent's tables have, whichever agent made them.
//!
//! They are made with the first conversation that goes to the trash. Columns that an agent has added since are added here before the next
//! one goes, with the default that the agent's own rows got.

use crate::database::Database;
use crate::error::Failure;

/// What is in the trash. `gone` says that only its messages are left, to be taken away.
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

/// A table of the trash, the agent's table whose rows it has, what it has besides, and its indexes.
struct Kept {
    name: &'static str,
    of: &'static str,
    besides: &'static str,
    indexes: &'static str,
}

const SESSIONS: Kept = Kept {
    name: "hx_trash_session",
    of: "sessions",
    besides: "hx_number INTEGER NOT NULL, hx_relation TEXT, hx_origin TEXT",
    indexes: "CREATE INDEX IF NOT EXISTS hx_trash_session_id ON hx_trash_session(id);
        CREATE INDEX IF NOT EXISTS hx_trash_session_number ON hx_trash_session(hx_number);",
};
const MESSAGES: Kept = Kept {
    name: "hx_trash_message",
    of: "messages",
    besides: "hx_number INTEGER NOT NULL",
    indexes: "CREATE INDEX IF NOT EXISTS hx_trash_message_place ON hx_trash_message(hx_number, session_id, id);",
};

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
}

impl Column {
    /// What a row of the agent's gets from one of the trash: its own value, or the default where it has none and needs one.
    pub(super) fn back(&self) -> String {
        match &self.default {
            Some(default) if self.is_required => format!("coalesce({}, ({default}))", self.name),
            _ => self.name.clone(),
        }
    }
}

/// The columns that are stored in a table, in order; none if it is not there.
fn columns_of(database: &Database, table: &str) -> Result<Vec<Column>, rusqlite::Error> {
    // Columns that are computed are not among them.
    let mut statement =
        database.prepare("SELECT name, type, dflt_value, \"notnull\" FROM pragma_table_info(?, 'main')")?;
    let columns = statement.query_map([table], |row| {
        Ok(Column {
            name: format!("\"{}\"", row.get::<_, String>(0)?.replace('"', "\"\"")),
            kind: row.get(1)?,
            default: row.get(2)?,
            is_required: row.get(3)?,
        })
    })?;
    columns.collect()
}

/// Whether anything was ever in the trash.
pub(super) fn are_there(database: &Database) -> Result<bool, rusqlite::Error> {
    database.prepare_cached("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = 'hx_trash'")?.exists([])
}

/// Makes the tables, or what is missing of them.
pub(super) fn make(database: &Database) -> Result<(), Failure> {
    database.execute_batch(ENTRIES)?;
    for Kept { name, of, besides, indexes } in [SESSIONS, MESSAGES] {
        let (agents, ours) = (columns_of(database, of)?, columns_of(database, name)?);
        if ours.is_empty() {
            // No constraint of the agent's: what it once took is kept, whatever it takes later.
            let list: Vec<String> = agents.iter().map(|column| format!("{} {}", column.name, column.kind)).collect();
            database.execute_batch(&format!("CREATE TABLE {name} ({besides}, {})", list.join(", ")))?;
        } else {
            for column in agents.iter().filter(|column| !ours.iter().any(|other| other.name == column.name)) {
                add(database, name, column)?;
            }
        }
        database.execute_batch(indexes)?;
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

/// The columns of sessions that both tables have.
pub(super) fn of_sessions(database: &Database) -> Result<Vec<Column>, rusqlite::Error> {
    shared(database, &SESSIONS)
}

/// The columns of messages that both tables have.
pub(super) fn of_messages(database: &Database) -> Result<Vec<Column>, rusqlite::Error> {
    shared(database, &MESSAGES)
}

fn shared(database: &Database, kept: &Kept) -> Result<Vec<Column>, rusqlite::Error> {
    let ours = columns_of(database, kept.name)?;
    let mut columns = columns_of(database, kept.of)?;
    columns.retain(|column| ours.iter().any(|other| other.name == column.name));
    Ok(columns)
}

/// The names of columns, behind a prefix.
pub(super) fn names(columns: &[Column], prefix: &str) -> String {
    columns.iter().map(|column| format!("{prefix}{}", column.name)).collect::<Vec<_>>().join(", ")
}
