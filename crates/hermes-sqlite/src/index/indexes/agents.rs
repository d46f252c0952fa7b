//! Restores the agent's own indexes, for removing everything of ours from a file.
//!
//! All releases from 0.14 to 0.19 (schemas 11 to 22) create the same tables and triggers, with the same SQL text. If
//! the indexes are compact, new ones are built beside them in short steps, as [`super::rebuild`] builds compact ones:
//! triggers carry over changes to messages below the watermark. They are filled from `messages` itself, including the
//! backlog.

use super::beside::Beside;
use super::layout::Hook;
use super::rebuild::{self, Progress};
use super::step::{STEP, Text, has, insert, some};
use super::{EVENTS, INDEXES, Index, Kind, Merging, health, pending, plain, text};
use crate::error::Failure;
use crate::write::database::Database;
use rusqlite::OptionalExtension as _;
use std::time::Instant;

/// The agent's indexes, while they are being built.
const NEW: Beside = Beside {
    key: "index:agents",
    names: ["hx_agents_words", "hx_agents_trigrams"],
    drop_triggers: "DROP TRIGGER IF EXISTS hx_agents_insert; DROP TRIGGER IF EXISTS hx_agents_delete;
        DROP TRIGGER IF EXISTS hx_agents_update;",
};

/// The shadow tables of an FTS5 index, and how FTS5 declares them.
const PARTS: [(&str, &str); 5] = [
    ("config", "(k PRIMARY KEY, v) WITHOUT ROWID"),
    ("content", "(id INTEGER PRIMARY KEY, c0)"),
    ("data", "(id INTEGER PRIMARY KEY, block BLOB)"),
    ("docsize", "(id INTEGER PRIMARY KEY, sz BLOB)"),
    ("idx", "(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID"),
];

/// Returns the agent's statement that creates an index, under another name.
fn table_sql(index: Index, name: &str) -> String {
    let tokenizer = if index == Index::Trigrams { ",\n    tokenize='trigram'" } else { "" };
    format!("CREATE VIRTUAL TABLE {name} USING fts5(\n    content{tokenizer}\n)")
}

/// Returns the agent's statement that creates a trigger.
fn trigger_sql(index: Index, event: &str) -> String {
    let table = index.table();
    let delete = format!("    DELETE FROM {table} WHERE rowid = old.id;\n");
    let insert = format!(
        "    INSERT INTO {table}(rowid, content) VALUES (\n        new.id,\n        \
         COALESCE(new.content, '') || ' ' || COALESCE(new.tool_name, '') || ' ' || COALESCE(new.tool_calls, '')\n    );\n"
    );
    let (when, body) = match event {
        "insert" => ("INSERT", insert),
        "delete" => ("DELETE", delete),
        _ => ("UPDATE", delete + &insert),
    };
    format!("CREATE TRIGGER {table}_{event} AFTER {when} ON messages BEGIN\n{body}END")
}

/// Does one more step of restoring the agent's indexes. Returns `Done` if both store their own text and are filled.
pub(crate) fn step(database: &Database) -> Result<Progress, Failure> {
    let start = Instant::now();
    if rebuild::clear(database, start).map_err(health::elsewhere)? != Progress::Done {
        return Ok(Progress::Clearing);
    }
    let mut edge = match NEW.watermark(database)? {
        Some(edge) => edge,
        None if are_agents(database) => return Ok(Progress::Done),
        None => begin(database)?,
    };
    let mut merging = Merging::by_itself(database);
    merging.hold_these(NEW.names)?;
    loop {
        let texts = read(database, edge).map_err(health::elsewhere)?;
        for message in &texts {
            for index in INDEXES {
                add(database, index, message)?;
            }
            edge = message.id;
            if start.elapsed() > STEP {
                NEW.set_watermark(database, edge)?;
                merging.end()?;
                return Ok(Progress::Built { up_to: edge });
            }
        }
        if texts.is_empty() {
            merging.end()?;
            swap(database)?;
            return Ok(Progress::Clearing);
        }
    }
}

/// Returns whether both indexes have the agent's layout and all their triggers, so that they can stay.
fn are_agents(database: &Database) -> bool {
    let layout = database.layout();
    INDEXES
        .into_iter()
        .map(|index| layout.look(index))
        .all(|look| look.kind == Kind::Inline && look.hooks.iter().all(|hook| *hook != Hook::Missing))
}

/// Creates empty indexes, and the triggers that keep them up to date.
fn begin(database: &Database) -> Result<i64, Failure> {
    for index in INDEXES {
        database.execute_batch(&table_sql(index, NEW.name(index)))?;
    }
    NEW.set_watermark(database, i64::MIN)?;
    let is_filled = format!("new.id <= (SELECT CAST(value AS INTEGER) FROM hx_state WHERE key = '{}')", NEW.key);
    let each = |body: &dyn Fn(&str) -> String| NEW.names.map(body).concat();
    let take_out = each(&|table| format!("DELETE FROM {table} WHERE rowid = old.id;"));
    let put_in =
        each(&|table| format!("INSERT INTO {table}(rowid, content) SELECT new.id, {} WHERE {is_filled};", text("new")));
    database.execute_batch(&format!(
        "CREATE TRIGGER hx_agents_insert AFTER INSERT ON messages WHEN {is_filled} BEGIN {put_in} END;
         CREATE TRIGGER hx_agents_delete AFTER DELETE ON messages BEGIN {take_out} END;
         CREATE TRIGGER hx_agents_update AFTER UPDATE OF content, tool_name, tool_calls ON messages BEGIN {take_out} {put_in} END;"
    ))?;
    Ok(i64::MIN)
}

/// Discards the indexes being built, if there are any.
pub(crate) fn abandon(database: &Database) -> Result<(), Failure> {
    if NEW.watermark(database)?.is_some() { NEW.abandon(database) } else { Ok(()) }
}

/// Reads the next messages.
fn read(database: &Database, edge: i64) -> Result<Vec<Text>, Failure> {
    let sql = format!("SELECT id, {} FROM messages WHERE id > ? ORDER BY id", text("messages"));
    let mut statement = database.prepare_cached(&sql)?;
    let mut rows = statement.query_map([edge], Text::new)?;
    Ok(some(&mut rows, 32, |message| message.bytes.len())?)
}

fn add(database: &Database, index: Index, message: &Text) -> Result<(), Failure> {
    if has(database, NEW.name(index), message.id)? {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&message.bytes);
    insert(database, NEW.name(index), message.id, plain(&text).as_bytes())
}

/// Replaces the old indexes by the new ones, with the agent's triggers. The backlog is empty from then on.
fn swap(database: &Database) -> Result<(), Failure> {
    NEW.swap(database, |database, index| {
        EVENTS.iter().try_for_each(|event| Ok(database.execute_batch(&trigger_sql(index, event))?))
    })?;
    database.execute_batch(&format!("DELETE FROM {}", pending::NAME))?;
    Ok(database.refresh()?)
}

/// Rewrites the SQL of the triggers and tables of both indexes as the agent spells it. Call this when [`step`] is done
/// and the backlog is empty.
///
/// Renaming a table quotes its name, and triggers of ours that replaced the agent's refer to `hx_pending`.
pub(crate) fn spell_as_agent(database: &Database) -> Result<(), Failure> {
    let stored = |name: &str| {
        let mut statement = database.prepare_cached("SELECT sql FROM main.sqlite_schema WHERE name = ?")?;
        statement.query_row([name], |row| row.get::<_, String>(0)).optional()
    };
    let mut wanted = Vec::new();
    for index in INDEXES {
        let table = index.table();
        for event in EVENTS {
            let (name, sql) = (format!("{table}_{event}"), trigger_sql(index, event));
            if stored(&name)?.as_deref() != Some(sql.as_str()) {
                database.execute_batch(&format!("DROP TRIGGER IF EXISTS {name}; {sql}"))?;
            }
        }
        wanted.push((table.to_owned(), table_sql(index, table), table_sql(index, &format!("\"{table}\""))));
        for (part, columns) in PARTS {
            let name = format!("{table}_{part}");
            let spelled = |quote: &str| format!("CREATE TABLE {quote}{name}{quote}{columns}");
            wanted.push((name.clone(), spelled("'"), spelled("\"")));
        }
    }
    // Only if nothing but the quotes differs: the meaning of a statement is never changed.
    wanted.retain(|(name, _, quoted)| stored(name).ok().flatten().as_ref() == Some(quoted));
    if wanted.is_empty() {
        return Ok(());
    }
    database.pragma_update(None, "writable_schema", true)?;
    let written = wanted.iter().try_for_each(|(name, sql, _)| {
        let update = "UPDATE main.sqlite_schema SET sql = ? WHERE type = 'table' AND name = ?";
        database.execute(update, [sql, name]).map(drop)
    });
    database.pragma_update(None, "writable_schema", false)?;
    Ok(written?)
}
