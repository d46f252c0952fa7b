//! Damage to a file: the marker beside it that keeps all our processes from writing to it, and the state that stops a
//! process that met damage from writing on.
//!
//! Only damage to the file or to the agent's tables and their plain indexes counts. Full-text indexes and all our
//! tables are derived from them and are rebuilt while the file is in use.

use crate::care::verify;
use crate::error::Failure;
use crate::open::notice::Notice;
use crate::open::place::{self, beside};
use crate::write::database::Database;
use hermes_session::{Location, Purpose, Report, Severity, StoreError, TargetProblem};
use rusqlite::config::DbConfig;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The tables that have to be sound for the file to be written.
const TABLES: [&str; 4] = ["schema_version", "sessions", "messages", "state_meta"];

/// Records the result of a verification of the file at `path`: writes `state.db.damaged` beside it if the file or the
/// agent's tables are damaged, and removes that marker if they are sound. Returns what changed, as a notice.
///
/// While the marker exists, nothing opens the file for writing.
pub(crate) fn settle(path: &Path, report: &Report) -> Option<Notice> {
    let findings = findings(report);
    let outcome = match findings.is_empty() {
        true => clear_damage(path).map(|was_marked| was_marked.then_some(Notice::DamageCleared)),
        false => record(path, &findings).map(|marker| Some(Notice::DamageRecorded { marker })),
    };
    outcome.unwrap_or_else(|error| {
        Some(Notice::DamageNotSettled { is_sound: findings.is_empty(), why: error.to_string() })
    })
}

/// Writes the marker beside a file. Returns its path.
fn record(path: &Path, findings: &[String]) -> Result<PathBuf, StoreError> {
    let marker = marker(path);
    let mut text = String::from("hermes found damage in this file:\n");
    for finding in findings {
        text.push_str(finding);
        text.push('\n');
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(&marker).and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        let problem = TargetProblem::NotWritten { cause: error.to_string() };
        StoreError::no_target(&marker, Purpose::DamageNote, problem)
    })?;
    tracing::warn!(findings = findings.len(), ?marker, "damage recorded; the file is not written any more");
    Ok(marker)
}

/// Returns the marker beside a file that was found damaged; `None` if there is none.
pub fn damage_marker(path: &Path) -> Option<PathBuf> {
    let path = place::resolve(path).ok()?;
    is_marked(&path).then(|| marker(&path))
}

/// Removes the marker of a damaged file, after a verification that found no damage or after a backup replaced the
/// file. Returns whether there was one.
///
/// # Errors
/// `Refused` if it can't be removed.
pub fn clear_damage(path: &Path) -> Result<bool, StoreError> {
    let marker = marker(&place::resolve(path)?);
    match std::fs::remove_file(&marker) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => {
            let problem = TargetProblem::NotRemoved { cause: error.to_string() };
            Err(StoreError::no_target(&marker, Purpose::DamageNote, problem))
        }
    }
}

fn marker(path: &Path) -> PathBuf {
    beside(path, ".damaged")
}

/// Returns whether a file is marked as damaged.
pub(crate) fn is_marked(path: &Path) -> bool {
    std::fs::symlink_metadata(marker(path)).is_ok()
}

/// Fails if a file is marked as damaged.
pub(crate) fn refuse_marked(path: &Path) -> Result<(), StoreError> {
    if !is_marked(path) {
        return Ok(());
    }
    let what = format!("this is recorded in {}; the file can be read but not written", marker(path).display());
    Err(StoreError::Corrupt { location: Location::from(path), what, source: None })
}

/// Returns the findings of a report that are about the file or the agent's tables.
fn findings(report: &Report) -> Vec<String> {
    let has_bad_index = report.check("file").is_some_and(|check| {
        check.findings.iter().any(|finding| finding.severity == Severity::Problem && is_derived(&finding.object))
    });
    let problems =
        report.checks.iter().flat_map(|check| check.findings.iter().map(move |finding| (check.name, finding)));
    problems
        .filter(|(_, finding)| finding.severity == Severity::Problem)
        // Other checks report it as a problem of the file if they could not read on.
        .filter(|(check, finding)| (*check == "file" || finding.object == "file") && !is_derived(&finding.object))
        // Checks that read through a damaged index can't continue.
        .filter(|(check, finding)| !(has_bad_index && finding.object == "file" && *check != "file"))
        // An unused page only takes space: a damaged index, or one removed from the schema, orphans its pages.
        .filter(|(_, finding)| !(finding.object == "file" && finding.what.ends_with("never used")))
        .map(|(_, finding)| format!("{}: {}", finding.object, finding.what))
        .collect()
}

/// Returns whether an object is derived from the agent's tables.
pub(crate) fn is_derived(object: &str) -> bool {
    object
        .split([' ', '.'])
        .map(|name| name.trim_start_matches("sqlite_autoindex_"))
        .any(|name| name.starts_with("hx_") || name.starts_with("messages_fts"))
}

/// The damage that this process has met, shared by the threads of a store.
#[derive(Debug, Clone)]
pub(crate) struct Damage {
    path: Arc<Path>,
    found: Arc<Mutex<Option<String>>>,
}

impl Damage {
    /// Returns the state of a process that has met no damage in the file at `path`.
    pub(crate) fn none_in(path: &Path) -> Self {
        Self { path: path.into(), found: Arc::default() }
    }

    /// Returns the damage that was found; `None` if there is none.
    pub(crate) fn found(&self) -> Option<String> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the error for a write to a file that was found damaged.
    pub(crate) fn refusal(&self, location: &Location) -> Option<StoreError> {
        let what = format!("{}; this process no longer writes to it", self.found()?);
        Some(StoreError::Corrupt { location: location.clone(), what, source: None })
    }

    /// Handles the failure of a job. If it is about damage and the agent's tables have some, this process writes
    /// nothing from here on, and the marker keeps other processes from it.
    pub(crate) fn take_in(&self, database: &Database, failure: &Failure) {
        if !(failure.is_damage() || matches!(failure, Failure::Damaged(_))) || self.found().is_some() {
            return;
        }
        if let Some(what) = in_agents_tables(database) {
            if let Err(error) = record(&self.path, std::slice::from_ref(&what)) {
                tracing::warn!(kind = error.kind(), "damage not recorded");
            }
            self.note(what);
            stop_checkpoints(database);
        }
    }

    /// Records damage permanently for this process.
    pub(crate) fn note(&self, what: String) {
        tracing::error!("the agent's tables are damaged; this process writes nothing more");
        self.found.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(what);
    }
}

/// Keeps SQLite from copying the WAL into a damaged file when the last connection closes.
pub(crate) fn stop_checkpoints(database: &Database) {
    if let Err(error) = database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true) {
        tracing::warn!(error = crate::error::code(&error), "checkpoint on close not switched off");
    }
}

/// Checks the agent's tables and their own indexes. Returns the first problem; `None` if all are sound. An index of
/// ours on one of these tables does not count.
pub(crate) fn in_agents_tables(database: &Database) -> Option<String> {
    for table in TABLES {
        let is_there = database
            .query_row("SELECT count(*) FROM main.sqlite_schema WHERE name = ?", [table], |row| row.get::<_, i64>(0));
        if is_there.as_ref().is_ok_and(|count| *count == 0) {
            continue;
        }
        match is_there.and_then(|_| verify::about_table(database, table)) {
            Ok(problems) => {
                let foremost = problems.into_iter().find(|(object, _)| !is_derived(object));
                if let Some((_, what)) = foremost {
                    return Some(format!("table {table}: {what}"));
                }
            }
            Err(error) if crate::error::is_damage(&error) => return Some(format!("table {table}: {error}")),
            // The check itself failed: that says nothing about the file.
            Err(error) => tracing::debug!(table, error = crate::error::code(&error), "table not checked"),
        }
    }
    None
}
