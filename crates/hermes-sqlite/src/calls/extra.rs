//! Columns that newer agents added to `sessions` and `messages`: read by name, and added where an import needs them.

use crate::calls::archive;
use crate::error::Failure;
use crate::open::foreign::quoted;
use crate::open::shape::Shape;
use crate::write::database::Database;
use hermes_session::extra::{Table, column_of};
use hermes_session::import::ImportPiece;
use hermes_session::{Extra, Message, MessageState, Scalar, Session};
use hermes_sql::columns;
use rusqlite::Connection;
use rusqlite::types::{Value, ValueRef};
use std::collections::BTreeSet;

/// The columns of both tables that are not modelled, and the column lists by which rows are read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Extras {
    sessions: Vec<Column>,
    messages: Vec<Column>,
    /// The columns of a message: those of [`columns::MESSAGE`], `active`, `compacted`, then the others.
    message_list: String,
    /// The same for an undone message that only our table has; empty if there is no such table.
    undone_list: String,
    /// How many of these [`columns::MESSAGE`] has.
    modelled: usize,
    /// The columns of a session after those of [`columns::SESSION`] and the relation: whether it is archived, then the
    /// others. From the alias `s`.
    session_list: String,
    has_states: bool,
    has_archived: bool,
}

/// A column and its default value.
#[derive(Debug, Clone, PartialEq)]
struct Column {
    name: String,
    default: Scalar,
}

/// Modelled columns of newer agents.
const STATE: [&str; 2] = ["active", "compacted"];
const ARCHIVED: &str = "archived";

impl Extras {
    /// Reads the columns of both tables of an open file.
    pub(crate) fn of(connection: &Connection) -> Result<Self, rusqlite::Error> {
        let names = |list: &str| -> BTreeSet<String> {
            list.split(", ").map(|column| column.trim().trim_start_matches("s.").to_owned()).collect()
        };
        let all = |table: Table, known: &str| -> Result<Vec<Column>, rusqlite::Error> {
            let known = names(known);
            let mut found = columns_of(connection, table)?;
            found.retain(|column| !known.contains(&column.name));
            Ok(found)
        };
        let mut sessions = all(Table::Sessions, columns::SESSION)?;
        let mut messages = all(Table::Messages, columns::MESSAGE)?;
        let has = |columns: &[Column], name: &str| columns.iter().any(|column| column.name == name);
        let (active, compacted) = (has(&messages, STATE[0]), has(&messages, STATE[1]));
        let has_archived = has(&sessions, ARCHIVED);
        sessions.retain(|column| column.name != ARCHIVED);
        messages.retain(|column| !STATE.contains(&column.name.as_str()));
        let mut message_list = format!(
            "{}, {}, {}",
            columns::MESSAGE,
            if active { "active" } else { "1" },
            if compacted { "compacted" } else { "0" }
        );
        messages.iter().for_each(|column| message_list.push_str(&format!(", {}", quoted(&column.name))));
        let undone_list = undone_list(connection, &messages)?;
        let mut session_list = Shape::of(connection)?.is_archived("s");
        sessions.iter().for_each(|column| session_list.push_str(&format!(", s.{}", quoted(&column.name))));
        let modelled = columns::MESSAGE.split(", ").count();
        let has_states = active && compacted;
        Ok(Self { sessions, messages, message_list, undone_list, modelled, session_list, has_states, has_archived })
    }

    /// Returns the columns by which [`Extras::message`] reads.
    pub(crate) fn message_list(&self) -> &str {
        &self.message_list
    }

    /// Returns the columns by which [`Extras::message`] reads a message of `hx_undone`.
    pub(crate) fn undone_list(&self) -> &str {
        &self.undone_list
    }

    /// Returns the columns by which [`Extras::session`] reads, without those that the decoder reads.
    pub(crate) fn session_list(&self) -> &str {
        &self.session_list
    }

    /// Reads the state of a message and the columns that are not modelled.
    pub(crate) fn message(&self, row: &rusqlite::Row<'_>, mut message: Message) -> Result<Message, rusqlite::Error> {
        let start = self.modelled;
        let number = |at: usize| row.get_ref(at).map(|value| value.as_i64_or_null().unwrap_or(None));
        let (active, compacted) = (number(start)?, number(start + 1)?);
        message.state = MessageState::from_columns(active, compacted);
        message.extra = values(row, start + 2, Table::Messages, &self.messages)?;
        if message.state.is_active() && compacted.is_some_and(|compacted| compacted != 0) {
            // A rewind that was undone may leave this combination, which `state` can't express.
            message.extra.set(Table::Messages, STATE[1], Scalar::Integer(compacted.unwrap_or(0)));
        }
        Ok(message)
    }

    /// Reads whether a session is archived, and the columns that are not modelled, from `start` on.
    pub(crate) fn session(
        &self,
        row: &rusqlite::Row<'_>,
        start: usize,
        mut session: Session,
    ) -> Result<Session, rusqlite::Error> {
        session.archived = row.get(start)?;
        session.extra = values(row, start + 1, Table::Sessions, &self.sessions)?;
        Ok(session)
    }

    /// Returns the columns of a message's row whose value is not their default, without columns that this file lacks.
    pub(crate) fn columns_of_message(&self, message: &Message) -> Vec<(String, Value)> {
        let mut columns = self.kept(&self.messages, &message.extra);
        if self.has_states {
            let (active, mut compacted) = message.state.columns();
            if let Some(Scalar::Integer(odd)) = message.extra.get(STATE[1]) {
                compacted = *odd;
            }
            if (active, compacted) != (1, 0) {
                columns.push((STATE[0].to_owned(), Value::Integer(active)));
                columns.push((STATE[1].to_owned(), Value::Integer(compacted)));
            }
        } else if !message.state.is_active() && self.message_list.contains(", active,") {
            columns.push((STATE[0].to_owned(), Value::Integer(0)));
        }
        columns
    }

    /// Returns the columns of a session's row whose value is not their default, without columns that this file lacks.
    pub(crate) fn columns_of_session(&self, session: &Session) -> Vec<(String, Value)> {
        let mut columns = self.kept(&self.sessions, &session.extra);
        if self.has_archived && session.archived {
            columns.push((ARCHIVED.to_owned(), Value::Integer(1)));
        }
        columns
    }

    fn kept(&self, there: &[Column], extra: &Extra) -> Vec<(String, Value)> {
        let is_there = |name: &str| there.iter().any(|column| column.name == name);
        extra.iter().filter(|(name, _)| is_there(name)).map(|(name, held)| (name.to_owned(), value(held))).collect()
    }

    /// Returns whether this file has a column of newer agents.
    pub(crate) fn has(&self, table: Table, name: &str) -> bool {
        let (columns, modelled) = match table {
            Table::Sessions => (&self.sessions, name == ARCHIVED && self.has_archived),
            Table::Messages => (&self.messages, STATE.contains(&name) && self.has_states),
        };
        modelled || columns.iter().any(|column| column.name == name)
    }
}

/// Returns the columns by which an undone message is read. Columns that were added to messages later are NULL.
fn undone_list(connection: &Connection, further: &[Column]) -> Result<String, rusqlite::Error> {
    let mut statement = connection.prepare("SELECT name FROM pragma_table_info('hx_undone', 'main')")?;
    let there: BTreeSet<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    if there.is_empty() {
        return Ok(String::new());
    }
    let column = |name: &str| if there.contains(name) { quoted(name) } else { "NULL".to_owned() };
    let modelled = columns::MESSAGE.split(", ").map(|name| column(name.trim()));
    let state = ["0".to_owned(), "0".to_owned()];
    let all = modelled.chain(state).chain(further.iter().map(|further| column(&further.name)));
    Ok(all.collect::<Vec<_>>().join(", "))
}

/// Returns those of these columns that this file can't store: neither the file nor any release of the agent has them.
pub(crate) fn lacking(database: &Database, asked: &[(Table, String)]) -> Vec<(Table, String)> {
    let extras = database.extras();
    let is_lacking = |(table, name): &&(Table, String)| !extras.has(*table, name) && column_of(*table, name).is_none();
    asked.iter().filter(is_lacking).cloned().collect()
}

/// Adds the columns that pieces of an import need and the file lacks, as the agent itself defines them. Returns their
/// names.
pub(crate) fn make_room(database: &Database, pieces: &[ImportPiece]) -> Result<Vec<String>, Failure> {
    let extras = database.extras();
    let mut missing: BTreeSet<(Table, &'static str)> = BTreeSet::new();
    let mut need = |table: Table, name: &str| {
        if let Some(column) = column_of(table, name).filter(|_| !extras.has(table, name)) {
            missing.insert((table, column.name));
        }
    };
    for piece in pieces {
        piece.session.extra.columns().for_each(|column| need(Table::Sessions, column));
        if piece.session.archived {
            need(Table::Sessions, ARCHIVED);
        }
        for message in &piece.messages {
            message.extra.columns().for_each(|column| need(Table::Messages, column));
            // Undone messages have a table of ours.
            if message.state == MessageState::Compacted {
                STATE.into_iter().for_each(|column| need(Table::Messages, column));
            }
        }
    }
    let mut added = Vec::new();
    for (table, name) in missing {
        let Some(column) = column_of(table, name) else { continue };
        let (list, table) = (columns_of(database, table)?, table.as_str());
        if !list.iter().any(|there| there.name == name) {
            // The name is quoted as the agent's own upgrade quotes it.
            database.execute_batch(&format!("ALTER TABLE \"{table}\" ADD COLUMN \"{name}\" {}", column.definition))?;
            added.push(format!("{table}.{name}"));
        }
    }
    if !added.is_empty() {
        database.refresh()?;
        archive::settle(database)?;
    }
    Ok(added)
}

/// Returns the columns that are stored in a table, in order.
fn columns_of(connection: &Connection, table: Table) -> Result<Vec<Column>, rusqlite::Error> {
    let mut statement = connection.prepare("SELECT name, dflt_value FROM pragma_table_info(?, 'main')")?;
    let rows = statement
        .query_map([table.as_str()], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?)))?;
    let mut columns = Vec::new();
    for row in rows {
        let (name, default) = row?;
        let default = match default {
            None => Scalar::Null,
            // A default is an SQL expression of the schema. If it can't be evaluated by itself, NULL stands for it, and
            // other values are never left out.
            Some(sql) => connection
                .query_row(&format!("SELECT ({sql})"), [], |row| Ok(scalar(row.get_ref(0)?)))
                .unwrap_or(Scalar::Null),
        };
        columns.push(Column { name, default });
    }
    Ok(columns)
}

fn values(row: &rusqlite::Row<'_>, start: usize, table: Table, columns: &[Column]) -> Result<Extra, rusqlite::Error> {
    let mut extra = Extra::new();
    for (at, column) in columns.iter().enumerate() {
        let value = scalar(row.get_ref(start + at)?);
        match column_of(table, &column.name) {
            Some(_) => extra.set(table, &column.name, value),
            None if value == column.default => {}
            None => extra.put(&column.name, value),
        }
    }
    Ok(extra)
}

pub(crate) fn scalar(value: ValueRef<'_>) -> Scalar {
    match value {
        ValueRef::Null => Scalar::Null,
        ValueRef::Integer(number) => Scalar::Integer(number),
        ValueRef::Real(number) => Scalar::Real(number),
        ValueRef::Text(bytes) => {
            String::from_utf8(bytes.to_vec()).map_or_else(|error| Scalar::Bytes(error.into_bytes()), Scalar::Text)
        }
        ValueRef::Blob(bytes) => Scalar::Bytes(bytes.to_vec()),
    }
}

pub(crate) fn value(scalar: &Scalar) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Integer(number) => Value::Integer(*number),
        Scalar::Real(number) => Value::Real(*number),
        Scalar::Text(text) => Value::Text(text.clone()),
        Scalar::Bytes(bytes) => Value::Blob(bytes.clone()),
    }
}
