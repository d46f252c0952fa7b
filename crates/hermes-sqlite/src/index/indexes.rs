//! The full-text indexes of a file. Every statement that creates or fills them is here or in a submodule.
//!
//! Names, tokenizers and indexed text are those of the agent's schema 11, so that its own searches work on our files.
//! The text of a row is content, tool name and tool calls, separated by spaces, with NULL as empty text. There are two
//! layouts:
//!
//! - *inline*, the agent's: each index keeps a copy of every text;
//! - *compact*, ours: the indexes read the text through a view, and the trigram index takes only rows that need it.
//!
//! Triggers fill them within the write. Our triggers, and those of the agent that we may change, skip rows that our own
//! writer has noted in `hx_pending`; these are indexed after the write was acknowledged.

mod agents;
mod beside;
mod compact;
mod health;
mod inline;
mod layout;
mod lost;
mod merge;
mod nul;
mod own;
mod pending;
mod rebuild;
mod script;
mod step;

pub(crate) use agents::{abandon as abandon_agents, spell_as_agent, step as agents_step};
pub(crate) use compact::view;
pub(crate) use health::{despite_indexes, elsewhere, is_ours, is_to_blame_for};
pub(crate) use layout::{Kind, Layout};
pub(crate) use lost::{Census, lost, note_lost};
pub(crate) use merge::Merging;
pub(crate) use nul::{plain, settle};
pub(crate) use own::{backlog as own_backlog, empty_step as own_empty_step, lacking, unindexed};
pub(crate) use pending::{backlog, backlog_until, holds as is_pending, is_behind, last_pending, note, reserve};
pub(crate) use rebuild::{
    Progress, abandon_begun as abandon_rebuild, convert, heal, is_needed as needs_rebuild, start as start_rebuild,
    step as rebuild_step, wants_start as wants_rebuild,
};
pub(crate) use step::{fill, fill_noted};

use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::SessionId;
use rusqlite::OptionalExtension as _;

/// One of the two indexes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Index {
    /// `messages_fts`: words.
    Words,
    /// `messages_fts_trigram`: every three characters in a row, for scripts without spaces.
    Trigrams,
}

/// Both indexes.
pub(crate) const INDEXES: [Index; 2] = [Index::Words, Index::Trigrams];

/// The events that triggers react to.
const EVENTS: [&str; 3] = ["insert", "delete", "update"];

/// SQL for the indexed text of a message; `ROW` is `new`, `old`, or the table.
const TEXT: &str =
    "coalesce(ROW.content, '') || ' ' || coalesce(ROW.tool_name, '') || ' ' || coalesce(ROW.tool_calls, '')";

impl Index {
    /// Returns the name of the table.
    pub(crate) const fn table(self) -> &'static str {
        match self {
            Self::Words => "messages_fts",
            Self::Trigrams => "messages_fts_trigram",
        }
    }

    /// Returns the names of its triggers, in the order of [`EVENTS`].
    fn triggers(self) -> [String; 3] {
        EVENTS.map(|event| format!("{}_{event}", self.table()))
    }
}

/// Returns SQL for the indexed text of the row named `row`.
fn text(row: &str) -> String {
    TEXT.replace("ROW", row)
}

/// The backlog tables, in memory, for a file that can't be written. They stay empty.
pub(crate) const IN_MEMORY: &str = "
CREATE TEMP TABLE hx_pending (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
CREATE TEMP TABLE hx_again (id INTEGER PRIMARY KEY);
";

/// Creates the backlog tables and the views that the indexes depend on. Returns whether the backlog existed.
pub(crate) fn lay_ground(database: &Database) -> Result<bool, Failure> {
    let was_there =
        database.prepare_cached("SELECT 1 FROM main.sqlite_schema WHERE name = ?")?.exists([pending::NAME])?;
    database.execute_batch(pending::TABLE)?;
    database.execute_batch(health::TABLE)?;
    database.execute_batch(&compact::views())?;
    own::lay_ground(database)?;
    Ok(was_there)
}

/// Returns how many messages the word index holds, and how many tokens they have together, as FTS5 stores it for
/// ranking.
pub(crate) fn totals(database: &Database) -> Result<(u64, u64), Failure> {
    let record: Option<Vec<u8>> = database
        .prepare_cached("SELECT block FROM messages_fts_data WHERE id = 1")?
        .query_row([], |row| row.get(0))
        .optional()?;
    // Varints: seven bits per byte, most significant first; a set top bit means that more bytes follow.
    let mut numbers = [0_u64; 2];
    let mut place = 0;
    for byte in record.unwrap_or_default() {
        let Some(number) = numbers.get_mut(place) else { break };
        *number = *number << 7 | u64::from(byte & 0x7f);
        place += usize::from(byte & 0x80 == 0);
    }
    Ok((numbers[0], numbers[1]))
}

/// Records a message that triggers have indexed but whose id our own indexes, or a rebuild, may have passed already.
pub(crate) fn late(database: &Database, id: i64) -> Result<(), Failure> {
    own::again(database, id)?;
    rebuild::late(database, id)
}

/// Prepares the indexes for the deletion of messages.
pub(crate) fn before_removal_of(database: &Database, messages: &[i64]) -> Result<(), Failure> {
    nul::before_removal_of(database, messages)?;
    own::remove(database, messages)
}

/// Prepares the indexes for the deletion of those messages of a session that meet a condition.
pub(crate) fn before_removal(database: &Database, session: &SessionId, condition: &str) -> Result<(), Failure> {
    let sql = format!("SELECT id FROM messages WHERE session_id = ? AND {condition}");
    let mut statement = database.prepare_cached(&sql)?;
    let messages: Vec<i64> = statement.query_map([session.as_str()], |row| row.get(0))?.collect::<Result<_, _>>()?;
    before_removal_of(database, &messages)
}

/// Creates both indexes, compact and empty, and puts all messages into the backlog.
pub(crate) fn create(database: &Database) -> Result<(), Failure> {
    lay_ground(database)?;
    for index in INDEXES {
        compact::create(database, index)?;
    }
    pending::everything(database)
}

/// Drops both indexes and their triggers.
pub(crate) fn drop_all(database: &Database) -> Result<(), Failure> {
    for index in INDEXES {
        drop_triggers(database, index)?;
        database.execute_batch(&format!("DROP TABLE IF EXISTS {}", index.table()))?;
    }
    Ok(())
}

fn drop_triggers(database: &Database, index: Index) -> Result<(), Failure> {
    for name in index.triggers() {
        database.execute_batch(&format!("DROP TRIGGER IF EXISTS {name}"))?;
    }
    Ok(())
}

/// Creates missing parts of the indexes. If anything was missing, all messages are indexed again; returns whether there
/// are any.
///
/// In a file whose schema is `ours` to change, the agent's insert triggers are replaced by ones that skip rows in the
/// backlog.
pub(crate) fn create_missing(database: &Database, ours: bool) -> Result<bool, Failure> {
    let was_listed = lay_ground(database)?;
    let layout = Layout::of(database)?;
    // If the backlog table was dropped, the list of messages to be indexed is lost.
    let mut whole = was_listed || !layout.is_deferred();
    // A compact index must not hold rows of the backlog, or FTS5 calls it malformed. With a trigger of the agent, which
    // can't remove a row from it, it may hold deleted rows. So it is emptied as soon as any message has to be indexed
    // again.
    let is_rebuilt = !whole || layout.is_torn();
    for index in INDEXES {
        let look = layout.look(index);
        match look.kind {
            Kind::Compact | Kind::Missing if is_rebuilt => {
                drop_triggers(database, index)?;
                rebuild::put_aside(database, index, index.table())?;
                compact::create(database, index)?;
                whole = false;
            }
            Kind::Inline if ours => whole &= inline::create_missing(database, index, &look)?,
            Kind::Missing | Kind::Inline | Kind::Compact => {}
        }
    }
    database.refresh()?;
    if whole {
        return Ok(false);
    }
    pending::everything(database)?;
    is_behind(database)
}
