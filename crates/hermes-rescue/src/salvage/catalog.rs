//! The tables and indexes of a file, as far as its schema table can be read, and their columns.

use super::recognize::Votes;
use super::record::Value;
use super::source::Source;
use super::walk::{Row, Walker};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// The tables that every store has, in the order in which they are salvaged.
pub(super) const WANTED: [&str; 4] = ["messages", "sessions", "state_meta", "schema_version"];

/// An entry of the schema table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) is_table: bool,
    pub(super) name: String,
    pub(super) table: String,
    pub(super) root: u32,
    /// `None` for an index that a constraint created.
    pub(super) sql: Option<String>,
}

/// The readable part of the schema table.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    pub(super) objects: BTreeMap<String, Object>,
    pub(super) damaged: u64,
    /// Evidence from rows about tables that are missing in the schema table.
    pub(super) votes: Votes,
}

impl Catalog {
    /// Reads the schema table. If its tree is damaged or lacks a table, looks for its rows on all other pages.
    pub(super) fn read(source: &Source, walker: &mut Walker<'_>) -> Self {
        let mut catalog = Self::default();
        let walked = walker.walk(1, true, &mut |row| {
            catalog.add(row);
            Ok::<(), std::convert::Infallible>(())
        });
        catalog.damaged = walked.map_or(1, |walked| walked.damaged);
        if catalog.damaged > 0 || WANTED.iter().any(|name| !catalog.objects.contains_key(*name)) {
            for number in 2..=source.last {
                if !walker.is_seen(number) {
                    for row in walker.leaf(number) {
                        catalog.votes.take(&row);
                        catalog.add(Some(row));
                    }
                }
            }
        }
        catalog
    }

    fn add(&mut self, row: Option<Row>) {
        if let Some(object) = row.and_then(object) {
            self.objects.entry(object.name.clone()).or_insert(object);
        }
    }

    /// Returns the names of the tables to salvage: those of every store, and other tables of the agent or another
    /// program. Our own tables are read separately, and index data is rebuilt.
    pub(super) fn wanted(&self) -> Vec<&str> {
        let is_more = |object: &&Object| {
            let is_derived = ["hx_", "sqlite_", "messages_fts"].iter().any(|prefix| object.name.starts_with(prefix));
            object.is_table && !is_derived && !WANTED.contains(&object.name.as_str())
        };
        WANTED.into_iter().chain(self.objects.values().filter(is_more).map(|object| object.name.as_str())).collect()
    }

    /// Returns the statements that create the indexes of salvaged tables.
    pub(super) fn index_statements(&self) -> Vec<String> {
        let wanted = self.wanted();
        let is_of_it = |object: &&Object| {
            !object.is_table && !object.name.starts_with("hx_") && wanted.contains(&object.table.as_str())
        };
        self.objects.values().filter(is_of_it).filter_map(|object| object.sql.clone()).collect()
    }

    /// Returns the indexes of a table.
    pub(super) fn indexes(&self, table: &str) -> impl Iterator<Item = &Object> {
        self.objects.values().filter(move |object| !object.is_table && object.table == table)
    }
}

fn object(row: Row) -> Option<Object> {
    let [kind, name, table, root, sql] = <[Value; 5]>::try_from(row.values).ok()?;
    let text = |value: Value| match value {
        Value::Text(bytes) => String::from_utf8(bytes).ok(),
        _ => None,
    };
    let is_table = match text(kind)?.as_str() {
        "table" => true,
        "index" => false,
        _ => return None,
    };
    let (name, table, sql) = (text(name)?, text(table)?, text(sql));
    let Value::Integer(root) = root else { return None };
    // Views, triggers and virtual tables have no root page.
    let root = u32::try_from(root).ok().filter(|root| *root > 1)?;
    let is_said = sql
        .as_ref()
        .map_or(!is_table, |sql| sql.trim_start().get(..6).is_some_and(|verb| verb.eq_ignore_ascii_case("create")));
    is_said.then_some(Object { is_table, name, table, root, sql })
}

/// The columns of a table, and which of them is the rowid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) names: Vec<String>,
    pub(super) rowid: Option<usize>,
}

impl Columns {
    pub(super) fn of(connection: &Connection, table: &str) -> Result<Self, rusqlite::Error> {
        let mut statement = connection.prepare("SELECT name, type, pk FROM pragma_table_info(?)")?;
        let columns: Vec<(String, String, i64)> = statement
            .query_map([table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect::<Result<_, _>>()?;
        let keys = columns.iter().filter(|(_, _, key)| *key > 0).count();
        let rowid =
            columns.iter().position(|(_, kind, key)| keys == 1 && *key == 1 && kind.eq_ignore_ascii_case("INTEGER"));
        Ok(Self { names: columns.into_iter().map(|(name, _, _)| name).collect(), rowid })
    }

    pub(super) fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|column| column == name)
    }
}

/// Returns the columns of an index, in order, found by creating it on an empty table. The rowid, which ends each of its
/// records, is not among them.
pub(super) fn index_columns(tables: &Connection, index: &Object) -> Option<Vec<String>> {
    if let Some(sql) = &index.sql {
        tables.execute(sql, []).ok()?;
    }
    let mut statement = tables.prepare("SELECT name FROM pragma_index_info(?) ORDER BY seqno").ok()?;
    let columns = statement.query_map([&index.name], |row| row.get::<_, Option<String>>(0)).ok()?;
    // An index over an expression has no column name there.
    columns.collect::<Result<Option<Vec<_>>, _>>().ok()?.filter(|columns| !columns.is_empty())
}

/// Returns whether a row can belong to this table when the table's own tree leads to it. Foreign writers may have
/// stored anything, except names that are not text: those come from an overwritten page.
pub(super) fn can_be(table: &str, columns: &Columns, row: &Row) -> bool {
    let at = |name: &str| columns.place(name).and_then(|place| row.values.get(place));
    let is_name = |name: &str| matches!(at(name), Some(Value::Text(text)) if std::str::from_utf8(text).is_ok());
    row.values.len() <= columns.names.len()
        && match table {
            "messages" => at("id") == Some(&Value::Null) && is_name("session_id") && is_name("role"),
            "sessions" => is_name("id") && is_name("source"),
            "state_meta" => is_name("key"),
            _ => true,
        }
}

/// Returns whether a row can belong to this table, judged by its values alone.
pub(super) fn is_like(table: &str, columns: &Columns, row: &Row) -> bool {
    let at = |name: &str| columns.place(name).and_then(|place| row.values.get(place));
    let is_text = |name: &str, longest: usize| match at(name) {
        Some(Value::Text(text)) => !text.is_empty() && text.len() <= longest && std::str::from_utf8(text).is_ok(),
        _ => false,
    };
    let is_word = |name: &str| match at(name) {
        Some(Value::Text(text)) => {
            is_text(name, 64) && text.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
        }
        _ => false,
    };
    let is_time = |name: &str| match at(name) {
        Some(Value::Real(time)) => time.is_finite(),
        Some(Value::Integer(time)) => (0..100_000_000_000).contains(time),
        _ => false,
    };
    let fits = row.rowid > 0 && row.values.len() <= columns.names.len();
    fits && match table {
        "messages" => {
            let is_number_kept_apart = at("id") == Some(&Value::Null);
            is_number_kept_apart
                && is_text("session_id", 255)
                && is_word("role")
                && (row.is_cut || is_time("timestamp"))
        }
        "sessions" => is_text("id", 255) && is_word("source") && (row.is_cut || is_time("started_at")),
        "state_meta" => row.values.len() == 2 && is_text("key", 255) && matches!(at("value"), Some(Value::Text(_))),
        _ => false,
    }
}
