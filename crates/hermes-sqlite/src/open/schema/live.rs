//! The tables of live clients: leases, turns, mail, routes. They came with revision 2.
//!
//! Opening a file parses every object in it, so there are only those indexes without which a call would read a whole
//! table. Open turns and unsettled mail are few at any time.

use crate::error::Failure;
use crate::write::database::Database;
use rusqlite::Connection;

/// Mail that is settled is kept for a while; the partial indexes hold the rest.
pub(super) const TABLES: &str = "
CREATE TABLE IF NOT EXISTS hx_lease (
    resource TEXT NOT NULL PRIMARY KEY,
    token INTEGER NOT NULL,
    host TEXT NOT NULL,
    process INTEGER NOT NULL,
    born TEXT NOT NULL,
    label TEXT NOT NULL,
    busy INTEGER NOT NULL,
    taken_at REAL NOT NULL,
    until REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hx_turn (
    turn INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    route TEXT,
    fence INTEGER,
    attempts INTEGER NOT NULL,
    opened_at REAL NOT NULL,
    opened_by TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS hx_inbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    account TEXT NOT NULL,
    chat TEXT NOT NULL,
    message_id TEXT NOT NULL,
    route TEXT,
    session_id TEXT,
    payload TEXT NOT NULL,
    state TEXT NOT NULL,
    turn INTEGER,
    stored_message INTEGER,
    attempts INTEGER NOT NULL,
    received_at REAL NOT NULL,
    settled_at REAL
);
CREATE UNIQUE INDEX IF NOT EXISTS hx_inbox_message ON hx_inbox(account, chat, message_id);
CREATE INDEX IF NOT EXISTS hx_inbox_open ON hx_inbox(state, turn) WHERE settled_at IS NULL;
CREATE INDEX IF NOT EXISTS hx_inbox_session ON hx_inbox(session_id) WHERE session_id IS NOT NULL;
CREATE TABLE IF NOT EXISTS hx_cursor (
    account TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hx_outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    turn INTEGER,
    session_id TEXT,
    account TEXT NOT NULL,
    destination TEXT NOT NULL,
    part INTEGER NOT NULL,
    parts INTEGER NOT NULL,
    body TEXT NOT NULL,
    plain TEXT,
    nonce TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    doubtful INTEGER NOT NULL,
    not_before REAL,
    holder TEXT,
    platform_id TEXT,
    last_error TEXT,
    created_at REAL NOT NULL,
    settled_at REAL
);
CREATE INDEX IF NOT EXISTS hx_outbox_open ON hx_outbox(account, destination) WHERE settled_at IS NULL;
CREATE INDEX IF NOT EXISTS hx_outbox_session ON hx_outbox(session_id);
CREATE TABLE IF NOT EXISTS hx_route (
    key TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    session_key TEXT NOT NULL,
    source TEXT,
    display_name TEXT,
    created_at REAL NOT NULL,
    touched_at REAL NOT NULL,
    suspended INTEGER NOT NULL,
    notice TEXT,
    last_prompt_tokens INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hx_route_session ON hx_route(session_id);
CREATE TABLE IF NOT EXISTS hx_route_alias (
    old TEXT NOT NULL PRIMARY KEY,
    key TEXT NOT NULL
) WITHOUT ROWID;
";

/// Statements that remove what belongs to a session that is deleted. `?1` is the session, `?2` the time.
///
/// Received messages that it was to get are done. The last part of the key of a hold is a name without a colon; the
/// session before it may contain colons.
pub(crate) const FORGET_SESSION: [&str; 8] = [
    "UPDATE hx_inbox SET state = 'done', payload = '', settled_at = ?2 WHERE settled_at IS NULL \
     AND (session_id = ?1 OR turn IN (SELECT turn FROM hx_turn WHERE session_id = ?1))",
    "UPDATE hx_inbox SET session_id = NULL WHERE session_id = ?1",
    "DELETE FROM hx_turn WHERE session_id = ?1",
    "DELETE FROM hx_outbox WHERE session_id = ?1",
    "DELETE FROM hx_route_alias WHERE key IN (SELECT key FROM hx_route WHERE session_id = ?1)",
    "DELETE FROM hx_route WHERE session_id = ?1",
    "DELETE FROM hx_lease WHERE resource = 'c:' || ?1",
    "DELETE FROM hx_lease WHERE resource > 'h:' || ?1 || ':' AND resource < 'h:' || ?1 || ';' \
     AND instr(substr(resource, length(?1) + 4), ':') = 0",
];

/// Columns that revision 2 added to tables of revision 1, each with the end of the definition.
const COLUMNS: [(&str, &str, &str); 7] = [
    ("hx_session", "cause", "TEXT"),
    ("hx_handoff", "expires_at", "REAL"),
    ("hx_handoff", "claimed_by", "TEXT"),
    ("hx_handoff", "destination", "TEXT"),
    ("hx_handoff", "thread", "TEXT"),
    ("hx_handoff", "turn", "INTEGER"),
    ("hx_handoff", "synthetic_from", "INTEGER"),
];

/// Returns the statements of [`FORGET_SESSION`] for a trigger on `sessions`. A trigger reads no clock: a message counts
/// as done when it was received.
pub(super) fn in_trigger() -> String {
    let filled = |statement: &str| statement.replace("?1", "old.id").replace("?2", "received_at");
    FORGET_SESSION.map(|statement| format!("    {};\n", filled(statement))).concat()
}

/// Adds the tables, and the columns that tables of revision 1 lack. Runs inside the caller's transaction.
pub(super) fn add(database: &Database) -> Result<(), Failure> {
    database.execute_batch(TABLES)?;
    for (table, column, definition) in COLUMNS {
        if has_table(database, table)? && !has_column(database, table, column)? {
            database.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {column} {definition}"))?;
        }
    }
    Ok(())
}

fn has_table(connection: &Connection, table: &str) -> Result<bool, rusqlite::Error> {
    connection.prepare("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?")?.exists([table])
}

fn has_column(connection: &Connection, table: &str, column: &str) -> Result<bool, rusqlite::Error> {
    connection.prepare("SELECT 1 FROM pragma_table_info(?, 'main') WHERE name = ?")?.exists([table, column])
}
