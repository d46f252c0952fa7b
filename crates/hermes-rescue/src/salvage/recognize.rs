//! Recognizes tables of a newer agent in files that no longer say what their columns are.
//!
//! Rows of schema 11 are recognized without this. A file that a newer agent created has wider rows; that is seen from
//! how many values a row has and where its numbers are. Files of the releases between, and files that were upgraded
//! column by column, are not recognized: the order of their columns differs.

use super::record::Value;
use super::walk::Row;
use hermes_sqlite::file::{AgentLayout, AgentTable, agent_tables};

/// A table of schema 22, and how many rows look like its own.
#[derive(Debug)]
struct Candidate {
    table: AgentTable,
    votes: u64,
}

/// Counts rows that look like those of a newer agent.
#[derive(Debug)]
pub(super) struct Votes(Vec<Candidate>);

impl Default for Votes {
    fn default() -> Self {
        let tables = agent_tables(AgentLayout::Schema22).into_iter();
        let wide = tables.filter(|table| ["messages", "sessions"].contains(&table.name));
        Self(wide.map(|table| Candidate { table, votes: 0 }).collect())
    }
}

impl Votes {
    /// Counts a row of a page that no known tree leads to.
    pub(super) fn take(&mut self, row: &Row) {
        for candidate in &mut self.0 {
            candidate.votes += u64::from(is_of(&candidate.table, row));
        }
    }

    /// Returns the statement that creates a table as the file most likely has it; `None` if no row speaks for it.
    pub(super) fn statement(&self, table: &str) -> Option<String> {
        let voted = self.0.iter().find(|candidate| candidate.table.name == table && candidate.votes > 0);
        voted.map(|candidate| candidate.table.statement())
    }
}

/// Returns whether a row has a value for each column of a table, numbers where one is required, and none where SQLite
/// keeps text.
fn is_of(table: &AgentTable, row: &Row) -> bool {
    let is_text = |place: usize| matches!(row.values.get(place), Some(Value::Text(_)));
    let starts_like_it = match table.name {
        // The id of a message is the rowid, so its column holds NULL.
        "messages" => row.values.first() == Some(&Value::Null) && is_text(1) && is_text(2),
        _ => is_text(0) && is_text(1),
    };
    let fits = |(column, value): (&&str, &Value)| {
        let is_number = matches!(value, Value::Real(_) | Value::Integer(_));
        match column.split_whitespace().nth(1) {
            // A column of this type stores numbers as text.
            Some("TEXT") => !is_number,
            _ => is_number || !column.contains("NOT NULL"),
        }
    };
    row.values.len() == table.columns.len() && starts_like_it && table.columns.iter().zip(&row.values).all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A session row in which these columns hold numbers.
    fn session(numbers: &[usize]) -> Row {
        let value = |place: usize| match place {
            0 | 1 => Value::Text(b"x".to_vec()),
            place if numbers.contains(&place) => Value::Integer(1),
            _ => Value::Null,
        };
        Row { rowid: 1, values: (0..46).map(value).collect(), is_cut: false }
    }

    #[test]
    fn a_row_of_an_upgraded_file_is_not_taken_for_one_of_a_new_file() {
        let mut votes = Votes::default();
        // 0.18.2 has 44 columns, the last of them rewind_count and archived; 0.19.0 adds two behind them.
        votes.take(&session(&[14, 42, 43, 44]));
        assert_eq!(votes.statement("sessions"), None);
        votes.take(&session(&[14, 42, 44, 45]));
        assert!(votes.statement("sessions").is_some_and(|sql| sql.contains("profile_name TEXT")));
        assert_eq!(votes.statement("messages"), None);
    }
}
