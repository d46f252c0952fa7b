//! Our side tables, and the triggers that keep them up to date while foreign writers write.
//!
//! The triggers are plain SQL that the agent's own SQLite can run. They do only simple things: stamp the relation of a
//! new session to its parent, move times forward, and record what is stale (`dirty`: 1 = preview and times, 2 = place
//! in the lineage). `Stale` in `care/stale.rs` names these bits; they stay numbers here because this text is compared
//! with the text in the file.

use super::{OLDEST_READER, READS_FROM, REVISION, live};
use crate::calls::changes::RECORDING;
use crate::error::Failure;
use crate::write::database::{Card, Database};

/// The key in `hx_state` under which the ids of sessions being erased are stored.
pub const ERASING: &str = "erasing";

/// `root` is the session that the conversation starts with; a row that is its own root is a row of the list. On such a
/// row `tip` is the end of its chain and `active` the newest activity of the conversation; on other rows they have no
/// meaning. `origin` is the parent at creation, which stays when the agent clears the link. Columns of later revisions
/// follow on the line of the last one, where SQLite adds them.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS hx_session (
    session_id TEXT NOT NULL PRIMARY KEY,
    relation TEXT NOT NULL,
    origin TEXT,
    root TEXT NOT NULL,
    tip TEXT NOT NULL,
    started_at REAL NOT NULL,
    last_active REAL NOT NULL,
    active REAL NOT NULL,
    preview TEXT NOT NULL DEFAULT '',
    dirty INTEGER NOT NULL DEFAULT 0, cause TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hx_session_active ON hx_session(active DESC, session_id DESC) WHERE root = session_id;
CREATE INDEX IF NOT EXISTS hx_session_started ON hx_session(started_at DESC, session_id DESC) WHERE root = session_id;
CREATE INDEX IF NOT EXISTS hx_session_last_active ON hx_session(last_active DESC, session_id DESC);
CREATE INDEX IF NOT EXISTS hx_session_root ON hx_session(root);
CREATE INDEX IF NOT EXISTS hx_session_dirty ON hx_session(session_id) WHERE dirty <> 0;
CREATE TABLE IF NOT EXISTS hx_request (
    request_key TEXT NOT NULL PRIMARY KEY,
    session_id TEXT NOT NULL,
    message_id INTEGER,
    fingerprint TEXT NOT NULL,
    answer TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS hx_request_session ON hx_request(session_id);
CREATE TABLE IF NOT EXISTS hx_state (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS hx_hidden (
    session_id TEXT NOT NULL PRIMARY KEY,
    state TEXT NOT NULL,
    messages INTEGER NOT NULL DEFAULT 0,
    last_message INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
";

/// Covering index of all columns of a session that a list shows. In the table itself those columns lie behind the
/// system prompt, so reading one walks through its overflow pages. It is created separately, because that takes a while
/// on a file with many sessions; until then lists are slower.
const CARD: &str = "
CREATE INDEX IF NOT EXISTS hx_sessions_card ON sessions(id, source, user_id, model, parent_session_id, started_at, ended_at, end_reason,
    message_count, tool_call_count, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
    api_call_count, estimated_cost_usd, actual_cost_usd, cost_status, cost_source, pricing_version, billing_provider,
    billing_base_url, billing_mode, title);
";

/// Infers the relations of existing rows once, as the agent does: by times and end reasons. Of the children that start
/// after a compression, the first is the continuation; later ones are branches, so that nothing is hidden.
pub(super) const STAMP: &str = "
INSERT INTO hx_session (session_id, relation, origin, root, tip, started_at, last_active, active, dirty)
SELECT s.id,
    CASE
        WHEN p.id IS NULL OR p.id = s.id THEN 'root'
        WHEN instr(coalesce(s.model_config, ''), '\"_branched_from\"') > 0 THEN 'branch'
        WHEN instr(coalesce(s.model_config, ''), '\"_delegate_from\"') > 0 THEN 'delegate'
        WHEN p.end_reason = 'compression' AND s.started_at >= p.ended_at THEN
            CASE WHEN EXISTS (SELECT 1 FROM sessions o WHERE o.parent_session_id = p.id AND o.started_at >= p.ended_at
                AND (o.started_at < s.started_at OR (o.started_at = s.started_at AND o.id < s.id)))
            THEN 'branch' ELSE 'continuation' END
        WHEN p.end_reason = 'branched' AND s.started_at >= p.ended_at THEN 'branch'
        ELSE 'delegate'
    END,
    s.parent_session_id, s.id, s.id, s.started_at,
    max(s.started_at, coalesce((SELECT m.timestamp FROM messages m WHERE m.session_id = s.id AND m.timestamp <= 9e999
        ORDER BY m.timestamp DESC LIMIT 1), s.started_at)),
    s.started_at, 3
FROM sessions s LEFT JOIN sessions p ON p.id = s.parent_session_id
WHERE s.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM hx_session x WHERE x.session_id = s.id);
";

const TRIGGERS: &str = "
CREATE TRIGGER IF NOT EXISTS hx_session_joins AFTER INSERT ON hx_session WHEN new.root <> new.session_id BEGIN
    UPDATE hx_session SET tip = new.session_id
        WHERE session_id = new.root AND new.relation = 'continuation' AND tip = new.origin;
    UPDATE hx_session SET active = new.last_active WHERE session_id = new.root AND active < new.last_active;
END;
CREATE TRIGGER IF NOT EXISTS hx_session_born AFTER INSERT ON sessions
WHEN new.id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM hx_session WHERE session_id = new.id) BEGIN
    INSERT INTO hx_session (session_id, relation, origin, root, tip, started_at, last_active, active)
    SELECT new.id, b.relation, new.parent_session_id,
        CASE WHEN b.relation IN ('continuation', 'delegate')
            THEN coalesce((SELECT root FROM hx_session WHERE session_id = new.parent_session_id), new.id)
            ELSE new.id END,
        new.id, new.started_at, new.started_at, new.started_at
    FROM (SELECT CASE
        WHEN new.parent_session_id IS NULL OR new.parent_session_id = new.id THEN 'root'
        WHEN instr(coalesce(new.model_config, ''), '\"_branched_from\"') > 0 THEN 'branch'
        WHEN instr(coalesce(new.model_config, ''), '\"_delegate_from\"') > 0 THEN 'delegate'
        WHEN (SELECT end_reason FROM sessions WHERE id = new.parent_session_id) = 'compression' THEN
            CASE WHEN EXISTS (SELECT 1 FROM sessions o JOIN hx_session x ON x.session_id = o.id
                WHERE o.parent_session_id = new.parent_session_id AND x.relation = 'continuation')
            THEN 'branch' ELSE 'continuation' END
        WHEN (SELECT end_reason FROM sessions WHERE id = new.parent_session_id) = 'branched' THEN 'branch'
        WHEN NOT EXISTS (SELECT 1 FROM sessions WHERE id = new.parent_session_id) THEN 'root'
        ELSE 'delegate' END AS relation) b;
END;
CREATE TRIGGER IF NOT EXISTS hx_session_moved AFTER UPDATE OF parent_session_id ON sessions
WHEN new.parent_session_id IS NOT old.parent_session_id BEGIN
    UPDATE hx_session SET dirty = dirty | 2 WHERE root = (SELECT root FROM hx_session WHERE session_id = new.id);
    UPDATE hx_session SET relation = 'root', root = session_id, active = last_active, dirty = dirty | 2
        WHERE session_id = new.id AND new.parent_session_id IS NULL;
END;
CREATE TRIGGER IF NOT EXISTS hx_session_restarted AFTER UPDATE OF started_at ON sessions BEGIN
    UPDATE hx_session SET started_at = new.started_at, dirty = dirty | 1 WHERE session_id = new.id;
END;
CREATE TRIGGER IF NOT EXISTS hx_message_said AFTER INSERT ON messages BEGIN
    UPDATE hx_session SET
        last_active = CASE WHEN typeof(new.timestamp) = 'real' THEN max(last_active, new.timestamp) ELSE last_active END,
        active = CASE WHEN root = session_id AND typeof(new.timestamp) = 'real' THEN max(active, new.timestamp) ELSE active END,
        dirty = dirty | (preview = '' AND new.role = 'user')
        WHERE session_id = new.session_id;
    UPDATE hx_session SET active = new.timestamp
        WHERE session_id = (SELECT root FROM hx_session WHERE session_id = new.session_id AND root <> session_id)
        AND active < new.timestamp AND typeof(new.timestamp) = 'real';
END;
CREATE TRIGGER IF NOT EXISTS hx_message_changed AFTER UPDATE ON messages BEGIN
    UPDATE hx_session SET dirty = dirty | 1 WHERE session_id IN (old.session_id, new.session_id) AND dirty & 1 = 0;
END;
CREATE TRIGGER IF NOT EXISTS hx_message_gone AFTER DELETE ON messages BEGIN
    UPDATE hx_session SET dirty = dirty | 1 WHERE session_id = old.session_id AND dirty & 1 = 0;
END;
";

/// The start of the trigger for a session that is deleted. The statements of [`live`] follow.
const GONE: &str = "
CREATE TRIGGER IF NOT EXISTS hx_session_gone AFTER DELETE ON sessions BEGIN
    UPDATE hx_session SET dirty = dirty | 2 WHERE root = (SELECT root FROM hx_session WHERE session_id = old.id);
    UPDATE hx_session SET dirty = dirty | 2, root = session_id, active = last_active WHERE origin = old.id AND root = old.id;
    DELETE FROM hx_session WHERE session_id = old.id;
    DELETE FROM hx_request WHERE session_id = old.id;
";

/// Adds the side tables to a file and stamps its existing rows. Runs inside the caller's transaction.
pub(super) fn add(database: &Database) -> Result<(), Failure> {
    database.execute_batch(TABLES)?;
    database.execute_batch(STAMP)?;
    database.execute_batch(TRIGGERS)?;
    upgrade(database)?;
    // Triggers of the feed went with a table that was dropped. It starts again when somebody follows it.
    database.execute("DELETE FROM hx_state WHERE key = ?", [RECORDING])?;
    // Lists depend on places; previews are computed for the rows of a page until they are stored.
    crate::care::refresh::places(database)?;
    if !database.prepare("SELECT 1 FROM sessions LIMIT 1")?.exists([])? {
        add_card(database)?;
    }
    Ok(())
}

/// Brings a file of any earlier revision to the current one.
pub(super) fn upgrade(database: &Database) -> Result<(), Failure> {
    live::add(database)?;
    database.execute_batch(&format!("DROP TRIGGER IF EXISTS hx_session_gone; {GONE}{}END;", live::in_trigger()))?;
    database.execute(
        "INSERT OR REPLACE INTO hx_state (key, value) VALUES (?, ?)",
        [READS_FROM, &OLDEST_READER.to_string()],
    )?;
    Ok(database.pragma_update(None, "user_version", REVISION)?)
}

/// Returns whether the index of lists is missing.
pub(crate) fn lacks_card(database: &Database) -> Result<bool, rusqlite::Error> {
    Ok(!database.prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = 'hx_sessions_card'")?.exists([])?)
}

/// Creates the index of lists.
pub(crate) fn add_card(database: &Database) -> Result<(), Failure> {
    Ok(database.execute_batch(CARD)?)
}

/// Removes the index of lists, which may be damaged, as `card` says.
pub(crate) fn remove_card(database: &Database, card: Card) -> Result<(), Failure> {
    match card {
        Card::Kept => Ok(()),
        Card::Dropped => Ok(database.execute_batch("DROP INDEX IF EXISTS main.hx_sessions_card")?),
        Card::Forgotten => {
            let cookie: i64 = database.pragma_query_value(None, "schema_version", |row| row.get(0))?;
            database.pragma_update(None, "writable_schema", true)?;
            let delete = "DELETE FROM main.sqlite_schema WHERE type = 'index' AND name = 'hx_sessions_card'";
            let removed = database.execute_batch(delete);
            // Other connections reload the schema because its version changed, this one because of the RESET.
            database.pragma_update(None, "schema_version", cookie + 1)?;
            database.execute_batch("PRAGMA writable_schema = RESET")?;
            Ok(removed?)
        }
    }
}

/// Returns the statements that create the side tables as temporary tables.
pub(super) fn temporary_tables() -> String {
    temporary(TABLES)
}

/// Copies `hx_session` into memory, where it can be changed while the file is only read. From then on statements that
/// name it use the copy.
pub(crate) fn copy_sessions_to_memory(database: &Database) -> Result<(), Failure> {
    let is_wanted =
        |statement: &&str| statement.contains("EXISTS hx_session (") || statement.contains(" ON hx_session(");
    let statements: Vec<&str> = TABLES.split_inclusive(';').filter(is_wanted).collect();
    database.execute_batch(&temporary(&statements.concat()))?;
    // A file of an earlier revision lacks the last column.
    let columns: String = database.query_row(
        "SELECT group_concat(name, ', ') FROM pragma_table_info('hx_session', 'main')",
        [],
        |row| row.get(0),
    )?;
    let copy = format!("INSERT INTO temp.hx_session ({columns}) SELECT {columns} FROM main.hx_session");
    Ok(database.execute_batch(&copy)?)
}

/// Returns statements that create the same tables and indexes in memory.
pub(super) fn temporary(statements: &str) -> String {
    statements
        .replace("CREATE TABLE IF NOT EXISTS ", "CREATE TEMP TABLE ")
        .replace("CREATE INDEX IF NOT EXISTS ", "CREATE INDEX temp.")
        .replace("CREATE UNIQUE INDEX IF NOT EXISTS ", "CREATE UNIQUE INDEX temp.")
        // It would create a temporary `sqlite_sequence`, which hides that of the file.
        .replace(" AUTOINCREMENT", "")
}
