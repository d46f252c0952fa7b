//! The full-text indexes of a file: every statement that makes or fills them is here or below.
//!
//! Names, tokenizers and indexed text are those of the agent's schema 11, so that its own searches work on our files: the text of a
//! row is content, tool name and tool calls with a space between, NULL taken for nothing. There are two layouts:
//!
//! - *inline*, the agent's: each index keeps a copy of every text;
//! - *compact*, ours: the indexes read the text through a view, and the one for trigrams takes only rows that need it.
//!
//! Triggers fill them within the write. Ours, and those of the agent's that we may change, leave out what our own writer has noted in
//! `hx_pending`, to be indexed after it was acknowledged.

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

/// What a trigger waits for.
const EVENTS: [&str; 3] = ["insert", "delete", "update"];

/// The text of a message in an index; `ROW` is `new`, `old`, or the table.
const TEXT: &str =
    "coalesce(ROW.content, '') || ' ' || coalesce(ROW.tool_name, '') || ' ' || coalesce(ROW.tool_calls, '')";

impl Index {
    /// The table.
    pub(crate) const fn table(self) -> &'static str {
        match self {
            Self::Words => "messages_fts",
            Self::Trigrams => "messages_fts_trigram",
        }
    }

    /// The names of its triggers, in the order of [`EVENTS`].
    fn triggers(self) -> [String; 3] {
        EVENTS.map(|event| format!("{}_{event}", self.table()))
    }
}

/// The text of a row that is called `row`.
fn text(row: &str) -> String {
    TEXT.replace("ROW", row)
}

/// The lists of what is to be indexed, for a file that can't be written: there nobody notes anything.
pub(crate) const IN_MEMORY: &str = "
CREATE TEMP TABLE hx_pending (first INTEGER PRIMARY KEY, last INTEGER NOT NULL);
CREATE TEMP TABLE hx_again (id INTEGER PRIMARY KEY);
";

/// Makes what the indexes rest on, the list of what is to be indexed and the views; whether the list was there.
pub(crate) fn lay_ground(database: &Database) -> Result<bool, Failure> {
    let was_there =
        database.prepare_cached("SELECT 1 FROM main.sqlite_schema WHERE name = ?")?.exists([pending::NAME])?;
    database.execute_batch(pending::TABLE)?;
    database.execute_batch(health::TABLE)?;
    database.execute_batch(&compact::views())?;
    own::lay_ground(database)?;
    Ok(was_there)
}

/// How many messages the index of words has, and how many tokens they have together, as it keeps them for ranking.
pub(crate) fn totals(database: &Database) -> Result<(u64, u64), Failure> {
    let record: Option<Vec<u8>> = database
        .prepare_cached("SELECT block FROM messages_fts_data WHERE id = 1")?
        .query_row([], |row| row.get(0))
        .optional()?;
    // Numbers of seven bits a byte, the highest first; a set top bit says that more follow.
    let mut numbers = [0_u64; 2];
    let mut place = 0;
    for byte in record.unwrap_or_default() {
        let Some(number) = numbers.get_mut(place) else { break };
        *number = *number << 7 | u64::from(byte & 0x7f);
        place += usize::from(byte & 0x80 == 0);
    }
    Ok((numbers[0], numbers[1]))
}

/// Notes a message that triggers have indexed and whose id may be one that others are past already.
pub(crate) fn late(database: &Database, id: i64) -> Result<(), Failure> {
    own::again(database, id)?;
    rebuild::late(database, id)
}

/// Makes messages ready to be taken away.
pub(crate) fn before_removal_of(database: &Database, messages: &[i64]) -> Result<(), Failure> {
    nul::before_removal_of(database, messages)?;
    own::remove(database, messages)
}

/// Makes those messages of a session ready to be taken away for which a condition holds.
pub(crate) fn before_removal(database: &Database, session: &SessionId, condition: &str) -> Result<(), Failure> {
    let sql = format!("SELECT id FROM messages WHERE session_id = ? AND {condition}");
    let mut statement = database.prepare_cached(&sql)?;
    let messages: Vec<i64> = statement.query_map([session.as_str()], |row| row.get(0))?.collect::<Result<_, _>>()?;
    before_removal_of(database, &messages)
}

/// Makes both indexes anew, compact and empty; what is in the file is to be indexed.
pub(crate) fn create(database: &Database) -> Result<(), Failure> {
    lay_ground(database)?;
    for index in INDEXES {
        compact::create(database, index)?;
    }
    pending::everything(database)
}

/// Takes away indexes of another layout, and their triggers.
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

/// Makes what is missing of the indexes. If anything was, all messages are to be looked at again; whether there are any.
///
/// In a file whose schema is `ours` to change, the agent's triggers make room for ones that leave our rows for later.
pub(crate) fn mend(database: &Database, ours: bool) -> Result<bool, Failure> {
    let was_listed = lay_ground(database)?;
    let layout = Layout::of(database)?;
    // Whoever takes the list away takes with it what had to be indexed.
    let mut whole = was_listed || !layout.is_deferred();
    // A compact index must not hold what is on the list, or FTS5 calls it malformed; and with a trigger of the agent's, which can't take a
    // row out of it, it may hold what is gone. So it begins from nothing, as soon as anything has to be looked at again.
    let is_anew = !whole || layout.is_torn();
    for index in INDEXES {
        let look = layout.look(index);
        match look.kind {
            Kind::Compact | Kind::Missing if is_anew => {
                drop_triggers(database, index)?;
                rebuild::put_aside(database, index, index.table())?;
                compact::create(database, index)?;
                whole = false;
            }
            Kind::Inline if ours => whole &= inline::mend(database, index, &look)?,
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
