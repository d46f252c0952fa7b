//! Checks, copies and the size of a store.

use hermes_session::Report;
use schemars::JsonSchema;
use serde::Serialize;

/// The result of `verify`. The exit code is 0 if the store is sound, else 3.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VerifyReport<'a> {
    /// Whether no check found a problem.
    pub sound: bool,
    /// The checks.
    pub checks: Vec<Check<'a>>,
}

/// A check and its findings.
///
/// A `problem` is wrong and stays wrong, except for indexes: the store rebuilds broken ones as soon as a write detects
/// the damage. A `note` is worth knowing: derived data that a foreign writer left stale, messages that are not indexed
/// yet, indexes that are being rebuilt, a session that is deleted or imported in part, a parent that does not exist.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Check<'a, F = Finding<'a>> {
    /// `file`, `schema`, `indexes`, `counters`, `relations`, `side tables` or `index backlog`.
    pub name: &'a str,
    /// How many things were checked.
    pub looked_at: u64,
    /// The things: `pages`, `objects`, `messages`, `sessions` or `indexes`.
    pub things: &'a str,
    /// How many problems there are.
    pub problems: u64,
    /// How many notes there are.
    pub notes: u64,
    /// The first 100 problems and the first 100 notes.
    pub findings: Vec<F>,
}

/// A finding of a check.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding<'a> {
    /// `problem` or `note`.
    pub severity: &'static str,
    /// The object: a table and an id, an index, a file.
    pub object: &'a str,
    /// A description of the finding.
    pub what: &'a str,
}

impl<'a> From<&'a hermes_session::Finding> for Finding<'a> {
    fn from(finding: &'a hermes_session::Finding) -> Self {
        Self { severity: finding.severity.as_str(), object: &finding.object, what: &finding.what }
    }
}

impl<'a, F: From<&'a hermes_session::Finding>> From<&'a hermes_session::Check> for Check<'a, F> {
    fn from(check: &'a hermes_session::Check) -> Self {
        Self {
            name: check.name,
            looked_at: check.looked_at,
            things: check.things,
            problems: check.problems,
            notes: check.notes,
            findings: check.findings.iter().map(F::from).collect(),
        }
    }
}

impl<'a> From<&'a Report> for VerifyReport<'a> {
    fn from(report: &'a Report) -> Self {
        Self { sound: report.is_sound(), checks: report.checks.iter().map(Check::from).collect() }
    }
}

/// A backup.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Backup {
    /// The path of the copy, absolute.
    pub path: String,
    /// How many sessions it holds.
    pub sessions: u64,
    /// How many messages it holds.
    pub messages: u64,
    /// Its size in bytes.
    pub bytes: u64,
}

/// A store that was replaced by a backup.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BackupRestored {
    /// How many sessions the store holds now.
    pub sessions: u64,
    /// How many messages it holds now.
    pub messages: u64,
    /// Its size in bytes.
    pub bytes: u64,
    /// The path of the old file; `null` if there was none.
    pub kept: Option<String>,
}

/// The size of a store before and after `optimize`. The exit code is 0 for every value of `shrunk`: the indexes are
/// compact in any case. Progress is printed on stderr, and only on a terminal.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Optimized {
    /// The size before, in bytes: all pages of the store.
    pub bytes_before: u64,
    /// The size after, in bytes.
    pub bytes_after: u64,
    /// The part of `bytes_after` that is free for later writes.
    pub free_bytes: u64,
    /// Whether free space was given back to the disk: `done`; `not needed` (less than a tenth of the file was free);
    /// `in use` (another process has the store open; run it again later); `no room` (the disk has no space to rewrite
    /// the file).
    pub shrunk: &'static str,
}
