//! The file itself: its pages, trees and plain indexes, by SQLite's own check, and its permissions.

use super::count;
use crate::error::{Failure, is_damage};
use crate::open::damage;
use crate::write::database::Database;
use hermes_session::{Check, MAX_FINDINGS};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Runs SQLite's own check. Lines about full-text indexes go to `about_indexes`, for the check of the indexes.
pub(super) fn look(
    database: &Database,
    path: &Path,
    check: &mut Check,
    about_indexes: &mut Vec<String>,
) -> Result<(), Failure> {
    mode(path, check);
    check.looked_at = count(database, "PRAGMA page_count")?;
    let trees = trees(database)?;
    let mut statement = database.prepare(&format!("PRAGMA integrity_check({})", MAX_FINDINGS + 1))?;
    let mut rows = statement.query([])?;
    loop {
        let row = match rows.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(()),
            Err(error) => return cut_off(database, check, error),
        };
        let output: String = row.get(0)?;
        // One row may report several problems, under a heading that names the database.
        for line in output.lines().filter(|line| !line.starts_with("*** ") && *line != "ok") {
            if line.contains("FTS5 table") || line.starts_with("fts5: ") {
                about_indexes.push(line.to_owned());
            } else {
                check.problem(object(line, &trees), line);
            }
        }
    }
}

/// Handles that SQLite's check was cut off. If an index was found damaged and the agent's tables are sound, the index
/// is the reason.
fn cut_off(database: &Database, check: &mut Check, error: rusqlite::Error) -> Result<(), Failure> {
    let index = check.findings.iter().map(|finding| finding.object.clone()).find(|object| damage::is_derived(object));
    match index {
        Some(index) if is_damage(&error) && damage::in_agents_tables(database).is_none() => {
            check.problem(index, format!("because of it SQLite's check stopped early: {error}"));
            Ok(())
        }
        _ => Err(error.into()),
    }
}

/// Notes permissions that let other users read or write the file. Opening a store removes them, except on a file that
/// another user owns.
fn mode(path: &Path, check: &mut Check) {
    let Ok(found) = std::fs::symlink_metadata(path) else { return };
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o177 != 0 {
        check.note("file", format!("has mode {mode:04o}, so other users may access it; it should be 0600"));
    }
}

/// Returns the tables and indexes by their root page, by which SQLite's check names them.
fn trees(database: &Database) -> Result<BTreeMap<i64, String>, rusqlite::Error> {
    let mut statement =
        database.prepare("SELECT rootpage, type || ' ' || name FROM main.sqlite_schema WHERE rootpage > 0")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Runs SQLite's quick check on one table and its indexes. Returns the object and the description of each problem.
pub(crate) fn about_table(database: &Database, table: &str) -> Result<Vec<(String, String)>, rusqlite::Error> {
    let trees = trees(database)?;
    let mut statement = database.prepare(&format!("PRAGMA main.quick_check('{table}')"))?;
    let answers: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let lines = answers.iter().flat_map(|answer| answer.lines());
    Ok(lines
        .filter(|line| !line.starts_with("*** ") && *line != "ok")
        .map(|line| (object(line, &trees), line.to_owned()))
        .collect())
}

/// Returns the object that a line of SQLite's check is about.
fn object(line: &str, trees: &BTreeMap<i64, String>) -> String {
    let tree = line.strip_prefix("Tree ").and_then(|rest| rest.split(' ').next()?.parse().ok());
    if let Some(name) = tree.and_then(|root: i64| trees.get(&root)) {
        return name.clone();
    }
    for (before, kind) in [(" index ", "index"), (" missing from index ", "index"), ("NULL value in ", "column")] {
        if let Some((_, name)) = line.rsplit_once(before) {
            return format!("{kind} {name}");
        }
    }
    "file".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_its_object() {
        let trees = BTreeMap::from([(7, "table messages".to_owned())]);
        for (line, expect) in [
            ("Tree 7 page 12: btreeInitPage() returns error code 11", "table messages"),
            ("Tree 9 page 12 cell 3: Rowid 5 out of order", "file"),
            ("wrong # of entries in index idx_sessions_source", "index idx_sessions_source"),
            ("row 3 missing from index hx_session_root", "index hx_session_root"),
            ("NULL value in sessions.source", "column sessions.source"),
            ("Page 5: never used", "file"),
        ] {
            assert_eq!(object(line, &trees), expect, "{line}");
        }
    }
}
