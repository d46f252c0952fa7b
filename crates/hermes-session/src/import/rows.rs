//! Rows of the agent's other tables that refer to a session and are in the trash with it.

use super::fields::{Fields, strange};
use crate::json::parts;
use crate::{Extra, Invalid, Json};
use std::fmt;

/// A row of a table of the agent that refers to a session, such as `session_model_usage`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRow {
    /// Name of the table.
    pub table: String,
    /// Values of all columns.
    pub values: Extra,
}

/// Rows, or one column of rows, that a store has no place for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Name of the table.
    pub table: String,
    /// The column that the table lacks; `None` if whole rows were left out.
    pub column: Option<String>,
    /// Number of rows.
    pub rows: u64,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { table, column, rows } = self;
        let noun = if *rows == 1 { "row" } else { "rows" };
        match column {
            Some(column) => write!(to, "{rows} {noun} of {table} lost the column {column}, which the table lacks here"),
            None => write!(to, "{rows} {noun} of {table} could not be inserted here"),
        }
    }
}

/// Counts rows that were left out, by table and column, in the order in which they were met.
pub fn count_left_out(left: impl IntoIterator<Item = (String, Option<String>)>) -> Vec<LeftOut> {
    let mut counted: Vec<LeftOut> = Vec::new();
    for (table, column) in left {
        match counted.iter_mut().find(|known| known.table == table && known.column == column) {
            Some(known) => known.rows += 1,
            None => counted.push(LeftOut { table, column, rows: 1 }),
        }
    }
    counted
}

/// Returns rows as one JSON object with a list of rows for each table.
pub(crate) fn to_json(rows: &[TableRow]) -> String {
    let mut tables: Vec<(&str, Vec<String>)> = Vec::new();
    for row in rows {
        let text = row.values.to_json();
        match tables.iter_mut().find(|(table, _)| *table == row.table) {
            Some((_, known)) => known.push(text),
            None => tables.push((&row.table, vec![text])),
        }
    }
    let member = |(table, rows): (&str, Vec<String>)| format!("{}: [{}]", Json::string(table), rows.join(", "));
    format!("{{{}}}", tables.into_iter().map(member).collect::<Vec<_>>().join(", "))
}

/// Reads what [`to_json`] returned.
pub(super) fn read(text: &str) -> Result<Vec<TableRow>, Invalid> {
    let mut rows = Vec::new();
    for (key, list) in Fields::of("tables", text)?.members() {
        let name = Json::of_spelled(&format!("\"{key}\"")).to_plain_string();
        let (Some(table), true) = (name, list.starts_with('[')) else { return Err(strange("tables", key)) };
        for row in parts(list) {
            rows.push(TableRow { table: table.clone(), values: Extra::from_json(row)? });
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scalar;

    #[test]
    fn rows_are_written_and_read_alike() {
        let row = |table: &str, value| TableRow {
            table: table.to_owned(),
            values: [("a \"b\"", value), ("none", Scalar::Null)].into_iter().collect(),
        };
        let values = [
            Scalar::Integer(i64::MIN),
            Scalar::Real(-0.0),
            Scalar::Real(f64::INFINITY),
            Scalar::Text("a\u{0}é😀".to_owned()),
            Scalar::Bytes(vec![0, 255]),
        ];
        let rows: Vec<TableRow> = values.into_iter().map(|value| row("odd \"one\"", value)).collect();
        let text = Json::parse(&to_json(&rows)).unwrap();
        assert_eq!(read(text.as_str()).unwrap(), rows);
        assert_eq!(read(&to_json(&[])).unwrap(), []);
        for bad in ["[]", r#"{"a": {}}"#, r#"{"a": [1]}"#, r#"{"a": [{"b": []}]}"#] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rows_that_were_left_out_are_counted() {
        let left = [("t", None), ("t", Some("c")), ("t", None)];
        let left = left.map(|(table, column): (&str, Option<&str>)| (table.to_owned(), column.map(str::to_owned)));
        let told: Vec<String> = count_left_out(left).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["2 rows of t could not be inserted here", "1 row of t lost the column c, which the table lacks here"]
        );
    }
}
