//! References: messages to sessions, sessions to parents, and foreign keys of other tables.

use crate::calls::row::text;
use crate::error::Failure;
use crate::write::database::Database;
use hermes_session::Check;
use std::collections::{BTreeMap, BTreeSet};

/// How many sessions of a cycle are listed.
const SHOWN: usize = 8;

pub(super) fn look(database: &Database, check: &mut Check) -> Result<(), Failure> {
    check.looked_at = super::count(database, "SELECT count(*) FROM sessions NOT INDEXED")?;
    unreadable(database, check)?;
    cycles(&parents(database, check)?, check);
    orphans(database, check)?;
    references(database, check)
}

/// Reports sessions that no list can show.
fn unreadable(database: &Database, check: &mut Check) -> Result<(), Failure> {
    let mut statement = database.prepare(
        "SELECT rowid, id, typeof(id) FROM sessions NOT INDEXED WHERE typeof(id) <> 'text' OR typeof(started_at) NOT IN ('real', 'integer')",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (rowid, kind): (i64, String) = (row.get(0)?, row.get(2)?);
        match text(row, 1)? {
            Some(id) if kind == "text" => {
                check.problem(format!("sessions {id}"), "has a started_at that is not a time")
            }
            Some(_) => check.problem(format!("sessions rowid {rowid}"), "has an id that is not text"),
            None => check.problem(format!("sessions rowid {rowid}"), "has no id"),
        }
    }
    Ok(())
}

/// Returns the parent of each session that has one. A foreign writer may delete a parent; its children then become
/// conversations of their own.
fn parents(database: &Database, check: &mut Check) -> Result<BTreeMap<String, String>, Failure> {
    let mut statement = database.prepare(
        "SELECT s.id, s.parent_session_id, EXISTS (SELECT 1 FROM sessions p WHERE p.id = s.parent_session_id) \
         FROM sessions s NOT INDEXED WHERE s.id IS NOT NULL AND s.parent_session_id IS NOT NULL",
    )?;
    let mut rows = statement.query([])?;
    let mut parents = BTreeMap::new();
    while let Some(row) = rows.next()? {
        let (Some(id), Some(parent)) = (text(row, 0)?, text(row, 1)?) else { continue };
        if row.get(2)? {
            parents.insert(id, parent);
        } else {
            check.note(format!("sessions {id}"), format!("has the parent {parent}, which does not exist"));
        }
    }
    Ok(parents)
}

/// Reports cycles of parents. Every walk along parents ends nevertheless.
fn cycles(parents: &BTreeMap<String, String>, check: &mut Check) {
    let mut settled = BTreeSet::new();
    for start in parents.keys() {
        let mut path: Vec<&str> = Vec::new();
        let mut on_path = BTreeSet::new();
        let mut at = Some(start.as_str());
        while let Some(id) = at.filter(|id| !settled.contains(id)) {
            if !on_path.insert(id) {
                let first = path.iter().position(|seen| *seen == id).unwrap_or(0);
                report_cycle(&path[first..], check);
                break;
            }
            path.push(id);
            at = parents.get(id).map(String::as_str);
        }
        settled.extend(path);
    }
}

fn report_cycle(cycle: &[&str], check: &mut Check) {
    let mut shown = cycle.iter().take(SHOWN).copied().collect::<Vec<_>>().join(" → ");
    if cycle.len() > SHOWN {
        shown.push_str(&format!(" → … ({} sessions)", cycle.len()));
    }
    let least = cycle.iter().min().copied().unwrap_or_default();
    check.note(format!("sessions {least}"), format!("is its own ancestor: {shown} → {}", cycle[0]));
}

fn orphans(database: &Database, check: &mut Check) -> Result<(), Failure> {
    let mut statement = database.prepare(
        "SELECT m.id, m.session_id FROM messages m NOT INDEXED WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = m.session_id)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let session = text(row, 1)?.unwrap_or_default();
        let what = format!("belongs to the session {session}, which does not exist");
        check.problem(format!("messages {}", row.get::<_, i64>(0)?), what);
    }
    Ok(())
}

/// Reports broken foreign keys of the agent's other tables.
fn references(database: &Database, check: &mut Check) -> Result<(), Failure> {
    let mut statement = database.prepare("PRAGMA main.foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, parent): (String, String) = (row.get(0)?, row.get(2)?);
        if table != "messages" && table != "sessions" {
            let object = text(row, 1)?.map_or_else(|| table.clone(), |rowid| format!("{table} rowid {rowid}"));
            check.problem(object, format!("refers to a row of {parent} that does not exist"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_cycle_is_reported_once() {
        let links = [("self", "self"), ("c", "b"), ("b", "a"), ("a", "c"), ("tail", "b"), ("end", "tail"), ("x", "y")];
        let parents = links.iter().map(|(id, parent)| (id.to_string(), parent.to_string())).collect();
        let mut check = Check::new("relations", "sessions");
        cycles(&parents, &mut check);
        let told: Vec<String> = check.findings.iter().map(|found| format!("{} {}", found.object, found.what)).collect();
        assert_eq!(
            told,
            ["sessions a is its own ancestor: a → c → b → a", "sessions self is its own ancestor: self → self",]
        );
    }
}
