//! The agent's tables of chat topics. The agent creates them when a user turns topics on, so they may be missing.

use crate::calls::meta;
use crate::calls::row::{require, time};
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::topics::{BindingPlace, judge_binding, judge_mode};
use hermes_session::{
    Conflict, SessionId, Timestamp, TopicBinding, TopicChange, TopicMode, Topics, TopicsImported, Unreadable,
};
use rusqlite::{OptionalExtension as _, Row, params};

const MODES: &str = "telegram_dm_topic_mode";
const BINDINGS: &str = "telegram_dm_topic_bindings";

/// Key under which the agent stores the schema version of these tables.
const VERSION_KEY: &str = "telegram_dm_topic_schema_version";
const VERSION: &str = "2";

/// Version 2 of the tables, as the agent defines them.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS telegram_dm_topic_mode (
    chat_id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    enabled INTEGER NOT NULL DEFAULT 1,
    activated_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    has_topics_enabled INTEGER,
    allows_users_to_create_topics INTEGER,
    capability_checked_at REAL,
    intro_message_id TEXT,
    pinned_message_id TEXT
);
CREATE TABLE IF NOT EXISTS telegram_dm_topic_bindings (
    chat_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    user_id TEXT NOT NULL,
    session_key TEXT NOT NULL,
    session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
    managed_mode TEXT NOT NULL DEFAULT 'auto',
    linked_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    PRIMARY KEY (chat_id, thread_id)
);
CREATE UNIQUE INDEX IF NOT EXISTS idx_telegram_dm_topic_bindings_session ON telegram_dm_topic_bindings(session_id);
CREATE INDEX IF NOT EXISTS idx_telegram_dm_topic_bindings_user ON telegram_dm_topic_bindings(user_id, chat_id);
";

const MODE_COLUMNS: &str = "chat_id, user_id, enabled, activated_at, updated_at, has_topics_enabled, \
     allows_users_to_create_topics, capability_checked_at, intro_message_id, pinned_message_id";
const BINDING_COLUMNS: &str =
    "chat_id, thread_id, user_id, session_key, session_id, managed_mode, linked_at, updated_at";

/// Returns the columns that are read of a topic table; `None` for any other table.
pub(crate) fn columns(table: &str) -> Option<&'static str> {
    match table {
        MODES => Some(MODE_COLUMNS),
        BINDINGS => Some(BINDING_COLUMNS),
        _ => None,
    }
}

/// Reads all topic modes and bindings.
pub(crate) fn read(database: &Database) -> Result<Topics, Failure> {
    let mut topics = Topics::default();
    if has_table(database, MODES)? {
        let mut statement = database.prepare(&format!("SELECT {MODE_COLUMNS} FROM {MODES} ORDER BY chat_id"))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match mode(row) {
                Ok(mode) => topics.modes.push(mode),
                Err(why) => topics.unreadable.push(unreadable(MODES, row, 1, why)),
            }
        }
    }
    if has_table(database, BINDINGS)? {
        let sql = format!("SELECT {BINDING_COLUMNS} FROM {BINDINGS} ORDER BY chat_id, thread_id");
        let mut statement = database.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match binding(row) {
                Ok(binding) => topics.bindings.push(binding),
                Err(why) => topics.unreadable.push(unreadable(BINDINGS, row, 2, why)),
            }
        }
    }
    Ok(topics)
}

/// Imports topics. The tables are created only if there is something to store.
pub(crate) fn import(database: &Database, topics: &Topics) -> Result<TopicsImported, Failure> {
    let mut imported = TopicsImported::default();
    if topics.modes.is_empty() && topics.bindings.is_empty() {
        return Ok(imported);
    }
    make_tables(database)?;
    for mode in &topics.modes {
        let there = mode_of(database, &mode.chat_id)?;
        if imported.count_mode(mode, judge_mode(mode, there.as_ref())) {
            put_mode(database, mode)?;
        }
    }
    for binding in &topics.bindings {
        let place = place(database, binding)?;
        if imported.count_binding(binding, judge_binding(binding, &place)) {
            put_binding(database, binding)?;
        }
    }
    Ok(imported)
}

/// Changes topics. The tables are created with the first one.
pub(crate) fn change(database: &Database, change: &TopicChange, at: Timestamp) -> Result<(), Failure> {
    match change {
        TopicChange::Prepare => make_tables(database),
        TopicChange::On { chat_id, user_id, has_topics_enabled, allows_users_to_create_topics } => {
            make_tables(database)?;
            let there = mode_of(database, chat_id)?;
            let capabilities = (*has_topics_enabled, *allows_users_to_create_topics);
            set_mode(database, &TopicMode::on(there, chat_id, user_id, capabilities, at))
        }
        TopicChange::Off { chat_id, clears } => {
            if let Some(there) = mode_of(database, chat_id)? {
                set_mode(database, &there.off(at))?;
            }
            if *clears && has_table(database, BINDINGS)? {
                database
                    .prepare_cached("DELETE FROM telegram_dm_topic_bindings WHERE chat_id = ?")?
                    .execute([chat_id])?;
            }
            Ok(())
        }
        TopicChange::Bind { chat_id, thread_id, user_id, session_key, session_id, managed_mode } => {
            require(database, session_id)?;
            make_tables(database)?;
            if let Some(other) = binding_of(database, session_id)?
                && (&other.chat_id, &other.thread_id) != (chat_id, thread_id)
            {
                let (chat_id, thread_id) = (other.chat_id, other.thread_id);
                return Err(Conflict::TopicTaken { session: session_id.clone(), chat_id, thread_id }.into());
            }
            let there = binding_at(database, chat_id, thread_id)?;
            database
                .prepare_cached("DELETE FROM telegram_dm_topic_bindings WHERE chat_id = ? AND thread_id = ?")?
                .execute([chat_id, thread_id])?;
            let binding = TopicBinding {
                chat_id: chat_id.clone(),
                thread_id: thread_id.clone(),
                user_id: user_id.clone(),
                session_key: session_key.clone(),
                session_id: session_id.clone(),
                managed_mode: managed_mode.clone(),
                linked_at: there.map_or(at, |there| there.linked_at),
                updated_at: at,
            };
            put_binding(database, &binding)
        }
    }
}

/// Returns the topic mode of a chat; `None` if it has none.
pub(crate) fn mode_of(database: &Database, chat_id: &str) -> Result<Option<TopicMode>, Failure> {
    if !has_table(database, MODES)? {
        return Ok(None);
    }
    let sql = format!("SELECT {MODE_COLUMNS} FROM {MODES} WHERE chat_id = ?");
    let there = database.prepare_cached(&sql)?.query_row([chat_id], |row| Ok(mode(row))).optional()?;
    there.transpose().map_err(|why| Failure::Damaged(format!("{MODES} {chat_id}: {why}")))
}

/// Returns the binding of a topic; `None` if there is none.
pub(crate) fn binding_at(database: &Database, chat_id: &str, thread_id: &str) -> Result<Option<TopicBinding>, Failure> {
    one_binding(database, "chat_id = ? AND thread_id = ?", &[chat_id, thread_id])
}

/// Returns the binding that leads to a session; `None` if there is none.
pub(crate) fn binding_of(database: &Database, session: &SessionId) -> Result<Option<TopicBinding>, Failure> {
    one_binding(database, "session_id = ?", &[session.as_str()])
}

fn one_binding(database: &Database, condition: &str, values: &[&str]) -> Result<Option<TopicBinding>, Failure> {
    if !has_table(database, BINDINGS)? {
        return Ok(None);
    }
    let sql = format!("SELECT {BINDING_COLUMNS} FROM {BINDINGS} WHERE {condition}");
    let mut statement = database.prepare_cached(&sql)?;
    let there = statement.query_row(rusqlite::params_from_iter(values), |row| Ok(binding(row))).optional()?;
    there.transpose().map_err(|why| Failure::Damaged(format!("{BINDINGS} {}: {why}", values.join(" "))))
}

fn set_mode(database: &Database, mode: &TopicMode) -> Result<(), Failure> {
    database.prepare_cached("DELETE FROM telegram_dm_topic_mode WHERE chat_id = ?")?.execute([&mode.chat_id])?;
    put_mode(database, mode)
}

/// Moves the binding of a session to its continuation.
pub(crate) fn carry(database: &Database, parent: &SessionId, child: &SessionId, now: Timestamp) -> Result<(), Failure> {
    if has_table(database, BINDINGS)? {
        database
            .prepare_cached(
                "UPDATE telegram_dm_topic_bindings SET session_id = ?, updated_at = ? WHERE session_id = ?",
            )?
            .execute(params![child.as_str(), now.seconds(), parent.as_str()])?;
    }
    Ok(())
}

/// Deletes the binding of a deleted session.
pub(crate) fn unbind(database: &Database, id: &SessionId) -> Result<(), Failure> {
    if has_table(database, BINDINGS)? {
        database
            .prepare_cached("DELETE FROM telegram_dm_topic_bindings WHERE session_id = ?")?
            .execute(params![id.as_str()])?;
    }
    Ok(())
}

fn has_table(database: &Database, name: &str) -> Result<bool, rusqlite::Error> {
    database.prepare_cached("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")?.exists([name])
}

/// Creates the missing tables. A version 1 table of bindings is left to the agent, which migrates it if the stored
/// version is not 2.
fn make_tables(database: &Database) -> Result<(), Failure> {
    database.execute_batch(TABLES)?;
    let is_old = database
        .prepare("SELECT 1 FROM pragma_foreign_key_list('telegram_dm_topic_bindings') WHERE \"table\" = 'sessions' AND on_delete <> 'CASCADE'")?
        .exists([])?;
    if is_old { Ok(()) } else { meta::write(database, VERSION_KEY, Some(VERSION)) }
}

fn place(database: &Database, binding: &TopicBinding) -> Result<BindingPlace, Failure> {
    let bound_to = binding_of(database, &binding.session_id)?;
    Ok(BindingPlace {
        there: binding_at(database, &binding.chat_id, &binding.thread_id)?,
        has_session: require(database, &binding.session_id).is_ok(),
        bound_to: bound_to.map(|other| (other.chat_id, other.thread_id)),
    })
}

fn put_mode(database: &Database, mode: &TopicMode) -> Result<(), Failure> {
    let sql = format!("INSERT INTO {MODES} ({MODE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    database.prepare_cached(&sql)?.execute(params![
        mode.chat_id,
        mode.user_id,
        mode.enabled,
        mode.activated_at.seconds(),
        mode.updated_at.seconds(),
        mode.has_topics_enabled,
        mode.allows_users_to_create_topics,
        mode.capability_checked_at.map(Timestamp::seconds),
        mode.intro_message_id,
        mode.pinned_message_id,
    ])?;
    Ok(())
}

fn put_binding(database: &Database, binding: &TopicBinding) -> Result<(), Failure> {
    let sql = format!("INSERT INTO {BINDINGS} ({BINDING_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
    database.prepare_cached(&sql)?.execute(params![
        binding.chat_id,
        binding.thread_id,
        binding.user_id,
        binding.session_key,
        binding.session_id.as_str(),
        binding.managed_mode,
        binding.linked_at.seconds(),
        binding.updated_at.seconds(),
    ])?;
    Ok(())
}

/// Reads the mode of a chat. Fails with the reason why the row can't be read.
fn mode(row: &Row<'_>) -> Result<TopicMode, String> {
    let flag = |index: usize| get::<Option<i64>>(row, index).map(|flag| flag.map(|flag| flag != 0));
    Ok(TopicMode {
        chat_id: get(row, 0)?,
        user_id: get(row, 1)?,
        enabled: flag(2)? == Some(true),
        activated_at: needed_time(row, 3)?,
        updated_at: needed_time(row, 4)?,
        has_topics_enabled: flag(5)?,
        allows_users_to_create_topics: flag(6)?,
        capability_checked_at: match get::<rusqlite::types::Value>(row, 7)? {
            rusqlite::types::Value::Null => None,
            _ => Some(needed_time(row, 7)?),
        },
        intro_message_id: get(row, 8)?,
        pinned_message_id: get(row, 9)?,
    })
}

/// Reads a binding. Fails with the reason why the row can't be read.
fn binding(row: &Row<'_>) -> Result<TopicBinding, String> {
    Ok(TopicBinding {
        chat_id: get(row, 0)?,
        thread_id: get(row, 1)?,
        user_id: get(row, 2)?,
        session_key: get(row, 3)?,
        session_id: SessionId::from_stored(get::<String>(row, 4)?),
        managed_mode: get(row, 5)?,
        linked_at: needed_time(row, 6)?,
        updated_at: needed_time(row, 7)?,
    })
}

fn get<T: rusqlite::types::FromSql>(row: &Row<'_>, index: usize) -> Result<T, String> {
    row.get(index).map_err(|error| error.to_string())
}

fn needed_time(row: &Row<'_>, index: usize) -> Result<Timestamp, String> {
    let name = row.as_ref().column_name(index).unwrap_or("a column").to_owned();
    time(row, index).map_err(|error| error.to_string())?.ok_or_else(|| format!("{name} is not a time"))
}

/// Describes an unreadable row, whose first `key` columns are its key.
fn unreadable(table: &'static str, row: &Row<'_>, key: usize, why: String) -> Unreadable {
    let shown = |index| crate::calls::row::text(row, index).ok().flatten().unwrap_or_else(|| "NULL".into());
    Unreadable { table, id: (0..key).map(shown).collect::<Vec<_>>().join(" "), why }
}
