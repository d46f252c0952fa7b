//! The agent's layout: each index stores a copy of its texts.

use super::layout::{Hook, Look};
use super::{EVENTS, Index, pending, text};
use crate::error::Failure;
use crate::write::database::Database;

/// Creates missing triggers of an index, and replaces its insert trigger by one that skips rows in the backlog. Returns
/// whether none was missing.
pub(super) fn create_missing(database: &Database, index: Index, look: &Look) -> Result<bool, Failure> {
    let mut whole = true;
    for (event, hook) in EVENTS.into_iter().zip(look.hooks) {
        let name = format!("{}_{event}", index.table());
        match (event, hook) {
            (_, Hook::Missing) => whole = false,
            // The other triggers are right as they are: removing a row that is not in such an index does nothing.
            ("insert", Hook::Agents) => database.execute_batch(&format!("DROP TRIGGER {name}"))?,
            _ => continue,
        }
        database.execute_batch(&trigger(index, event))?;
    }
    Ok(whole)
}

fn trigger(index: Index, event: &str) -> String {
    let table = index.table();
    let insert = format!("INSERT INTO {table}(rowid, content) VALUES (new.id, {});", text("new"));
    let delete = format!("DELETE FROM {table} WHERE rowid = old.id;");
    let (when, body) = match event {
        "insert" => (format!("AFTER INSERT ON messages WHEN NOT {}", pending::holds("new.id")), insert),
        "delete" => ("AFTER DELETE ON messages".to_owned(), delete),
        _ => ("AFTER UPDATE ON messages".to_owned(), format!("{delete} {insert}")),
    };
    format!("CREATE TRIGGER {table}_{event} {when} BEGIN {body} END")
}
