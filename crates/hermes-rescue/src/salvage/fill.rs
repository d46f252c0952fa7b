//! The scratch file for salvaged rows: tables like those of the damaged file, and beside them the values recorded in
//! its indexes.

use super::catalog::{Catalog, Columns, WANTED, can_be, index_columns, is_like};
use super::record::Value;
use super::walk::Row;
use crate::quoted;
use hermes_sqlite::file::{AgentLayout, AgentTable, Failure, agent_tables};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, params_from_iter};
use std::collections::BTreeMap;

/// A table that is filled.
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Columns,
    /// Whether its definition came from the file, and not from a known layout.
    pub(super) is_from_file: bool,
    /// Rows that were cut.
    pub(super) cut: u64,
    /// Rows that violate a constraint of the table.
    pub(super) refused: u64,
    statements: BTreeMap<usize, String>,
}

/// The tables, by name.
pub(super) struct Scratch {
    pub(super) connection: Connection,
    pub(super) tables: Vec<Table>,
    /// Tables whose rows can't be decoded with the definition in the file.
    pub(super) unread: Vec<String>,
    /// An empty copy, to find the columns of an index.
    empty: Connection,
}

impl ToSql for Value {
    fn to_sql(&self) -> Result<ToSqlOutput<'_>, rusqlite::Error> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            // SQLite takes text as bytes, valid UTF-8 or not.
            Self::Text(text) => ValueRef::Text(text),
            Self::Blob(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl Scratch {
    pub(super) fn make(connection: Connection, catalog: &Catalog) -> Result<Self, Failure> {
        connection.pragma_update(None, "foreign_keys", false)?;
        connection.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        // The new store of a newer agent is a copy of this file.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        let empty = Connection::open_in_memory()?;
        let mut scratch = Self { connection, tables: Vec::new(), unread: Vec::new(), empty };
        scratch.connection.execute_batch("BEGIN")?;
        for name in catalog.wanted() {
            let stored_sql = catalog.objects.get(name).and_then(|object| object.sql.as_deref());
            let is_from_file = stored_sql.is_some_and(|sql| scratch.create(name, sql));
            if let Some(sql) = catalog.votes.statement(name).filter(|_| !is_from_file) {
                scratch.create(name, &sql);
            }
            if !is_from_file && !WANTED.contains(&name) {
                scratch.unread.push(name.to_owned());
                continue;
            }
            scratch.tables.push(Table {
                name: name.to_owned(),
                columns: Columns { names: Vec::new(), rowid: None },
                is_from_file,
                cut: 0,
                refused: 0,
                statements: BTreeMap::new(),
            });
        }
        let missing: String = agent_tables(AgentLayout::Schema11).iter().map(AgentTable::statement).collect();
        for connection in [&scratch.connection, &scratch.empty] {
            connection.execute_batch(&missing)?;
        }
        for table in &mut scratch.tables {
            table.columns = Columns::of(&scratch.connection, &table.name)?;
            let names: Vec<String> = table.columns.names.iter().map(|name| quoted(name)).collect();
            scratch.connection.execute_batch(&format!(
                "CREATE TEMP TABLE {} (hx_rowid INTEGER PRIMARY KEY, {})",
                quoted(&known(&table.name)),
                names.join(", ")
            ))?;
        }
        Ok(scratch)
    }

    /// Creates a table from a definition. Returns `false` if the definition is not that of the table.
    fn create(&self, name: &str, sql: &str) -> bool {
        let is_made = |connection: &Connection| {
            connection.execute(sql, []).is_ok()
                && Columns::of(connection, name).is_ok_and(|found| is_essential(name, &found))
                && has_plain_rows(connection, name)
        };
        if is_made(&self.empty) && is_made(&self.connection) {
            return true;
        }
        for connection in [&self.empty, &self.connection] {
            // If dropping fails, creating the table with the known definition fails too.
            if let Err(error) = connection.execute(&format!("DROP TABLE IF EXISTS {}", quoted(name)), []) {
                tracing::debug!(name, code = ?error.sqlite_error_code(), "table with a foreign definition not dropped");
            }
        }
        false
    }

    /// Inserts a row. Returns `false` if the row exists or violates a constraint.
    pub(super) fn put(&mut self, place: usize, row: &Row) -> Result<bool, Failure> {
        let Some(table) = self.tables.get_mut(place) else { return Ok(false) };
        let count = row.values.len().min(table.columns.names.len());
        // Rows written before a column was added have no value for it; such a column gets its default.
        let sql = table.statements.entry(count).or_insert_with(|| {
            let (name, marks) = (quoted(&table.name), vec!["?"; count + 1].join(", "));
            let names: String =
                table.columns.names.iter().take(count).map(|name| format!(", {}", quoted(name))).collect();
            format!("INSERT OR IGNORE INTO {name} (rowid{names}) VALUES ({marks})")
        });
        let mut values: Vec<Value> = vec![Value::Integer(row.rowid)];
        values.extend(row.values.iter().take(count).cloned());
        if let Some(number) = table.columns.rowid.and_then(|place| values.get_mut(place + 1)) {
            *number = Value::Integer(row.rowid);
        }
        if table.name != "messages" {
            // Only messages may contain invalid UTF-8.
            values.iter_mut().for_each(make_text);
        }
        if row.is_cut {
            // Placeholder; the time is filled in from the indexes afterwards.
            for (name, instead) in [("timestamp", -1.0), ("started_at", -1.0)] {
                let missing = table.columns.place(name).and_then(|place| values.get_mut(place + 1));
                if let Some(missing) = missing.filter(|value| **value == Value::Null) {
                    *missing = Value::Real(instead);
                }
            }
        }
        let is_put = match self.connection.prepare_cached(sql)?.execute(params_from_iter(values)) {
            // OR IGNORE does not cover every constraint of a column.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => false,
            outcome => outcome? > 0,
        };
        table.cut += u64::from(is_put && row.is_cut);
        if !is_put && !is_there(&self.connection, &table.name, row.rowid)? {
            table.refused += 1;
        }
        Ok(is_put)
    }

    /// Returns whether a row that a table's own tree leads to can belong to it.
    pub(super) fn can_be(&self, place: usize, row: &Row) -> bool {
        self.tables.get(place).is_some_and(|table| can_be(&table.name, &table.columns, row))
    }

    /// Returns the table that a row of an unowned page looks like.
    pub(super) fn like(&self, row: &Row) -> Option<usize> {
        self.tables.iter().position(|table| is_like(&table.name, &table.columns, row))
    }

    /// Returns the columns of an index.
    pub(super) fn index(&self, index: &super::catalog::Object) -> Option<Vec<String>> {
        index_columns(&self.empty, index)
    }

    /// Returns the statement that records an entry of an index with these columns.
    pub(super) fn noting(table: &str, columns: &[String]) -> String {
        let names: String = columns.iter().map(|name| format!(", {}", quoted(name))).collect();
        let marks = vec!["?"; columns.len() + 1].join(", ");
        let again: Vec<String> = columns.iter().map(|name| format!("{0} = excluded.{0}", quoted(name))).collect();
        format!(
            "INSERT INTO {} (hx_rowid{names}) VALUES ({marks}) ON CONFLICT (hx_rowid) DO UPDATE SET {}",
            quoted(&known(table)),
            again.join(", ")
        )
    }

    /// Records an entry of an index: the values of its columns, then the rowid.
    pub(super) fn note(&self, noting: &str, columns: usize, values: &[Value]) -> Result<(), Failure> {
        match values.split_last() {
            Some((rowid @ Value::Integer(_), values)) if values.len() == columns && values.iter().all(is_text) => {
                self.connection.prepare_cached(noting)?.execute(params_from_iter([rowid].into_iter().chain(values)))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns whether the definition in the file has a column.
    pub(super) fn has(&self, name: &str, column: &str) -> bool {
        self.tables
            .iter()
            .any(|table| table.name == name && table.is_from_file && table.columns.place(column).is_some())
    }

    /// Returns the single number that a statement selects.
    pub(super) fn number(&self, sql: &str) -> Result<u64, Failure> {
        let number: i64 = self.connection.query_row(sql, [], |row| row.get(0))?;
        Ok(u64::try_from(number).unwrap_or(0))
    }
}

fn is_there(connection: &Connection, table: &str, rowid: i64) -> Result<bool, Failure> {
    let sql = format!("SELECT 1 FROM {} WHERE rowid = ?", quoted(table));
    Ok(connection.prepare_cached(&sql)?.exists([rowid])?)
}

/// Returns whether a table has rowids and stores its columns in order, none of them generated.
fn has_plain_rows(connection: &Connection, table: &str) -> bool {
    let columns = |function: &str| {
        connection.query_row(&format!("SELECT count(*) FROM {function}(?)"), [table], |row| row.get::<_, i64>(0)).ok()
    };
    connection.prepare(&format!("SELECT rowid FROM {}", quoted(table))).is_ok()
        && columns("pragma_table_info") == columns("pragma_table_xinfo")
}

/// Returns whether a value is not text, or valid UTF-8.
fn is_text(value: &Value) -> bool {
    !matches!(value, Value::Text(text) if std::str::from_utf8(text).is_err())
}

/// Replaces invalid UTF-8 by replacement characters.
fn make_text(value: &mut Value) {
    if !is_text(value)
        && let Value::Text(text) = value
    {
        *text = String::from_utf8_lossy(text).into_owned().into_bytes();
    }
}

/// Returns the name of the scratch table that holds the index entries of a table.
pub(super) fn known(table: &str) -> String {
    format!("known_{table}")
}

/// Returns whether a definition has the columns that a table must have.
fn is_essential(name: &str, columns: &Columns) -> bool {
    let needed: &[&str] = match name {
        "messages" => &["id", "session_id", "role", "content", "timestamp"],
        "sessions" => &["id", "source", "started_at"],
        "state_meta" => &["key", "value"],
        "schema_version" => &["version"],
        _ => &[],
    };
    !columns.names.is_empty() && needed.iter().all(|name| columns.place(name).is_some())
}
