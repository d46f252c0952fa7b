//! Reads and inserts rows of the agent's other tables that refer to a session, for the file that `detach` writes.

use super::tables::{self, Column, quoted};
use crate::calls::extra::{scalar, value};
use crate::calls::row::require;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::import::{LeftOut, TableRow, count_left_out};
use hermes_session::{Extra, SessionId};
use rusqlite::types::Value;
use rusqlite::{ErrorCode, params, params_from_iter};

/// Returns the rows that went to the trash with a session. Rows of tables that the agent no longer has are returned for
/// the first session of their entry: without the agent's table the column with the session's id is unknown.
pub(crate) fn kept_rows(
    database: &Database,
    number: i64,
    session: &SessionId,
    is_first: bool,
) -> Result<Vec<TableRow>, Failure> {
    let referring = tables::going_with_a_session(database)?;
    let mut found = Vec::new();
    for (table, kept) in tables::kept_with_sessions(database)? {
        let condition = match referring.iter().find(|(name, _)| *name == table) {
            Some((_, column)) => format!("{} = ?2", quoted(column)),
            None if is_first => "?2 IS NOT NULL".to_owned(),
            None => continue,
        };
        let sql = format!("SELECT * FROM main.{} WHERE hx_number = ?1 AND {condition} ORDER BY rowid", quoted(&kept));
        let mut statement = database.prepare(&sql)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query(params![number, session.as_str()])?;
        while let Some(row) = rows.next()? {
            let mut values = Extra::new();
            for (at, column) in columns.iter().enumerate().filter(|(_, column)| *column != "hx_number") {
                values.put(column, scalar(row.get_ref(at)?));
            }
            found.push(TableRow { table: table.clone(), values });
        }
    }
    Ok(found)
}

/// Implements `import_rows` of the contract.
pub(crate) fn import_rows(
    database: &Database,
    session: &SessionId,
    rows: &[TableRow],
) -> Result<Vec<LeftOut>, Failure> {
    require(database, session)?;
    let mut left: Vec<(String, Option<String>)> = Vec::new();
    let referring = tables::going_with_a_session(database)?;
    for of_one_table in rows.chunk_by(|one, other| one.table == other.table) {
        let table = &of_one_table[0].table;
        let Some((_, link)) = referring.iter().find(|(name, _)| name == table) else {
            left.extend(of_one_table.iter().map(|row| (row.table.clone(), None)));
            continue;
        };
        let has_rows = format!("SELECT 1 FROM main.{} WHERE {} = ?", quoted(table), quoted(link));
        if database.prepare(&has_rows)?.exists([session.as_str()])? {
            continue;
        }
        let columns = tables::columns_of(database, table)?;
        for row in of_one_table {
            let lacking = row.values.columns().filter(|name| !columns.iter().any(|column| column.name == quoted(name)));
            left.extend(lacking.map(|name| (table.clone(), Some(name.to_owned()))));
            if !insert(database, table, link, session, &columns, &row.values)? {
                left.push((table.clone(), None));
            }
        }
    }
    Ok(count_left_out(left))
}

/// Inserts one row. Returns `false` if a constraint forbids it. A row number that is taken by now is replaced by a free
/// one.
fn insert(
    database: &Database,
    table: &str,
    link: &str,
    session: &SessionId,
    columns: &[Column],
    values: &Extra,
) -> Result<bool, Failure> {
    let run = |keeps_number: bool| {
        let (mut names, mut bound) = (vec![quoted(link)], vec![Value::Text(session.as_str().to_owned())]);
        for (name, held) in values.iter().filter(|(name, _)| *name != link) {
            let Some(column) = columns.iter().find(|column| column.name == quoted(name)) else { continue };
            if keeps_number || !column.is_number_of_row() {
                names.push(column.name.clone());
                bound.push(value(held));
            }
        }
        let places = vec!["?"; names.len()].join(", ");
        let sql = format!("INSERT INTO main.{} ({}) VALUES ({places})", quoted(table), names.join(", "));
        match database.prepare_cached(&sql)?.execute(params_from_iter(bound)) {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => Ok(false),
            outcome => outcome.map(|_| true),
        }
    };
    Ok(run(true)? || (columns.iter().any(Column::is_number_of_row) && run(false)?))
}
