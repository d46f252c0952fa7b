//! The file itself: its pages, trees and plain indexes, as SQLite's own check sees them, and who may read it.

use super::count;
use crate::error::{Failure, is_damage};
use crate::open::damage;
use crate::write::database::Database;
use hermes_session::{Check, MAX_FINDINGS};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// What it tells about full-text indexes is left to their own check.
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
        let told: String = row.get(0)?;
        // One row may tell of several things, under a heading that names the database.
        for line in told.lines().filter(|line| !line.starts_with("*** ") && *line != "ok") {
            if line.contains("FTS5 table") || line.starts_with("fts5: ") {
                about_indexes.push(line.to_owned());
            } else {
                check.problem(object(line, &trees), line);
            }
        }
    }
}

/// Takes in that SQLite's check was cut off. If an index was found damaged and the agent's tables are sound, the index is the reason.
fn cut_off(database: &Database, check: &mut Check, error: rusqlite::Error) -> Result<(), Failure> {
    let index = check.findings.iter().map(|finding| finding.object.clone()).find(|object| damage::is_derived(object));
    match index {
        Some(index) if is_damage(&error) && damage::in_agents_tables(database).is_none() => {
            check.problem(index, format!("SQLite's check can't be read to its end because of it: {error}"));
            Ok(())
        }
        _ => Err(error.into()),
    }
}

/// Opening takes a file that others can read from them; one that is somebody else's stays as it is.
fn mode(path: &Path, check: &mut Check) {
    let Ok(found) = std::fs::symlink_metadata(path) else { return };
    let mode = found.permissions().mode() & 0o7777;
    if mode & 0o177 != 0 {
        check.note(
            "file",
            format!("has the mode {mode:04o}, so that others may read or write it; 0600 is its owner's alone"),
        );
    }
}

/// The tables and indexes by the page that each begins with, as SQLite's check calls them.
fn trees(database: &Database) -> Result<BTreeMap<i64, String>, rusqlite::Error> {
    let mut statement =
        database.prepare("SELECT rootpage, type || ' ' || name FROM main.sqlite_schema WHERE rootpage > 0")?;
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// Returns what SQLite's quick check says of one table and its indexes: the object and the sentence of each problem.
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

/// What a line of SQLite's check is about.
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
